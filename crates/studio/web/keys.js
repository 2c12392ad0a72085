// API keys: those that there are, new ones, and their end.

/** @import { Ref } from "./vendor-hooks.js" */
/** @import { FoundKey, KeyEntry, KeyList, MadeKey } from "./types.js" */
/** @import { Signal } from "./vendor-signals.js" */

import { html, useEffect, useRef, useSignal } from "./base.js";
import { asError, json, request, statusOf } from "./api.js";
import { Dialog, Failure, Loading, say, useLoaded } from "./parts.js";
import { KeyForm, RotateKey, day, findKey, purposes } from "./key-dialogs.js";
import { Icon } from "./icons.js";
import { number, t, when } from "./text.js";

/**
 * What a key may do, in a few words.
 * @param {{roles: string[], scopes: string[]}} key
 */
function power(key) {
  if (key.roles.length === 0 && key.scopes.join() === "render") return t("Only makes documents");
  const titles = purposes().filter(([role]) => key.roles.includes(role)).map(([, title]) => title);
  return titles.join(", ") || key.scopes.join(", ");
}

/** The page of API keys. */
export function Keys() {
  const { value, error, again } = useLoaded(() => /** @type {Promise<KeyList>} */ (json("GET", "keys")), []);
  const adding = useSignal(false);
  const made = useSignal(/** @type {MadeKey | null} */ (null));
  const changing = useSignal(/** @type {FoundKey | null} */ (null));
  const rotating = useSignal(/** @type {FoundKey | null} */ (null));
  const ending = useSignal(/** @type {KeyEntry | null} */ (null));
  const openFor = async (/** @type {Signal<FoundKey | null>} */ dialog, /** @type {KeyEntry} */ one) => {
    try {
      dialog.value = await findKey(one);
    } catch (problem) { say(asError(problem).message, true); }
  };
  const failure = error && statusOf(error) === 403 ? new Error(t("API keys need the role of an administrator.")) : error;
  return html`<main class="content">
    <header class="head">
      <h1>${t("API keys")}</h1><span class="quiet num">${value && number(value.keys.length)}</span><span class="grow"></span>
      ${value && html`<button type="button" class="button primary" onClick=${() => { adding.value = true; }}>
        <${Icon} name="plus" />${t("New key")}</button>`}</header>
    ${failure && html`<${Failure} error=${failure} onRetry=${again} />`}${!value && !failure && html`<${Loading} />`}
    ${value?.keys.length === 0 && html`<div class="empty">
      <h2>${t("No keys yet")}</h2><p>${t("Give each application a key of its own: it can be ended without the others, and you see when it was last used.")}</p></div>`}
    ${value && value.keys.length > 0 && html`<${Table} keys=${value.keys} onChange=${(/** @type {KeyEntry} */ one) => openFor(changing, one)}
        onRotate=${(/** @type {KeyEntry} */ one) => openFor(rotating, one)} onEnd=${(/** @type {KeyEntry} */ one) => { ending.value = one; }} />`}
    ${value && value.fromSettings.length > 0 && html`<section class="of-settings">
      <h2>${t("Keys of the settings")}</h2>
      <p class="small quiet">${t("They stand in API_KEY_ADMIN and API_KEY_RENDER, and end when they are removed there.")}</p>
      <ul>${value.fromSettings.map((one) => html`<li key=${one.name}><code>${one.name}</code> <span class="quiet">${power({ roles: [one.role], scopes: [] })}</span></li>`)}</ul></section>`}
    ${adding.value && html`<${KeyForm} found=${null} onClose=${() => { adding.value = false; }} onMade=${(/** @type {MadeKey} */ key) => { adding.value = false; made.value = key; again(); }} />`}
    ${changing.value && html`<${KeyForm} found=${changing.value} onClose=${() => { changing.value = null; }} onMade=${() => { changing.value = null; again(); }} />`}
    ${rotating.value && html`<${RotateKey} found=${rotating.value} onClose=${() => { rotating.value = null; }} onMade=${(/** @type {MadeKey} */ key) => { rotating.value = null; made.value = key; again(); }} />`}
    ${made.value && html`<${Secret} made=${made.value} onClose=${() => { made.value = null; }} />`}
    ${ending.value && html`<${EndKey} entry=${ending.value} onClose=${() => { ending.value = null; }} onDone=${() => { ending.value = null; again(); }} />`}</main>`;
}

/** @param {{keys: KeyEntry[], onChange: (key: KeyEntry) => void, onRotate: (key: KeyEntry) => void, onEnd: (key: KeyEntry) => void}} props */
function Table({ keys, onChange, onRotate, onEnd }) {
  return html`<table class="table of-keys">
    <thead><tr><th>${t("Name")}</th><th>${t("May")}</th><th>${t("Last use")}</th><th>${t("Ends")}</th><th>${t("Made by")}</th><th><span class="away">${t("Actions")}</span></th></tr></thead>
    <tbody>${keys.map((one) => html`<tr key=${one.id}>
      <td class="what"><b>${one.name}</b><br /><code class="quiet">plt_${one.id}_…</code></td>
      <td class="subject">${power(one)}${one.requestsPerMinute ? html`<br /><span class="small quiet num">${t("{count} requests a minute", { count: number(one.requestsPerMinute) })}</span>` : ""}</td>
      <td class="used num" title=${one.lastUsedAt}><span class="only-narrow quiet">${t("Last use")}: </span>${one.lastUsedAt ? when(one.lastUsedAt) : html`<span class="quiet">${t("never")}</span>`}</td>
      <td class="ends-at num"><span class="only-narrow quiet">${t("Ends")}: </span>${one.isExpired ? html`<span class="badge bad">${t("ended")}</span>` : one.expiresAt ? day(one.expiresAt) : html`<span class="quiet">${t("never")}</span>`}</td>
      <td class="who quiet" title=${one.createdAt}>${one.createdBy}</td>
      <td class="when"><button type="button" class="button icon" title=${t("Change")} aria-label=${t("Change the key {name}", { name: one.name })} onClick=${() => onChange(one)}>
        <${Icon} name="pen" /></button> <button type="button" class="button icon" title=${t("Rotate")} aria-label=${t("Rotate the key {name}", { name: one.name })} onClick=${() => onRotate(one)}>
        <${Icon} name="retry" /></button> <button type="button" class="button danger" aria-label=${t("Delete the key {name}", { name: one.name })} onClick=${() => onEnd(one)}>
        <${Icon} name="trash" /><span>${t("Delete")}</span></button></td></tr>`)}</tbody></table>`;
}

/** @param {{made: MadeKey, onClose: () => void}} props */
function Secret({ made, onClose }) {
  /** @type {Ref<HTMLTextAreaElement>} */
  const field = useRef(null);
  useEffect(() => field.current.select(), []);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(made.secret);
      say(t("The key is in the clipboard."));
    } catch { say(t("The browser does not let this page use the clipboard: select the key, and copy it."), true); }
  };
  return html`<${Dialog} title=${t("The key for {name}", { name: made.key.name })} onClose=${onClose}>
    <p>${t("Copy it now: it is shown this once, and nobody can read it again.")}</p>
    <div class="field-box">
      <label class="label" for="key-secret">${t("API key")}</label>
      <textarea id="key-secret" ref=${field} class="area code" rows="3" readonly>${made.secret}</textarea></div>
    <div class="ends">
      <button type="button" class="button" onClick=${copy}><${Icon} name="copy" />${t("Copy")}</button>
      <button type="button" class="button primary" onClick=${onClose}>${t("I have it")}</button></div></${Dialog}>`;
}

/** @param {{entry: KeyEntry, onClose: () => void, onDone: () => void}} props */
function EndKey({ entry, onClose, onDone }) {
  const failure = useSignal(/** @type {Error | null} */ (null));
  const end = async () => {
    try {
      await request("DELETE", `keys/${entry.id}`);
      say(t("The key for {name} is deleted.", { name: entry.name }));
      onDone();
    } catch (error) { failure.value = asError(error); }
  };
  return html`<${Dialog} title=${t("Delete the key for {name}?", { name: entry.name })} onClose=${onClose}>
    <p>${t("What uses it is refused at once, and so are sessions that were begun with it. This cannot be undone.")}</p>
    ${entry.lastUsedAt && html`<p class="quiet">${t("Last use: {when}", { when: when(entry.lastUsedAt) })}</p>`}
    ${failure.value && html`<${Failure} error=${failure.value} />`}
    <div class="ends">
      <button type="button" class="button" onClick=${onClose}>${t("Cancel")}</button>
      <button type="button" class="button danger" onClick=${end}>${t("Delete")}</button></div></${Dialog}>`;
}
