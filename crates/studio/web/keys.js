// API keys: those that there are, new ones, and their end.

/** @import { Ref } from "./vendor-hooks.js" */
/** @import { PageEvent } from "./vendor-htm.js" */
/** @import { KeyEntry, KeyList, MadeKey } from "./types.js" */

import { html, useEffect, useRef, useSignal } from "./base.js";
import { asError, json, request, statusOf } from "./api.js";
import { Dialog, Failure, Loading, say, useLoaded } from "./parts.js";
import { Icon } from "./icons.js";
import { number, t, when } from "./text.js";

/** What a key may be for, with what the service is asked for. */
const purposes = () => /** @type {[string, string, string, {roles?: string[], scopes?: string[]}][]} */ ([
  ["render", t("Only makes documents"), t("For an application that renders templates or converts files."), { scopes: ["render"] }],
  ["operator", t("Operator"), t("Makes documents, and looks after all runs."), { roles: ["operator"] }],
  ["viewer", t("Viewer"), t("Looks at templates and flows, and sees previews."), { roles: ["viewer"] }],
  ["author", t("Author"), t("Edits drafts of templates and flows."), { roles: ["author"] }],
  ["publisher", t("Publisher"), t("Edits drafts, and puts versions into effect."), { roles: ["publisher"] }],
  ["admin", t("Administrator"), t("May do everything, also make keys."), { roles: ["admin"] }],
]);

/** Lifetimes of keys in days; 0 for no end. */
const lifetimes = () => /** @type {[number, string][]} */ ([[30, t("30 days")], [90, t("90 days")], [365, t("1 year")], [0, t("No end")]]);

/**
 * What a key may do, in a few words.
 * @param {{roles: string[], scopes: string[]}} key
 */
function power(key) {
  if (key.roles.length === 0 && key.scopes.join() === "render") return t("Only makes documents");
  const titles = purposes().filter(([role]) => key.roles.includes(role)).map(([, title]) => title);
  return titles.join(", ") || key.scopes.join(", ");
}

/** @param {string} at */
const day = (at) => new Date(at).toLocaleDateString(document.documentElement.lang, { day: "numeric", month: "short", year: "numeric" });

/** The page of API keys. */
export function Keys() {
  const { value, error, again } = useLoaded(() => /** @type {Promise<KeyList>} */ (json("GET", "keys")), []);
  const adding = useSignal(false);
  const made = useSignal(/** @type {MadeKey | null} */ (null));
  const ending = useSignal(/** @type {KeyEntry | null} */ (null));
  const failure = error && statusOf(error) === 403 ? new Error(t("API keys need the role of an administrator.")) : error;
  return html`<main class="content">
    <header class="head">
      <h1>${t("API keys")}</h1><span class="quiet num">${value && number(value.keys.length)}</span><span class="grow"></span>
      ${value && html`<button type="button" class="button primary" onClick=${() => { adding.value = true; }}>
        <${Icon} name="plus" />${t("New key")}</button>`}</header>
    ${failure && html`<${Failure} error=${failure} onRetry=${again} />`}${!value && !failure && html`<${Loading} />`}
    ${value?.keys.length === 0 && html`<div class="empty">
      <h2>${t("No keys yet")}</h2><p>${t("Give each application a key of its own: it can be ended without the others, and you see when it was last used.")}</p></div>`}
    ${value && value.keys.length > 0 && html`<${Table} keys=${value.keys} onEnd=${(/** @type {KeyEntry} */ one) => { ending.value = one; }} />`}
    ${value && value.fromSettings.length > 0 && html`<section class="of-settings">
      <h2>${t("Keys of the settings")}</h2>
      <p class="small quiet">${t("They stand in API_KEY_ADMIN and API_KEY_RENDER, and end when they are removed there.")}</p>
      <ul>${value.fromSettings.map((one) => html`<li key=${one.name}><code>${one.name}</code> <span class="quiet">${power({ roles: [one.role], scopes: [] })}</span></li>`)}</ul></section>`}
    ${adding.value && html`<${NewKey} onClose=${() => { adding.value = false; }} onMade=${(/** @type {MadeKey} */ key) => { adding.value = false; made.value = key; again(); }} />`}
    ${made.value && html`<${Secret} made=${made.value} onClose=${() => { made.value = null; }} />`}
    ${ending.value && html`<${EndKey} entry=${ending.value} onClose=${() => { ending.value = null; }} onDone=${() => { ending.value = null; again(); }} />`}</main>`;
}

/** @param {{keys: KeyEntry[], onEnd: (key: KeyEntry) => void}} props */
function Table({ keys, onEnd }) {
  return html`<table class="table of-keys">
    <thead><tr><th>${t("Name")}</th><th>${t("May")}</th><th>${t("Last use")}</th><th>${t("Ends")}</th><th>${t("Made by")}</th><th><span class="away">${t("Actions")}</span></th></tr></thead>
    <tbody>${keys.map((one) => html`<tr key=${one.id}>
      <td class="what"><b>${one.name}</b><br /><code class="quiet">plt_${one.id}_…</code></td>
      <td class="subject">${power(one)}${one.requestsPerMinute ? html`<br /><span class="small quiet num">${t("{count} requests a minute", { count: number(one.requestsPerMinute) })}</span>` : ""}</td>
      <td class="used num" title=${one.lastUsedAt}><span class="only-narrow quiet">${t("Last use")}: </span>${one.lastUsedAt ? when(one.lastUsedAt) : html`<span class="quiet">${t("never")}</span>`}</td>
      <td class="ends-at num"><span class="only-narrow quiet">${t("Ends")}: </span>${one.isExpired ? html`<span class="badge bad">${t("ended")}</span>` : one.expiresAt ? day(one.expiresAt) : html`<span class="quiet">${t("never")}</span>`}</td>
      <td class="who quiet" title=${one.createdAt}>${one.createdBy}</td>
      <td class="when"><button type="button" class="button danger" aria-label=${t("Delete the key {name}", { name: one.name })} onClick=${() => onEnd(one)}>
        <${Icon} name="trash" /><span>${t("Delete")}</span></button></td></tr>`)}</tbody></table>`;
}

/** @param {{onClose: () => void, onMade: (made: MadeKey) => void}} props */
function NewKey({ onClose, onMade }) {
  const name = useSignal("");
  const purpose = useSignal("render");
  const days = useSignal(365);
  const limit = useSignal("");
  const failure = useSignal(/** @type {Error | null} */ (null));
  const busy = useSignal(false);
  const [, , about, grants] = purposes().find(([id]) => id === purpose.value) ?? purposes()[0];
  const create = async (/** @type {PageEvent} */ event) => {
    event.preventDefault();
    busy.value = true;
    const expiresAt = days.value ? new Date(Date.now() + days.value * 86_400_000).toISOString() : undefined;
    const requestsPerMinute = limit.value ? Number(limit.value) : undefined;
    try {
      onMade(/** @type {MadeKey} */ (await json("POST", "keys", { body: { name: name.value, ...grants, expiresAt, requestsPerMinute } })));
    } catch (error) { failure.value = asError(error); busy.value = false; }
  };
  return html`<${Dialog} title=${t("New key")} onClose=${onClose}>
    <form onSubmit=${create}>
      <div class="field-box">
        <label class="label" for="key-name">${t("What is it for?")}</label>
        <input id="key-name" class="input" maxlength="100" required autocomplete="off" value=${name.value}
            placeholder=${t("Web shop")} onInput=${(event) => { name.value = event.currentTarget.value; }} /></div>
      <div class="field-box">
        <label class="label" for="key-purpose">${t("What may it do?")}</label>
        <select id="key-purpose" class="select" aria-describedby="key-about" value=${purpose.value} onChange=${(event) => { purpose.value = event.currentTarget.value; }}>
          ${purposes().map(([id, title]) => html`<option key=${id} value=${id}>${title}</option>`)}</select>
        <p id="key-about" class="small quiet">${about}</p></div>
      <div class="field-box">
        <label class="label" for="key-days">${t("How long is it valid?")}</label>
        <select id="key-days" class="select" value=${days.value} onChange=${(event) => { days.value = Number(event.currentTarget.value); }}>
          ${lifetimes().map(([count, title]) => html`<option key=${count} value=${count}>${title}</option>`)}</select></div>
      <div class="field-box">
        <label class="label" for="key-limit">${t("Requests a minute")}</label>
        <input id="key-limit" class="input" type="number" min="1" max="10000000" value=${limit.value} placeholder=${t("As all clients")}
            onInput=${(event) => { limit.value = event.currentTarget.value; }} /></div>
      ${failure.value && html`<${Failure} error=${failure.value} />`}
      <div class="ends">
        <button type="button" class="button" onClick=${onClose}>${t("Cancel")}</button>
        <button class="button primary" disabled=${busy.value}>${t("Make the key")}</button></div></form></${Dialog}>`;
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
