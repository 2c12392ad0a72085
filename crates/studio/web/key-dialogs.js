// What makes a key, changes what it may do, and replaces it by another.

/** @import { PageEvent } from "./vendor-htm.js" */
/** @import { FoundKey, KeyEntry, MadeKey } from "./types.js" */

import { html, useSignal } from "./base.js";
import { asError, json, request, statusOf, tagOf } from "./api.js";
import { Dialog, Failure, say } from "./parts.js";
import { t } from "./text.js";

/** What a key may be for, with what the service is asked for. */
export const purposes = () => /** @type {[string, string, string, {roles?: string[], scopes?: string[]}][]} */ ([
  ["render", t("Only makes documents"), t("For an application that renders templates or converts files."), { scopes: ["render"] }],
  ["operator", t("Operator"), t("Makes documents, and looks after all runs."), { roles: ["operator"] }],
  ["viewer", t("Viewer"), t("Looks at templates and flows, and sees previews."), { roles: ["viewer"] }],
  ["author", t("Author"), t("Edits drafts of templates and flows."), { roles: ["author"] }],
  ["publisher", t("Publisher"), t("Edits drafts, and puts versions into effect."), { roles: ["publisher"] }],
  ["admin", t("Administrator"), t("May do everything, also make keys."), { roles: ["admin"] }],
]);

/** Lifetimes of keys in days; 0 for no end. */
const lifetimes = () => /** @type {[number, string][]} */ ([[30, t("30 days")], [90, t("90 days")], [365, t("1 year")], [0, t("No end")]]);

/** What stays as it is when a key is changed. */
const SAME = "same";

/** @param {string} at */
export const day = (at) => new Date(at).toLocaleDateString(document.documentElement.lang, { day: "numeric", month: "short", year: "numeric" });

/**
 * Reads a key for a dialog: the list may be older, and what is based on it would undo what others did since.
 * @param {KeyEntry} listed
 * @returns {Promise<FoundKey>}
 */
export async function findKey(listed) {
  const answer = await request("GET", `keys/${listed.id}`);
  return { entry: /** @type {KeyEntry} */ (await answer.json()), tag: `"${tagOf(answer)}"` };
}

/** @param {unknown} error */
const failureOf = (error) => (statusOf(error) === 412 ? new Error(t("Somebody has changed the key meanwhile: close this dialog and open it again.")) : asError(error));

/**
 * A form for a new key, or for one that is changed.
 * @param {{found: FoundKey | null, onClose: () => void, onMade: (made: MadeKey) => void}} props
 */
export function KeyForm({ found, onClose, onMade }) {
  const entry = found?.entry;
  const name = useSignal(entry?.name ?? "");
  const purpose = useSignal(entry ? SAME : "render");
  const days = useSignal(entry ? SAME : "365");
  const limit = useSignal(String(entry?.requestsPerMinute ?? ""));
  const failure = useSignal(/** @type {Error | null} */ (null));
  const busy = useSignal(false);
  const chosen = purposes().find(([id]) => id === purpose.value);
  const send = async (/** @type {PageEvent} */ event) => {
    event.preventDefault();
    busy.value = true;
    const grants = chosen?.[3] ?? { roles: entry?.roles ?? [], scopes: entry?.ownScopes ?? [] };
    const expiresAt = days.value === SAME ? entry?.expiresAt : Number(days.value) ? new Date(Date.now() + Number(days.value) * 86_400_000).toISOString() : undefined;
    const body = { name: name.value, ...grants, expiresAt, requestsPerMinute: limit.value ? Number(limit.value) : undefined };
    try {
      if (found) {
        const key = /** @type {KeyEntry} */ (await json("PUT", `keys/${found.entry.id}`, { body, headers: { "If-Match": found.tag } }));
        say(t("The key for {name} is changed.", { name: key.name }));
        onMade({ secret: "", key });
      } else onMade(/** @type {MadeKey} */ (await json("POST", "keys", { body })));
    } catch (error) { failure.value = failureOf(error); busy.value = false; }
  };
  const same = entry && html`<option value=${SAME}>${t("As it is")}</option>`;
  return html`<${Dialog} title=${entry ? t("Change the key for {name}", { name: entry.name }) : t("New key")} onClose=${onClose}>
    <form onSubmit=${send}>
      <div class="field-box">
        <label class="label" for="key-name">${t("What is it for?")}</label>
        <input id="key-name" class="input" maxlength="100" required autocomplete="off" value=${name.value}
            placeholder=${t("Web shop")} onInput=${(event) => { name.value = event.currentTarget.value; }} /></div>
      <div class="field-box">
        <label class="label" for="key-purpose">${t("What may it do?")}</label>
        <select id="key-purpose" class="select" aria-describedby="key-about" value=${purpose.value} onChange=${(event) => { purpose.value = event.currentTarget.value; }}>
          ${same}${purposes().map(([id, title]) => html`<option key=${id} value=${id}>${title}</option>`)}</select>
        <p id="key-about" class="small quiet">${chosen?.[2]}</p></div>
      <div class="field-box">
        <label class="label" for="key-days">${t("How long is it valid?")}</label>
        <select id="key-days" class="select" value=${days.value} onChange=${(event) => { days.value = event.currentTarget.value; }}>
          ${same}${lifetimes().map(([count, title]) => html`<option key=${count} value=${count}>${title}</option>`)}</select></div>
      <div class="field-box">
        <label class="label" for="key-limit">${t("Requests a minute")}</label>
        <input id="key-limit" class="input" type="number" min="1" max="10000000" value=${limit.value} placeholder=${t("As all clients")}
            onInput=${(event) => { limit.value = event.currentTarget.value; }} /></div>
      ${failure.value && html`<${Failure} error=${failure.value} />`}
      <div class="ends">
        <button type="button" class="button" onClick=${onClose}>${t("Cancel")}</button>
        <button class="button primary" disabled=${busy.value}>${entry ? t("Save") : t("Make the key")}</button></div></form></${Dialog}>`;
}

/**
 * Another key that may do the same.
 * @param {{found: FoundKey, onClose: () => void, onMade: (made: MadeKey) => void}} props
 */
export function RotateKey({ found: { entry, tag }, onClose, onMade }) {
  const grace = useSignal("86400");
  const failure = useSignal(/** @type {Error | null} */ (null));
  const busy = useSignal(false);
  const rotate = async () => {
    busy.value = true;
    const body = { graceSeconds: Number(grace.value) };
    try {
      onMade(/** @type {MadeKey} */ (await json("POST", `keys/${entry.id}/rotation`, { body, headers: { "If-Match": tag } })));
    } catch (error) { failure.value = failureOf(error); busy.value = false; }
  };
  const times = [["0", t("It ends at once")], ["3600", t("1 hour")], ["86400", t("1 day")], ["604800", t("7 days")], ["2592000", t("30 days")]];
  return html`<${Dialog} title=${t("Rotate the key for {name}?", { name: entry.name })} onClose=${onClose}>
    <p>${t("There will be a new key that may do the same. Give it to the application before the old one ends.")}</p>
    ${entry.expiresAt && html`<p class="quiet">${t("The new key ends when this one would have: on {day}.", { day: day(entry.expiresAt) })}</p>`}
    <div class="field-box">
      <label class="label" for="key-grace">${t("How long does the old key stay valid?")}</label>
      <select id="key-grace" class="select" value=${grace.value} onChange=${(event) => { grace.value = event.currentTarget.value; }}>
        ${times.map(([seconds, title]) => html`<option key=${seconds} value=${seconds}>${title}</option>`)}</select></div>
    ${failure.value && html`<${Failure} error=${failure.value} />`}
    <div class="ends">
      <button type="button" class="button" onClick=${onClose}>${t("Cancel")}</button>
      <button type="button" class="button primary" disabled=${busy.value} onClick=${rotate}>${t("Make the new key")}</button></div></${Dialog}>`;
}
