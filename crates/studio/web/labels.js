// Labels of templates and flows: shown in lists, changed in a dialog, and a filter.

/** @import { Signal } from "./vendor-signals.js" */
/** @import { PageEvent } from "./vendor-htm.js" */
/** @import { Labelled } from "./types.js" */

import { html, useSignal } from "./base.js";
import { asError, request } from "./api.js";
import { Dialog, Failure, say, useLoaded, Loading } from "./parts.js";
import { Icon } from "./icons.js";
import { t } from "./text.js";

/**
 * All labels of a list, in the order of the alphabet.
 * @param {Labelled[]} entries
 */
export const labelsOf = (entries) => [...new Set(entries.flatMap((one) => one.labels ?? []))].sort((one, other) => one.localeCompare(other));

/** @param {{labels: string[] | undefined}} props */
export const Labels = ({ labels }) => labels?.length ? html`<span class="labels">${labels.map((one) => html`<span class="badge square" key=${one}>${one}</span>`)}</span>` : null;

/**
 * The choice of a label for a list; nothing if it has none.
 * @param {{all: string[], chosen: Signal<string>}} props
 */
export function LabelFilter({ all, chosen }) {
  if (all.length === 0) return null;
  return html`<select class="select" aria-label=${t("Filter by label")} value=${chosen.value} onChange=${(event) => { chosen.value = event.currentTarget.value; }}>
    <option value="">${t("All labels")}</option>${all.map((one) => html`<option key=${one} value=${one}>${one}</option>`)}</select>`;
}

/**
 * The button that opens the labels of an entry.
 * @param {{entry: Labelled, onOpen: () => void}} props
 */
export const LabelButton = ({ entry, onOpen }) => html`<button type="button" class="button plain icon label-button" onClick=${onOpen}
    aria-label=${t("Labels of {name}", { name: entry.name || entry.key })} title=${t("Labels")}><${Icon} name="tag" /></button>`;

/**
 * Changes the labels of a template or a flow.
 * @param {{kind: "templates" | "flows", entry: Labelled, all: string[], onClose: () => void, onDone: () => void}} props
 */
export function LabelDialog({ kind, entry, all, onClose, onDone }) {
  const stored = useLoaded(async () => {
    const response = await request("GET", `${kind}/${entry.key}/labels`);
    return { tag: response.headers.get("ETag") ?? "*", labels: /** @type {{labels: string[]}} */ (await response.json()).labels };
  }, []);
  return html`<${Dialog} title=${t("Labels of {name}", { name: entry.name || entry.key })} onClose=${onClose}>
    ${stored.error && html`<${Failure} error=${stored.error} onRetry=${stored.again} />`}
    ${stored.value ? html`<${LabelForm} ...${{ kind, entry, all, onClose, onDone }} tag=${stored.value.tag} before=${stored.value.labels} />`
      : !stored.error && html`<${Loading} rows=${2} />`}</${Dialog}>`;
}

/**
 * @param {{kind: string, entry: Labelled, all: string[], tag: string, before: string[], onClose: () => void, onDone: () => void}} props
 */
function LabelForm({ kind, entry, all, tag, before, onClose, onDone }) {
  const labels = useSignal(before);
  const wish = useSignal("");
  const failure = useSignal(/** @type {Error | null} */ (null));
  const add = (/** @type {string} */ text) => {
    const found = text.split(",").map((one) => one.trim()).filter((one) => one && !labels.value.includes(one));
    labels.value = [...labels.value, ...found];
    wish.value = "";
  };
  const save = async (/** @type {PageEvent} */ event) => {
    event.preventDefault();
    if (wish.value.trim()) add(wish.value);
    try {
      await request("PUT", `${kind}/${entry.key}/labels`, { body: { labels: labels.value }, headers: { "If-Match": tag } });
      say(t("The labels are stored."));
      onDone();
    } catch (error) { failure.value = asError(error); }
  };
  return html`<form onSubmit=${save}>
    <ul class="labels">${labels.value.map((one) => html`<li key=${one} class="badge square">${one}
      <button type="button" class="link" aria-label=${t("Remove {name}", { name: one })} onClick=${() => { labels.value = labels.value.filter((other) => other !== one); }}>
        <${Icon} name="close" /></button></li>`)}</ul>
    <div class="field-box">
      <label class="label" for="new-label">${t("New label")}</label>
      <div class="row">
        <input id="new-label" class="input" list="known-labels" maxlength="40" autocomplete="off" value=${wish.value} aria-describedby="label-about"
            onInput=${(event) => { wish.value = event.currentTarget.value; }}
            onKeyDown=${(event) => { if (event.key === "Enter" && wish.value.trim()) { event.preventDefault(); add(wish.value); } }} />
        <button type="button" class="button" disabled=${!wish.value.trim()} onClick=${() => add(wish.value)}>${t("Add")}</button></div>
      <datalist id="known-labels">${all.map((one) => html`<option key=${one} value=${one}></option>`)}</datalist>
      <p id="label-about" class="small quiet">${t("Letters, digits, spaces and - _ . : / & + #; up to 20 labels.")}</p></div>
    ${failure.value && html`<${Failure} error=${failure.value} />`}
    <div class="ends">
      <button type="button" class="button" onClick=${onClose}>${t("Cancel")}</button>
      <button class="button primary">${t("Save")}</button></div></form>`;
}
