// The theme of a template: its fonts, its colors with their contrast, and its styles.

/** @import { PageEvent } from "./vendor-htm.js" */
/** @import { EditedDocument } from "./edited-document.js" */
/** @import { Diagnostic, Schema } from "./types.js" */
/** @import { Pair } from "./theme-styles.js" */

import { html, useSignal, names } from "./base.js";
import { get, remove, escape } from "./pointer.js";
import { schemaAt } from "./schema.js";
import { Field } from "./field.js";
import { Swatch } from "./fields.js";
import { COLORS, OWN, cleared, pairs, renamed, usesOf } from "./theme-styles.js";
import { hex } from "./contrast.js";
import { words } from "./nodes.js";
import { Icon } from "./icons.js";
import { t, tn, number } from "./text.js";

/**
 * A color of the theme: what the engine takes is shown where the template has none.
 * @param {{editing: EditedDocument, name: keyof typeof COLORS, problems: Diagnostic[], locked: boolean}} props
 */
function ColorRow({ editing, name, problems, locked }) {
  const pointer = `/theme/colors/${name}`;
  const value = get(editing.document.value, pointer);
  const change = (/** @type {string | undefined} */ next) => (next ? editing.set(pointer, next) : editing.change(cleared(editing.document.value, pointer), pointer));
  const problem = problems.find((one) => one.path === pointer);
  const label = t(words(name));
  return html`<div class="theme-color">
    <div class="row">
      <${Swatch} value=${value ?? COLORS[name]} label=${t("Choose the color {name}", { name: label })} onChange=${change} />
      <label class="grow cut" for=${`theme-${name}`}>${value !== undefined && html`<i class="dot" title=${t("Set here")}></i>`}${label}</label>
      <input id=${`theme-${name}`} class="input mono" value=${value ?? ""} placeholder=${COLORS[name]} aria-invalid=${problem ? "true" : undefined}
          onInput=${(event) => change(event.currentTarget.value)} />
      <button type="button" class="button plain icon" disabled=${locked || value === undefined} aria-label=${t("Reset {name}", { name: label })}
          title=${t("Reset")} onClick=${() => change(undefined)}><${Icon} name="undo" /></button></div>
    ${problem && html`<p class="small bad-text">${problem.message}</p>`}</div>`;
}

/**
 * The colors of charts, in their order.
 * @param {{editing: EditedDocument}} props
 */
function ChartColors({ editing }) {
  const colors = editing.document.value.theme?.colors?.chart ?? [];
  const pointer = "/theme/colors/chart";
  const drop = (/** @type {number} */ index) => editing.change(colors.length === 1 ? cleared(editing.document.value, pointer) : remove(editing.document.value, `${pointer}/${index}`), null);
  return html`<div class="field-box">
    <p class="label">${t("Colors of charts")}</p>
    <div class="row swatches">
      ${colors.map((color, index) => html`<span class="row chart-color" key=${index}>
        <${Swatch} value=${color} label=${t("Color {count} of charts", { count: index + 1 })}
            onChange=${(/** @type {string} */ next) => editing.set(`${pointer}/${index}`, next)} />
        <button type="button" class="button plain icon" aria-label=${t("Remove color {count} of charts", { count: index + 1 })}
            onClick=${() => drop(index)}><${Icon} name="close" /></button></span>`)}
      <button type="button" class="button" onClick=${() => editing.set(pointer, [...colors, COLORS.primary])}>
        <${Icon} name="plus" />${t("Add a color")}</button></div></div>`;
}

/**
 * One pair of text and ground. Where it is too low, a word says so, not only the color.
 * @param {{editing: EditedDocument, pair: Pair}} props
 */
function PairRow({ editing, pair }) {
  const on = { page: t("on page"), surface: t("on panels"), style: t("style") }[pair.on];
  const name = pair.on === "style" ? pair.name : t(words(pair.name));
  const open = () => { editing.selected.value = pair.path.startsWith("/theme/styles/") ? pair.path : "/theme"; };
  return html`<tr>
    <td>
      <svg class="contrast-sample" viewBox="0 0 30 20" aria-hidden="true">
        <rect width="30" height="20" fill=${hex(pair.ground) ?? "none"} />
        <text x="15" y="14.500" fill=${hex(pair.text) ?? "currentColor"}>Aa</text></svg></td>
    <td class="cut">
      ${pair.on === "style" ? html`<button type="button" class="link" onClick=${open}>${name}</button>` : name} <span class="quiet">
        ${on}${pair.isLarge ? `, ${t("large")}` : ""}</span></td>
    <td class="num end">${pair.ratio === null ? "–" : `${number(Math.floor(pair.ratio * 10) / 10)} : 1`}</td>
    <td class="end">${pair.passes === null ? html`<span class="small quiet">${t("by data")}</span>` : html`<span
        class=${names("badge square", pair.passes ? "ok" : "bad")}>${pair.passes ? t("AA") : t("too low")}</span>`}</td></tr>`;
}

/** @param {{editing: EditedDocument}} props */
function Contrast({ editing }) {
  const all = pairs(editing.document.value);
  const low = all.filter((one) => one.passes === false).length;
  return html`<section aria-label=${t("Contrast")}>
    <h3 class="theme-head row">
      <span class="grow">${t("Contrast")}</span>
      ${low > 0 ? html`<span class="badge bad">${tn(low, "{count} too low", "{count} too low")}</span>` : html`<span class="badge ok">${t("AA")}</span>`}</h3>
    <p class="small quiet">${t("Text needs 4.5 : 1, and 3 : 1 from 18 pt, or bold from 14 pt (WCAG 2.2, level AA).")}</p>
    <table class="contrast-pairs">
      <tbody>${all.map((pair) => html`<${PairRow} key=${`${pair.on} ${pair.name}`} ...${{ editing, pair }} />`)}</tbody></table></section>`;
}

/**
 * One style: a click opens it in the form.
 * @param {{editing: EditedDocument, root: Schema, name: string, locked: boolean}} props
 */
function StyleRow({ editing, root, name, locked }) {
  const wish = useSignal(/** @type {string | null} */ (null));
  const pointer = `/theme/styles/${escape(name)}`;
  const styles = editing.document.value.theme?.styles ?? {};
  const uses = usesOf(root, editing.document.value, name).length;
  const isOwn = name in OWN;
  const rename = (/** @type {PageEvent} */ event) => {
    event.preventDefault();
    const next = (wish.value ?? "").trim();
    wish.value = null;
    if (next && next !== name && !(next in styles)) editing.change(renamed(root, editing.document.value, name, next), null);
  };
  if (wish.value !== null) {
    return html`<li>
      <form class="row" onSubmit=${rename}>
        <input class="input" aria-label=${t("New name of {name}", { name })} value=${wish.value}
            ref=${(/** @type {HTMLInputElement | null} */ field) => field?.focus()} onInput=${(event) => { wish.value = event.currentTarget.value; }}
            onKeyDown=${(event) => { if (event.key === "Escape") { event.stopPropagation(); wish.value = null; } }} />
        <button class="button" disabled=${!wish.value.trim() || (wish.value.trim() !== name && wish.value.trim() in styles)}>${t("Rename")}</button></form></li>`;
  }
  return html`<li class="row">
    <button type="button" class="button plain grow cut" onClick=${() => { editing.selected.value = pointer; }}>${name}</button>
    <span class="small quiet num">${isOwn ? t("Platen’s own, changed") : tn(uses, "{count} use", "{count} uses")}</span>
    <button type="button" class="button plain icon" disabled=${locked || isOwn} aria-label=${t("Rename {name}", { name })}
        title=${isOwn ? t("Platen’s own styles keep their names") : t("Rename")} onClick=${() => { wish.value = name; }}>
      <${Icon} name="pen" /></button>
    <button type="button" class="button plain icon" disabled=${locked || (uses > 0 && !isOwn)} aria-label=${t("Remove {name}", { name })}
        title=${uses > 0 && !isOwn ? t("It is in use") : t("Remove")} onClick=${() => editing.change(cleared(editing.document.value, pointer), null)}>
      <${Icon} name="trash" /></button></li>`;
}

/** @param {{editing: EditedDocument, root: Schema, locked: boolean}} props */
function Styles({ editing, root, locked }) {
  const wish = useSignal("");
  const styles = editing.document.value.theme?.styles ?? {};
  const add = (/** @type {PageEvent} */ event) => {
    event.preventDefault();
    const name = wish.value.trim();
    if (!name) return;
    if (!(name in styles)) editing.set(`/theme/styles/${escape(name)}`, {});
    wish.value = "";
    editing.selected.value = `/theme/styles/${escape(name)}`;
  };
  return html`<section aria-label=${t("Styles")}>
    <h3 class="theme-head">${t("Styles")}</h3>
    <ul class="list-box">${Object.keys(styles).map((name) => html`<${StyleRow} key=${name} ...${{ editing, root, name, locked }} />`)}</ul>
    ${!locked && html`<form class="row" onSubmit=${add}>
      <label class="away" for="new-style">${t("Name of a style")}</label>
      <input id="new-style" class="input" list="own-styles" placeholder=${t("New, or one of Platen’s own")} value=${wish.value}
          onInput=${(event) => { wish.value = event.currentTarget.value; }} />
      <datalist id="own-styles">${Object.keys(OWN).filter((name) => !(name in styles)).map((name) => html`<option key=${name} value=${name}></option>`)}</datalist>
      <button class="button" disabled=${!wish.value.trim()}>${t("Add")}</button></form>`}</section>`;
}

/**
 * The form of the theme.
 * @param {{editing: EditedDocument, root: Schema, problems: Diagnostic[], locked: boolean}} props
 */
export function Theme({ editing, root, problems, locked }) {
  const document = editing.document.value;
  const field = (/** @type {string} */ path) => html`<${Field} key=${path} ...${{ root, editing, problems, locked, isRequired: false }}
      name=${path.split("/").at(-1)} pointer=${`/theme/${path}`} schema=${schemaAt(root, `/theme/${path}`, document)} />`;
  return html`<div class="form">
    <div class="row pane-head"><${Icon} name="theme" /><h2 class="cut">${t("Theme")}</h2></div>
    <div class="form-body">
      <section aria-label=${t("Colors")}>
        <h3 class="theme-head">${t("Colors")}</h3>
        <fieldset class="bare" disabled=${locked}>
          ${Object.keys(COLORS).map((name) => html`<${ColorRow} key=${name} ...${{ editing, name, problems, locked }} />`)}
          <${ChartColors} editing=${editing} /></fieldset></section>
      <${Contrast} editing=${editing} />
      <section aria-label=${t("Text")}>
        <h3 class="theme-head">${t("Text")}</h3>${["fonts/body", "fonts/heading", "fonts/mono", "fontSize", "lineHeight"].map(field)}</section>
      <${Styles} ...${{ editing, root, locked }} /></div></div>`;
}
