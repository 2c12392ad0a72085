// The drawer below the pages: sample data and problems.

/** @import { Signal } from "./vendor-signals.js" */
/** @import { PageEvent } from "./vendor-htm.js" */
/** @import { Editing } from "./editing.js" */
/** @import { DataField, Diagnostic, Json } from "./types.js" */
/** @typedef {{editing: Editing, locked: boolean, say: typeof import("./parts.js").say, onAdd: (field: DataField) => void}} Shared */

import { html, useSignal, names } from "./base.js";
import { caret, insertInto, JsonControl } from "./fields.js";
import { expressionFor } from "./data-field.js";
import { dragged, expressionIn, grabField } from "./field-drag.js";
import { isUnfinished } from "./json-view.js";
import { nearest } from "./nodes.js";
import { Icon } from "./icons.js";
import { bytes, t, tn } from "./text.js";
import { brief, sampleOf, schemaOf } from "./sample.js";

/** Longest sample that is edited as text. */
const MOST_TEXT = 1_000_000;
/** Most fields that the tree shows below one value. */
const MOST = 60;

/** @param {Json | undefined} value */
function kindOf(value) {
  if (value === null) return "null";
  if (Array.isArray(value)) return t("list");
  return { object: t("object"), number: t("number"), boolean: t("yes or no") }[String(typeof value)] ?? t("text");
}

/**
 * What stands behind a list's path: fields of its first element.
 * @param {Json | undefined} value
 * @param {DataField["path"]} path
 * @returns {[Json | undefined, DataField["path"]]}
 */
const innerOf = (value, path) => (Array.isArray(value) ? [value[0], [...path, null]] : [value, path]);

/**
 * @param {Shared & {name: string, value: Json | undefined, path: DataField["path"], level: number, open: Signal<Set<string>>}} props
 */
function Branch({ editing, name, value, path, level, open, locked, say, onAdd }) {
  const isInner = value !== null && typeof value === "object";
  const id = JSON.stringify(path);
  const isOpen = open.value.has(id);
  const field = { path, value };
  const toggle = () => {
    const next = new Set(open.value);
    if (isOpen) next.delete(id); else next.add(id);
    open.value = next;
  };
  const use = () => {
    if (caret.element?.isConnected && !caret.element.matches(":disabled")) {
      insertInto(caret.element, expressionIn(editing, caret.element, field));
      return;
    }
    const text = `{{ ${expressionFor(editing.document.value, editing.selected.value, path)} }}`;
    navigator.clipboard?.writeText(text);
    say(t("Copied {text}: choose a field to insert it there", { text }));
  };
  const [inside, way] = innerOf(value, path);
  const inner = isOpen && inside !== null && typeof inside === "object" ? Object.entries(inside).slice(0, MOST) : [];
  return html`<li>
    <div class="data-row row" style=${{ paddingLeft: `${level * 14}px` }}
        onPointerDown=${(event) => { if (!locked) grabField(event, editing, field); }}>
      ${isInner ? html`<button type="button" class=${names("fold", isOpen && "open")} aria-expanded=${isOpen} aria-label=${name} onClick=${toggle}>
        <${Icon} name="chevron" /></button>` : html`<span class="fold"></span>`}
      <button type="button" class="link cut data-name" style=${{ flexBasis: `${220 - level * 14}px` }}
          title=${t("Insert at the caret, or drag into a text or the outline")} onClick=${use}>${name}</button>
      <span class="quiet data-kind">${kindOf(value)}</span><span class="cut data-value num" dir="auto">${brief(value)}</span>
      ${!locked && html`<button type="button" class="button plain icon data-add" aria-label=${t("Add {name} to the template", { name })}
          title=${t("Add to the template, after what is chosen")} onClick=${() => onAdd(field)}><${Icon} name="plus" /></button>`}</div>
    ${inner.length > 0 && html`<ul>${inner.map(([key, one]) => html`<${Branch} key=${key} name=${key} value=${one} path=${[...way, key]}
        level=${level + 1} ...${{ editing, open, locked, say, onAdd }} />`)}</ul>`}</li>`;
}

/**
 * What follows the pointer while a field is dragged.
 * @param {{editing: Editing}} props
 */
function Dragged({ editing }) {
  if (!dragged.value) return null;
  const { field, x, y } = dragged.value;
  return html`<div class="dragged-field mono" style=${{ left: `${x + 12}px`, top: `${y + 8}px` }}>
    {{ ${expressionFor(editing.document.value, editing.selected.value, field.path)} }}</div>`;
}

/** @param {Shared} props */
function Data({ editing, locked, say, onAdd }) {
  const open = useSignal(new Set(Object.keys(editing.sample.value ?? {}).slice(0, 3).map((name) => JSON.stringify([name]))));
  const asText = useSignal(false);
  const upload = (/** @type {PageEvent} */ event) => {
    const file = event.currentTarget.files[0];
    event.currentTarget.value = "";
    file?.text().then((text) => editing.setSample(JSON.parse(text))).catch((error) => say(t("This file is no JSON: {message}", { message: error.message }), true));
  };
  const generate = () => {
    const schema = editing.document.value.inputSchema;
    if (schema) editing.setSample(sampleOf(schema)); else say(t("The template has no input schema."), true);
  };
  const infer = () => {
    if (isUnfinished(editing)) return;
    editing.set("/inputSchema", schemaOf(editing.sample.value));
    say(t("The input schema was made from the sample."));
  };
  return html`<div class="data">
    <div class="row data-tools">
      <label class="button">
        <${Icon} name="upload" />${t("Upload JSON")}
        <input class="away" type="file" accept=".json,application/json" onChange=${upload} disabled=${locked} /></label>
      <button type="button" class="button" aria-pressed=${asText.value} onClick=${() => { asText.value = !asText.value; }}>
        <${Icon} name="code" />${asText.value ? t("Show fields") : t("Edit as JSON")}</button>
      <button type="button" class="button" onClick=${generate} disabled=${locked}>${t("Generate from schema")}</button>
      <button type="button" class="button" onClick=${infer} disabled=${locked}>${t("Make schema from sample")}</button></div>
    ${asText.value && editing.sampleSize > MOST_TEXT ? html`<p class="notice">${t("The sample is too large to be edited here: {size}. Change the file, then upload it again.", { size: bytes(editing.sampleSize) })}</p>`
      : asText.value ? html`<fieldset class="bare" disabled=${locked}>
        <${JsonControl} id="sample" label=${t("Sample data")} value=${editing.sample.value}
            onChange=${(/** @type {Json | undefined} */ value) => value !== undefined && editing.setSample(value)} /></fieldset>`
      : html`<ul class="data-tree">${Object.entries(editing.sample.value ?? {}).slice(0, MOST).map(([name, value]) => html`<${Branch} key=${name}
          ...${{ editing, name, value, path: [name], level: 0, open, locked, say, onAdd }} />`)}</ul>
        <${Dragged} editing=${editing} />`}
    ${!asText.value && Object.keys(editing.sample.value ?? {}).length === 0 && html`<p class="quiet">${t("No sample data yet. Upload what your program sends, and the page shows it.")}</p>`}</div>`;
}

/**
 * Equal problems of many rows are one line.
 * @param {Diagnostic[]} problems
 */
export function grouped(problems) {
  /** @type {Map<string, Diagnostic & {count: number}>} */
  const groups = new Map();
  for (const one of problems) {
    const name = `${one.code} ${one.path} ${one.message}`;
    const known = groups.get(name);
    if (known) known.count += 1; else groups.set(name, { ...one, count: 1 });
  }
  return [...groups.values()].sort((one, other) => (one.severity === other.severity ? 0 : one.severity === "error" ? -1 : 1));
}

/** @param {{editing: Editing, problems: Diagnostic[]}} props */
function Problems({ editing, problems }) {
  if (problems.length === 0) return html`<p class="quiet">${t("No errors, no warnings.")}</p>`;
  return html`<ul class="problems">${grouped(problems).map((one) => html`<li class="row">
    <span class=${names("mark", one.severity === "error" ? "bad" : "warn")}><${Icon} name=${one.severity === "error" ? "error" : "warning"} /></span>
    <div class="grow">
      <p>${one.message}${one.count > 1 ? ` (${tn(one.count, "{count} time", "{count} times")})` : ""}</p>
      <p class="small quiet">${one.hint && `${one.hint} · `}<code>${one.code}</code> ${one.path}</p></div>
    <button type="button" class="link" onClick=${() => { editing.selected.value = nearest(editing.document.value, one.path); }}>
      ${t("Show")}<span class="away"> ${one.message}</span></button></li>`)}</ul>`;
}

/**
 * The drawer with its tabs.
 * @param {Shared & {problems: Diagnostic[], tab: Signal<string>, onClose: () => void}} props
 */
export function Drawer({ editing, problems, tab, locked, say, onAdd, onClose }) {
  const errors = problems.filter((one) => one.severity === "error").length;
  const tabs = [["data", t("Data")], ["problems", t("Problems")]];
  return html`<section class="drawer" aria-label=${t("Data and problems")}>
    <div class="row drawer-head">
      <div class="tabs" role="tablist">${tabs.map(([name, label]) => html`<button type="button" role="tab" aria-selected=${tab.value === name}
          onClick=${() => { tab.value = name; }}>
        ${label}
        ${name === "problems" && problems.length > 0 && html`<span class=${names("count", errors ? "bad" : "warn")}>${grouped(problems).length}</span>`}</button>`)}</div>
      <span class="grow"></span>
      <button type="button" class="button plain icon" aria-label=${t("Close")} onClick=${onClose}><${Icon} name="down" /></button></div>
    <div class="drawer-body" role="tabpanel">${tab.value === "data" ? html`<${Data} ...${{ editing, locked, say, onAdd }} />` : html`<${Problems}
        ...${{ editing, problems }} />`}</div></section>`;
}
