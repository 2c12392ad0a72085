// A field of the form: the control that fits the schema of a property, with its name and its problems.

/** @import { EditedDocument } from "./edited-document.js" */
/** @import { Diagnostic, Fields, Json, Schema } from "./types.js" */
/**
 * @typedef {{root: Schema, editing: EditedDocument, pointer: string, schema: Schema, value: Json | undefined, id: string,
 *   name: string, isRequired: boolean, invalid?: boolean, locked?: boolean}} ControlOf
 */

import { html, names } from "./base.js";
import { get, set as setAt, parent, within } from "./pointer.js";
import { described } from "./descriptions.js";
import { resolve, chosen, options, choices, itemOf, nameOf, namesIn, isObjectList } from "./schema.js";
import {
  TextControl, LineControl, LengthControl, ColorControl, FontControl, ChoiceControl, JsonControl, LinesControl, ListControl, RunsControl, MapControl,
} from "./fields.js";
import { CodeControl } from "./code-view.js";
import { SourceControl } from "./assets.js";
import { families, groundOf } from "./theme-styles.js";
import { words, plain } from "./nodes.js";
import { Icon } from "./icons.js";
import { t, tn } from "./text.js";

/**
 * A new element of a list of objects: with what it needs.
 * @param {Schema} root
 * @param {Schema} schema
 * @returns {Json}
 */
function blank(root, schema) {
  const item = options(root, schema).map((one) => itemOf(resolve(root, one))).find(Boolean) ?? {};
  const all = options(root, item);
  const object = all.map((one) => resolve(root, one)).find((one) => one.properties) ?? {};
  if (object.properties?.body && !object.properties.content) return { body: [{ type: "text", content: t("Text") }] };
  /** @type {{[name: string]: Json}} */
  const made = {};
  for (const name of object.required ?? []) {
    const of = object.properties?.[name];
    const property = resolve(root, chosen(root, of, undefined));
    made[name] = property.const ?? (property.type === "array" ? [] : nameOf(of) === "Expression" ? "1" : t(words(name)));
  }
  if (Object.keys(made).length > 0) return made;
  if (object.properties?.header) return { header: t("Column"), value: "" };
  return all.some((one) => resolve(root, one).type === "string") ? t("Text") : made;
}

/** What a list says of one of its elements. */
function titleOf(/** @type {unknown} */ one) {
  if (one === null || typeof one !== "object") return plain(one);
  const { header, key, name, content, text, body } = /** @type {Fields} */ (one);
  return plain(header ?? key ?? name ?? content ?? text ?? (Array.isArray(body) ? tn(body.length, "{count} node", "{count} nodes") : ""));
}

/** Members of steps that are expressions. */
const OF_FLOWS = ["skipIf", "when"];

/**
 * The control for a value.
 * @param {ControlOf} all
 */
export function Control(all) {
  const { root, editing, pointer, schema, value, id, name, isRequired, invalid, locked = false } = all;
  const change = (/** @type {unknown} */ next) => editing.set(pointer, next === "" && !isRequired ? undefined : next);
  const whole = resolve(root, schema);
  const found = choices(root, schema);
  const fits = chosen(root, schema, value);
  const kind = resolve(root, fits);
  const type = [kind.type].flat().find((one) => one !== "null");
  const called = [...namesIn(schema), nameOf(fits)];
  const label = t(words(name));
  if (called.includes("Content") && Array.isArray(value)) return html`<${RunsControl} ...${{ editing, pointer, value, id, label }} />`;
  if (called.includes("Color")) {
    const theme = Object.entries(editing.document.value.theme?.colors ?? {}).filter(([, color]) => typeof color === "string");
    const behind = name === "color" && get(editing.document.value, `${parent(pointer)}/background`);
    return html`<${ColorControl} id=${id} value=${value} onChange=${change} invalid=${invalid} theme=${theme}
        ground=${behind || groundOf(editing.document.value)} />`;
  }
  if (called.includes("FontFamily")) {
    return html`<${FontControl} id=${id} value=${value} onChange=${change} invalid=${invalid} families=${families(editing.document.value)} />`;
  }
  if (type === "boolean") {
    return html`<${ChoiceControl} id=${id} label=${label} value=${value} isRequired=${isRequired} choices=${[{ value: true }, { value: false }]}
        fallback=${whole.default} onChange=${change} />`;
  }
  if (found.length > 0 && (value === undefined || found.some((one) => one.value === value))) {
    return html`<${ChoiceControl} id=${id} label=${label} value=${value} isRequired=${isRequired} choices=${found} fallback=${whole.default}
        onChange=${change} />`;
  }
  // A list of styles is mostly one of names; properties between them are JSON.
  if (called.includes("StyleRef") && Array.isArray(value)) {
    return value.every((one) => typeof one === "string") ? html`<${LinesControl} id=${id} value=${value} onChange=${change} />`
      : html`<${JsonControl} id=${id} value=${value} label=${label} onChange=${change} />`;
  }
  const isList = Array.isArray(value) || (value === undefined && isObjectList(root, schema) && !called.includes("Content") && !called.includes("StyleRef"));
  if (isList && isObjectList(root, schema) && !called.includes("Content")) {
    return html`<${ListControl} value=${value} label=${label} text=${titleOf}
        onOpen=${(/** @type {number} */ index) => { editing.selected.value = `${pointer}/${index}`; }}
        onAdd=${() => editing.change(setAt(editing.document.value, pointer, [...(Array.isArray(value) ? value : []), blank(root, schema)]), null)}
        onMove=${(/** @type {number} */ from, /** @type {number} */ to) => { const chosenNow = editing.selected.value; editing.move(`${pointer}/${from}`, pointer, to); editing.selected.value = chosenNow; }}
        onRemove=${(/** @type {number} */ index) => editing.set(pointer, Array.isArray(value) ? value.filter((_, at) => at !== index) : [])} />`;
  }
  if (called.includes("Length") && typeof value !== "object") return html`<${LengthControl} id=${id} value=${value} onChange=${change}
      invalid=${invalid} placeholder=${whole.default} />`;
  if (type === "integer" || (type === "number" && typeof value !== "string")) return html`<${LineControl} id=${id} type="number" min=${kind.minimum}
      max=${kind.maximum} value=${value} placeholder=${whole.default} onChange=${change} invalid=${invalid} />`;
  if (name === "source" && get(editing.document.value, `${parent(pointer)}/type`) === "code") return html`<${CodeControl} ...${{ editing, pointer, id, value, label, locked }}
      onChange=${(/** @type {string} */ next) => editing.set(pointer, next)} />`;
  if (name === "source" && get(editing.document.value, `${parent(pointer)}/type`) === "image") return html`<${SourceControl}
      ...${{ editing, pointer, id, value, invalid }} onChange=${change} />`;
  if (called.includes("Expression") || (editing.icon && OF_FLOWS.includes(name))) return html`<${TextControl} ...${{ editing, pointer, id }} kind="expression" value=${value} onChange=${change}
      invalid=${invalid} placeholder=${t("such as customer.name")} />`;
  if (called.includes("StyleRef") && (value === undefined || typeof value === "string")) {
    return html`<${LineControl} id=${id} value=${value} list="style-names" onChange=${change} invalid=${invalid} placeholder=${t("name of a style")} />`;
  }
  const isLines = type === "array" && resolve(root, itemOf(kind)).type === "string" && !called.includes("Content");
  if (isLines && (value === undefined || Array.isArray(value))) return html`<${LinesControl}
      id=${id} value=${value} onChange=${change} />`;
  if (type === "string" && (value === undefined || value === null || typeof value === "string")) {
    const isLong = called.includes("Content") || called.includes("Text") || name === "helpers" || name === "description";
    return isLong ? html`<${TextControl} ...${{ editing, pointer, id }} value=${value} onChange=${change} invalid=${invalid} />`
      : html`<${LineControl} id=${id} value=${value} onChange=${change} invalid=${invalid}
          placeholder=${typeof whole.default === "string" ? whole.default : ""} />`;
  }
  const { additionalProperties } = kind;
  const isMap = !kind.properties && typeof additionalProperties === "object" && options(root, additionalProperties).some((one) => resolve(root, one).properties);
  if (isMap && !Array.isArray(value)) return html`<${MapControl}
      ...${{ editing, pointer, value, id, label }} />`;
  if (kind.properties && (value === undefined || (typeof value === "object" && !Array.isArray(value)))) {
    const count = Object.keys(value ?? {}).length;
    return html`<button type="button" id=${id} class="button"
        onClick=${() => { if (value === undefined || value === null) editing.set(pointer, {}); editing.selected.value = pointer; }}>
      ${count > 0 ? t("Edit, {count} set", { count }) : t("Set")}<${Icon} name="chevron" /></button>`;
  }
  return html`<${JsonControl} id=${id} value=${value} onChange=${change} label=${label} />`;
}

/**
 * A property with its name, its control, what it means, and what is wrong with it.
 * @param {{root: Schema, editing: EditedDocument, pointer: string, name: string, schema: Schema, isRequired: boolean, problems: Diagnostic[], locked: boolean}} props
 */
export function Field({ root, editing, pointer, name, schema, isRequired, problems, locked }) {
  const value = /** @type {Json | undefined} */ (get(editing.document.value, pointer));
  const whole = resolve(root, schema);
  const own = problems.filter((one) => within(one.path, pointer));
  const id = `field${pointer.replaceAll(/[^a-zA-Z0-9]/g, "-")}`;
  const about = described(schema.description ?? whole.description).replaceAll("`", "");
  const changedFrom = value !== undefined && !isRequired;
  return html`<div class="field-box">
    <div class="row field-head">
      <label class="label grow" for=${id}>${changedFrom && html`<i class="dot" title=${t("Set here")}></i>`}${t(words(name))}</label>
      ${changedFrom && !locked && html`<button type="button" class="link small" onClick=${() => editing.set(pointer, undefined)}>
        ${t("Reset")}<span class="away"> ${t(words(name))}</span></button>`}</div>
    <fieldset class="bare" disabled=${locked}>
      <${Control} ...${{ root, editing, pointer, schema, value, id, name, isRequired, locked, invalid: own.some((one) => one.severity === "error") }} /></fieldset>
    ${own.slice(0, 3).map((one) => html`<p class=${names("small", one.severity === "error" ? "bad-text" : "warn-text")}>
      ${one.message}${one.hint ? ` – ${one.hint}` : ""}</p>`)}
    ${own.length === 0 && about && html`<p class="small quiet">${about}</p>`}</div>`;
}
