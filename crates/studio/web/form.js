// The form for the chosen value, made from the JSON Schema.

/** @import { EditedDocument } from "./edited-document.js" */
/** @import { Box, Diagnostic, Fields, Schema } from "./types.js" */
/** @typedef {[string, Schema]} Property */

import { html, useMemo } from "./base.js";
import { get, parent, last, escape } from "./pointer.js";
import { resolve, chosen, schemaAt, isNodeList, typeOf } from "./schema.js";
import { Control, Field } from "./field.js";
import { Assets } from "./assets.js";
import { Theme } from "./theme.js";
import { OWN } from "./theme-styles.js";
import { words } from "./nodes.js";
import { Icon } from "./icons.js";
import { t, tn } from "./text.js";

/** Properties that stand first; the others follow in the order of the schema. */
const FIRST = ["type", "content", "key", "name", "source", "rows", "each", "condition", "items", "columns", "header", "value"];

/** Properties that stand open also where they are not set, and those of styles. */
const MAIN = ["align", "level", "width", "height", "style", "size", "margins", "locale"];
const OF_STYLES = ["extends", "fontFamily", "fontSize", "bold", "italic", "color", "background"];

/** Properties of the document that are edited elsewhere. */
const ELSEWHERE = new Set(["body", "page", "theme", "kind", "assets", "macros", "steps"]);

/** Properties of the document that are large, and seldom changed in a form. */
const LATER = new Set(["inputSchema", "helpers", "messages", "invoice", "imports"]);

/**
 * The form for what is chosen.
 * @param {{editing: EditedDocument, root: Schema, problems: Diagnostic[], locked: boolean, box?: Box}} props
 */
export function Form({ editing, root, problems, locked, box }) {
  const document = editing.document.value;
  const pointer = editing.selected.value;
  const value = /** @type {Fields | undefined} */ (get(document, pointer));
  const found = pointer === "/page" ? root.properties?.page ?? {} : schemaAt(root, pointer, document);
  const schema = resolve(root, chosen(root, found, value ?? (pointer === "/page" ? {} : undefined)));
  // What was folded when this was chosen stays there while it is set, so that a field does not leave who types in it.
  const folded = useMemo(() => ({ names: /** @type {Set<string> | null} */ (null) }), [editing, pointer, typeOf(value)]);
  if (pointer === "/theme") return html`<${Theme} ...${{ editing, root, problems, locked }} />`;
  if (Array.isArray(value) || (value === undefined && pointer !== "/page")) {
    return html`<div class="form"><p class="quiet">${t("Choose a node in the outline or on the page.")}</p></div>`;
  }
  const required = new Set(schema.required ?? []);
  const isShown = (/** @type {Property} */ [name, of]) => name !== "$schema" && resolve(root, of).const === undefined && !isNodeList(root, of)
    && !(pointer === "" && ELSEWHERE.has(name));
  const all = Object.entries(schema.properties ?? {}).filter(isShown);
  const rank = (/** @type {Property} */ [name]) => (FIRST.includes(name) ? FIRST.indexOf(name) : 50);
  all.sort((one, other) => rank(one) - rank(other));
  // Lists of nodes that are not there yet, such as the footer of pages.
  const isAbsent = (/** @type {Property} */ [name, of]) => isNodeList(root, of) && !Array.isArray(value?.[name]);
  const absent = editing.icon || pointer === "" ? [] : Object.entries(schema.properties ?? {}).filter(isAbsent).map(([name]) => name);
  const isStyle = schema.properties?.fontFamily !== undefined;
  const isMain = (/** @type {Property} */ [name]) => {
    if (folded.names?.has(name)) return false;
    if (pointer === "" && LATER.has(name)) return false;
    return required.has(name) || value?.[name] !== undefined || FIRST.includes(name) || MAIN.includes(name) || (isStyle && OF_STYLES.includes(name));
  };
  const main = all.filter(isMain);
  const more = all.filter((one) => !isMain(one));
  folded.names ??= new Set(more.map(([name]) => name));
  const type = String(value?.type ?? (pointer === "" ? (editing.icon ? "flow" : "document") : last(pointer)));
  const field = (/** @type {Property} */ [name, of]) => html`<${Field} key=${`${pointer}/${name}`}
      ...${{ root, editing, problems, locked, name, schema: of, pointer: `${pointer}/${escape(name)}`, isRequired: required.has(name) }} />`;
  const isElement = /^\d+$/.test(last(pointer)) && pointer !== "";
  const isObject = value === undefined || typeof value === "object";
  const styles = new Set([...Object.keys(document.theme?.styles ?? {}), ...Object.keys(OWN)]);
  return html`<div class="form">
    <div class="row pane-head">
      <${Icon} name=${editing.icon?.(type) ?? (type === "conditional" ? "if" : /^\d+$/.test(type) ? "item" : type)} />
      <h2 class="cut">${t(words(/^\d+$/.test(type) ? last(parent(pointer)).replace(/s$/, "") : type))}</h2><span class="grow"></span>
      ${pointer !== "" && html`<button class="button plain icon" title=${t("To what contains it")} aria-label=${t("To what contains it")}
          onClick=${() => { editing.selected.value = upTo(document, pointer); }}><${Icon} name="up" /></button>`}
      ${isElement && !locked && html`<button class="button plain icon" title=${t("Duplicate")} aria-label=${t("Duplicate")}
          onClick=${() => editing.duplicate(pointer)}><${Icon} name="copy" /></button>
        <button class="button plain icon" title=${t("Delete")} aria-label=${t("Delete")} onClick=${() => editing.remove(pointer)}>
          <${Icon} name="trash" /></button>`}</div>
    ${box && html`<p class="small quiet num place">
      ${t("Page {page}", { page: box.page })} · ${millimetres(box.area[0])}, ${millimetres(box.area[1])} mm · ${millimetres(box.area[2])} × ${millimetres(box.area[3])} mm</p>`}
    <datalist id="style-names">${[...styles].map((one) => html`<option value=${one}></option>`)}</datalist>
    <div class="form-body">
      ${isObject && all.length > 0 ? main.map(field) : html`<div class="field-box">
        <fieldset class="bare" disabled=${locked}>
          <${Control} key=${pointer} ...${{ root, editing, pointer, schema: found, value, id: "field-whole", name: type, isRequired: true }} /></fieldset></div>`}
      ${absent.length > 0 && !locked && html`<div class="field-box row swatches">${absent.map((name) => html`<button type="button" key=${name}
          class="button"
          onClick=${() => { editing.set(`${pointer}/${name}`, [{ type: "text", content: t("Text") }]); editing.selected.value = `${pointer}/${name}/0`; }}>
        <${Icon} name="plus" />${t(words(name))}</button>`)}</div>`}
      ${pointer === "" && !editing.icon && !locked && html`<${Assets} editing=${editing} />`}
      ${isObject && more.length > 0 && html`<details class="more" key=${`more${pointer}`}>
        <summary>${tn(more.length, "{count} more property", "{count} more properties")}</summary>${more.map(field)}</details>`}</div></div>`;
}

/** @param {number} points */
const millimetres = (points) => Math.round((points * 254) / 72) / 10;

/**
 * The nearest object around a value.
 * @param {unknown} document
 * @param {string} pointer
 */
function upTo(document, pointer) {
  if (pointer.startsWith("/theme/")) return "/theme";
  let outer = parent(pointer);
  while (outer && Array.isArray(get(document, outer))) outer = parent(outer);
  return outer;
}
