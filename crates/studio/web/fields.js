// Controls for values of the schema's types.

/** @import { Ref } from "./vendor-hooks.js" */
/** @import { PageEvent } from "./vendor-htm.js" */
/** @import { Signal } from "./vendor-signals.js" */
/** @import { EditedDocument } from "./edited-document.js" */
/** @import { Suggestion } from "./expression.js" */
/** @import { Json } from "./types.js" */
/**
 * What every control has; a change to undefined removes the value.
 * @template T
 * @typedef {{id?: string, value: T | undefined, onChange: (value: T | undefined) => void, invalid?: boolean, placeholder?: string}} ControlProps
 */
/**
 * @typedef {{value: unknown, about?: string}} Choice
 * @typedef {string | ({text?: string, style?: string | object, link?: unknown} & {[property: string]: unknown})} Run
 * @typedef {{text: string, value: unknown} | null} Typed a text as it was typed, and the value that it says
 */

import { html, useSignal, useRef, useLayoutEffect, names } from "./base.js";
import { Icon } from "./icons.js";
import { described } from "./descriptions.js";
import { ExpressionCard, expressionAt, suggestions } from "./expression.js";
import { t, within } from "./text.js";
import { words } from "./nodes.js";
import { escape } from "./pointer.js";
import { contrast, hex, needed } from "./contrast.js";

/** The text control that had the focus last: where fields of the data are inserted. */
export const caret = { element: /** @type {HTMLTextAreaElement | HTMLInputElement | null} */ (null) };
const remember = (/** @type {PageEvent} */ event) => {
  const control = /** @type {HTMLElement} */ (event.currentTarget);
  if (control instanceof HTMLTextAreaElement || control instanceof HTMLInputElement) caret.element = control;
};

/**
 * Inserts an expression into a text control, at `position` or its caret.
 * @param {HTMLTextAreaElement | HTMLInputElement} element
 * @param {string} expression
 * @param {number | null} [position]
 */
export function insertInto(element, expression, position = null) {
  element.focus();
  const text = element.dataset.kind === "expression" ? expression : `{{ ${expression} }}`;
  element.setRangeText(text, position ?? element.selectionStart ?? 0, position ?? element.selectionEnd ?? 0, "end");
  element.dispatchEvent(new Event("input", { bubbles: true }));
}

/**
 * A text of any length, as high as it needs. In an expression it shows its value and how to go on.
 * @param {ControlProps<string | null> & {kind?: string, editing?: EditedDocument, pointer?: string}} props
 */
export function TextControl({ id, value, onChange, kind = "text", placeholder = "", invalid, editing, pointer = "" }) {
  /** @type {Ref<HTMLTextAreaElement>} */
  const ref = useRef(null);
  /** @type {Signal<number | null>} */
  const caretAt = useSignal(null);
  const marked = useSignal(-1);
  useLayoutEffect(() => {
    const area = ref.current;
    area.style.height = "0";
    area.style.height = `${Math.min(320, Math.max(30, area.scrollHeight + 2))}px`;
  }, [value]);
  const text = value ?? "";
  const position = caretAt.value ?? 0;
  const at = caretAt.value === null || !editing?.sample ? null : expressionAt(text, position, kind);
  const before = at ? text.slice(at.from, position) : "";
  const look = () => { caretAt.value = ref.current?.selectionStart ?? null; };
  const take = (/** @type {Suggestion} */ one) => {
    ref.current.setRangeText(one.insert, position - one.replaces, position, "end");
    marked.value = -1;
    onChange(ref.current.value);
    look();
  };
  const keys = (/** @type {PageEvent} */ event) => {
    if (!at || !editing) return;
    const all = suggestions(editing, pointer, before);
    const handled = (/** @type {() => void} */ work) => { event.preventDefault(); event.stopPropagation(); work(); };
    if (event.key === "ArrowDown" && all.length > 0) handled(() => { marked.value = Math.min(all.length - 1, marked.value + 1); });
    else if (event.key === "ArrowUp" && marked.value >= 0) handled(() => { marked.value -= 1; });
    else if (event.key === "Enter" && all[marked.value]) handled(() => take(all[marked.value]));
    else if (event.key === "Escape") handled(() => { caretAt.value = null; });
  };
  return html`<div>
    <textarea id=${id} ref=${ref} class=${names("area", kind === "expression" && "code")} rows="1" dir="auto" spellcheck=${kind !== "expression"}
        data-kind=${kind} data-pointer=${pointer} aria-invalid=${invalid ? "true" : undefined} placeholder=${placeholder} value=${text}
        onKeyDown=${keys} onFocus=${(event) => { remember(event); look(); }} onBlur=${() => { caretAt.value = null; marked.value = -1; }}
        onSelect=${look} onKeyUp=${(event) => event.key !== "Escape" && look()} onClick=${look}
        onInput=${(event) => { marked.value = -1; onChange(event.currentTarget.value); look(); }}></textarea>
    ${at && html`<${ExpressionCard} ...${{ editing, pointer, before, expression: at.text, marked: marked.value }} onTake=${take} />`}</div>`;
}

/** Properties of runs that are on or off. */
const MARKS = ["bold", "italic", "underline", "strike", "code", "superscript", "subscript"];

/**
 * Inline content of several runs: a text each, whose look opens in the form.
 * @param {{editing: EditedDocument, pointer: string, value: Run[], id: string, label: string}} props
 */
export function RunsControl({ editing, pointer, value, id, label }) {
  const look = (/** @type {Exclude<Run, string>} */ run) => {
    const style = typeof run.style === "string" ? run.style : run.style && t("own style");
    return [...MARKS.filter((name) => run[name]).map((name) => t(words(name))), style, run.link && t("link")].filter(Boolean).join(", ");
  };
  const change = (/** @type {number} */ index, /** @type {Run} */ next) => editing.set(`${pointer}/${index}`, next);
  return html`<div class="runs" id=${id} role="group" aria-label=${label}>
    ${value.map((run, index) => html`<div class="run-part" key=${index}>
      ${typeof run === "string" || typeof run.text === "string" ? html`<${TextControl} ...${{ editing, pointer: `${pointer}/${index}` }}
          value=${typeof run === "string" ? run : run.text}
          onChange=${(/** @type {string} */ next) => change(index, typeof run === "string" ? next : { ...run, text: next })} />`
        : html`<p class="small quiet">${Object.keys(run).join(", ")}</p>`}
      <div class="row small">
        ${typeof run === "string" ? html`<button type="button" class="link small"
            onClick=${() => { change(index, { text: run }); editing.selected.value = `${pointer}/${index}`; }}>${t("Format")}</button>`
          : html`<button type="button" class="link small" onClick=${() => { editing.selected.value = `${pointer}/${index}`; }}>${look(run) || t("Format")}</button>`}
        <span class="grow"></span>
        <button type="button" class="link small" onClick=${() => editing.set(pointer, value.filter((_, at) => at !== index))}>
          ${t("Remove")}<span class="away"> ${index + 1}</span></button></div></div>`)}
    <button type="button" class="button" onClick=${() => editing.set(pointer, [...value, { text: t("Text"), bold: true }])}>
      <${Icon} name="plus" />${t("Add text")}</button></div>`;
}

/**
 * The text of a control: as it was typed while it says the value, as "2.0" says 2 on the way to "2.05", or else as the value is written.
 * @param {Typed} typed
 * @param {unknown} value
 */
const textOf = (typed, value) => (typed && typed.value === value ? typed.text : String(value ?? ""));

/**
 * A text of one line, or a number.
 * @param {ControlProps<string | number | null> & {type?: string, min?: number, max?: number, list?: string}} props
 */
export function LineControl({ id, value, onChange, type = "text", min, max, placeholder, invalid, list }) {
  const typed = useSignal(/** @type {Typed} */ (null));
  const change = (/** @type {PageEvent} */ event) => {
    const { value: text, valueAsNumber, validity } = event.currentTarget;
    if (type !== "number") onChange(text);
    // "2." is no number yet, and the browser keeps its text to itself: what was there before holds.
    else if (validity.badInput) typed.value = { text, value };
    else {
      const next = text === "" ? undefined : valueAsNumber;
      typed.value = { text, value: next };
      onChange(next);
    }
  };
  return html`<input id=${id} class="input" type=${type} min=${min} max=${max} step="any" list=${list} placeholder=${placeholder ?? ""}
      aria-invalid=${invalid ? "true" : undefined} value=${textOf(typed.value, value)} data-kind=${type === "text" ? "text" : undefined}
      onFocus=${type === "text" ? remember : undefined} onInput=${change} onBlur=${() => { typed.value = null; }} />`;
}

/**
 * A length: the arrows change its number.
 * @param {ControlProps<string | number | null>} props
 */
export function LengthControl({ id, value, onChange, invalid, placeholder }) {
  const typed = useSignal(/** @type {Typed} */ (null));
  const step = (/** @type {PageEvent} */ event) => {
    const by = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    const parts = /^(-?[0-9]*\.?[0-9]+) ?([a-z]*)$/.exec(String(value ?? "0pt"));
    if (!by || !parts) return;
    event.preventDefault();
    const next = Math.round((Number(parts[1]) + by * (event.shiftKey ? 10 : 1)) * 100) / 100;
    typed.value = null;
    onChange(typeof value === "number" ? next : `${next}${parts[2] || "pt"}`);
  };
  const change = (/** @type {string} */ text) => {
    const next = text === "" ? undefined : /^-?[0-9]+\.?[0-9]*$/.test(text) ? Number(text) : text;
    typed.value = { text, value: next };
    onChange(next);
  };
  return html`<input id=${id} class="input num" value=${textOf(typed.value, value)} placeholder=${placeholder ?? t("such as 12pt or 5mm")}
      aria-invalid=${invalid ? "true" : undefined} onKeyDown=${step} onInput=${(event) => change(event.currentTarget.value)} onBlur=${() => { typed.value = null; }} />`;
}

/**
 * A color: a swatch and its code, with its contrast on what is behind it.
 * @param {ControlProps<string> & {theme: [string, string][], ground?: string}} props
 */
export function ColorControl({ id, value, onChange, invalid, theme, ground = "#ffffff", placeholder = "#2457d6" }) {
  const ratio = contrast(value, ground);
  const onGround = ratio !== null && t("{ratio} : 1 on {color}", { ratio: ratio.toFixed(1), color: ground === "#ffffff" ? t("white") : ground });
  return html`<div>
    <div class="row">
      <${Swatch} value=${value ?? placeholder} onChange=${onChange} />
      <input id=${id} class="input mono" value=${value ?? ""} placeholder=${placeholder} aria-invalid=${invalid ? "true" : undefined}
          onInput=${(event) => onChange(event.currentTarget.value || undefined)} /></div>
    <div class="row swatches">
      ${theme.map(([name, color]) => html`<button type="button" class="swatch" key=${name} title=${name} aria-label=${name}
          style=${{ background: color }} onClick=${() => onChange(color)}></button>`)}
      ${onGround && html`<span class="small quiet num" title=${t("Text needs 4.5 on its background")}>
        ${onGround}${ratio !== null && ratio < needed(false) ? ` · ${t("low for text")}` : ""}</span>`}</div></div>`;
}

/**
 * The browser's own choice of a color.
 * @param {{value: unknown, onChange: (color: string) => void, label?: string}} props
 */
export function Swatch({ value, onChange, label = t("Choose a color") }) {
  return html`<input type="color" class="swatch" aria-label=${label} value=${hex(value) ?? "#000000"}
      onInput=${(event) => onChange(event.currentTarget.value)} />`;
}

/**
 * A font family, or several in order of preference, with commas between them.
 * @param {ControlProps<string | string[]> & {families: string[]}} props
 */
export function FontControl({ id, value, onChange, invalid, families, placeholder }) {
  const read = (/** @type {string} */ text) => {
    const all = text.split(",").map((one) => one.trimStart());
    return all.length > 1 ? all : text || undefined;
  };
  return html`<div><input id=${id} class="input" list=${`${id}-families`} value=${[value ?? ""].flat().join(", ")} placeholder=${placeholder ?? ""}
      aria-invalid=${invalid ? "true" : undefined} onInput=${(event) => onChange(read(event.currentTarget.value))} />
    <datalist id=${`${id}-families`}>${families.map((one) => html`<option key=${one} value=${one}></option>`)}</datalist></div>`;
}

/**
 * One of few values.
 * @param {{id: string, label: string, value: unknown, choices: Choice[], isRequired: boolean, onChange: (value: unknown) => void, fallback: unknown}} props
 */
export function ChoiceControl({ id, label, value, choices, isRequired, onChange, fallback }) {
  const none = { value: undefined, about: fallback === undefined ? t("Default") : t("Default: {value}", { value: String(fallback) }) };
  /** @type {Choice[]} */
  const all = isRequired ? choices : [none, ...choices];
  const text = (/** @type {Choice} */ { value: one }) => {
    if (one === undefined) return t("Default");
    return typeof one === "boolean" ? t(one ? "Yes" : "No") : words(String(one));
  };
  if (all.length <= 4 && all.every((one) => text(one).length < 12)) {
    return html`<div class="segments" id=${id} role="group" aria-label=${label}>${all.map((one) => html`<button type="button" title=${described(one.about)}
        aria-pressed=${value === one.value} onClick=${() => onChange(one.value)}>${text(one)}</button>`)}</div>`;
  }
  return html`<select id=${id} class="select" value=${value ?? ""}
      onChange=${(event) => onChange(all.find((one) => String(one.value ?? "") === event.currentTarget.value)?.value)}>${all.map((one) => html`<option
      value=${one.value ?? ""} selected=${one.value === value}>${text(one)}</option>`)}</select>`;
}

/**
 * Any value as JSON; what is no JSON stays here until it is. It stands as it was typed: to write it anew moves what is below.
 * @param {{id: string, value: unknown, onChange: (value: Json | undefined) => void, label: string}} props
 */
export function JsonControl({ id, value, onChange, label }) {
  const typed = useSignal(/** @type {Typed} */ (null));
  const isBroken = useSignal(false);
  const held = typed.value;
  const shown = held && (isBroken.value || held.value === value) ? held.text : value === undefined ? "" : JSON.stringify(value, null, 2);
  const change = (/** @type {string} */ text) => {
    try {
      const next = /** @type {Json | undefined} */ (text.trim() === "" ? undefined : JSON.parse(text));
      typed.value = { text, value: next };
      isBroken.value = false;
      onChange(next);
    } catch {
      typed.value = { text, value };
      isBroken.value = true;
    }
  };
  return html`<div>
    <textarea id=${id} class="area code" rows=${Math.min(14, Math.max(2, shown.split("\n").length))} spellcheck="false" aria-label=${label}
        aria-invalid=${isBroken.value ? "true" : undefined} value=${shown} onInput=${(event) => change(event.currentTarget.value)}></textarea>
    ${isBroken.value && html`<p class="small bad-text">${t("This is no JSON yet; what was there before still holds.")}</p>`}</div>`;
}

/**
 * Objects by name, such as styles: each opens in the form.
 * @param {{editing: EditedDocument, pointer: string, value: {[name: string]: object} | undefined, id: string, label: string}} props
 */
export function MapControl({ editing, pointer, value, id, label }) {
  const wish = useSignal("");
  const add = () => {
    const name = wish.value.trim();
    if (!name || name in (value ?? {})) return;
    editing.set(`${pointer}/${escape(name)}`, {});
    wish.value = "";
    editing.selected.value = `${pointer}/${escape(name)}`;
  };
  return html`<div class="list-box" role="group" aria-label=${label}>
    <ul>${Object.entries(value ?? {}).map(([name, one]) => html`<li class="row" key=${name}>
      <button type="button" class="button plain grow cut" onClick=${() => { editing.selected.value = `${pointer}/${escape(name)}`; }}>${name}</button>
      <span class="small quiet cut">${Object.keys(one ?? {}).slice(0, 3).map((key) => within(t(words(key)))).join(", ")}</span>
      <button type="button" class="button plain icon" aria-label=${t("Remove {name}", { name })}
          onClick=${() => editing.set(`${pointer}/${escape(name)}`, undefined)}><${Icon} name="trash" /></button></li>`)}</ul>
    <div class="row">
      <input id=${id} class="input" placeholder=${t("New name")} value=${wish.value} onInput=${(event) => { wish.value = event.currentTarget.value; }}
          onKeyDown=${(event) => { if (event.key === "Enter") { event.preventDefault(); add(); } }} />
      <button type="button" class="button" disabled=${!wish.value.trim()} onClick=${add}>${t("Add")}</button></div></div>`;
}

/**
 * A list of texts, one a line.
 * @param {ControlProps<string[]>} props
 */
export function LinesControl({ id, value, onChange }) {
  return html`<textarea id=${id} class="area" rows="3" data-kind="text" value=${(value ?? []).join("\n")} onFocus=${remember}
    onInput=${(event) => onChange(event.currentTarget.value === "" ? undefined : event.currentTarget.value.split("\n"))}></textarea>`;
}

/**
 * A list of objects: each opens in the form.
 * @param {{value: unknown, label: string, text: (one: unknown) => string, onOpen: (index: number) => void, onAdd: () => void,
 *   onMove: (from: number, to: number) => void, onRemove: (index: number) => void}} props
 */
export function ListControl({ value, label, text, onOpen, onAdd, onMove, onRemove }) {
  const all = Array.isArray(value) ? value : [];
  return html`<div class="list-box">
    <ul>${all.map((one, index) => html`<li key=${index} class="row">
      <button type="button" class="button plain grow cut" onClick=${() => onOpen(index)}>${index + 1}. ${text(one) || t("empty")}</button>
      <button type="button" class="button plain icon" disabled=${index === 0} aria-label=${t("Move {name} up", { name: text(one) })}
          onClick=${() => onMove(index, index - 1)}><${Icon} name="up" /></button>
      <button type="button" class="button plain icon" disabled=${index === all.length - 1} aria-label=${t("Move {name} down", { name: text(one) })}
          onClick=${() => onMove(index, index + 2)}><${Icon} name="lower" /></button>
      <button type="button" class="button plain icon" aria-label=${t("Remove {name}", { name: text(one) })} onClick=${() => onRemove(index)}>
        <${Icon} name="trash" /></button></li>`)}</ul>
    <button type="button" class="button" onClick=${onAdd}><${Icon} name="plus" />${t("Add to {name}", { name: within(label) })}</button></div>`;
}
