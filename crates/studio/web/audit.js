// The audit log: who changed what.

/** @import { AuditEntry } from "./types.js" */

import { html, useSignal, useEffect } from "./base.js";
import { asError, request, statusOf } from "./api.js";
import { saveFile } from "./files.js";
import { Failure, Loading, say } from "./parts.js";
import { Icon } from "./icons.js";
import { t, when } from "./text.js";

/** Entries of one look. */
const LIMIT = 100;
/** Entries of one request for the file of all. */
const MOST = 10_000;

/**
 * Words for an operation: `updateTemplate` is `Update template`.
 * @param {string} action
 */
const words = (action) => action.replaceAll(/([A-Z])/g, " $1").toLowerCase().replace(/^./, (first) => first.toUpperCase());

/**
 * Where a path leads in Studio.
 * @param {string} subject
 */
function place(subject) {
  const [, first, key] = subject.split("/");
  return ["templates", "flows", "runs"].includes(first) && key ? `#/${first}/${key}` : null;
}

/** The whole log, oldest entry first. */
async function whole() {
  const parts = [];
  for (let after = 0; ;) {
    const text = await (await request("GET", `audit?after=${after}&limit=${MOST}`)).text();
    const lines = text.split("\n").filter(Boolean);
    parts.push(new Blob([text]));
    if (lines.length < MOST) return new Blob(parts);
    after = JSON.parse(lines[MOST - 1]).number;
  }
}

/** The page of the audit log. */
export function AuditLog() {
  const entries = useSignal(/** @type {AuditEntry[] | null} */ (null));
  const more = useSignal(false);
  const failure = useSignal(/** @type {Error | null} */ (null));
  const busy = useSignal(false);
  const save = async () => {
    busy.value = true;
    await whole().then((file) => saveFile(file, "audit.ndjson"), (error) => say(asError(error).message, true));
    busy.value = false;
  };
  const load = async (/** @type {number | null} */ before) => {
    try {
      const text = await (await request("GET", `audit?limit=${LIMIT}${before ? `&before=${before}` : ""}`)).text();
      const found = text.split("\n").filter(Boolean).map((line) => /** @type {AuditEntry} */ (JSON.parse(line)));
      entries.value = [...(before ? entries.value ?? [] : []), ...found];
      more.value = found.length === LIMIT;
    } catch (error) {
      failure.value = statusOf(error) === 403 ? new Error(t("The audit log needs a key of the admin scope.")) : asError(error);
    }
  };
  useEffect(() => { load(null); }, []);
  return html`<main class="content">
    <header class="head">
      <h1>${t("Audit log")}</h1><span class="grow"></span>
      <button type="button" class="button" disabled=${busy.value} onClick=${save}>
        <${Icon} name="download" />${t("Export as NDJSON")}</button></header>
    ${failure.value && html`<${Failure} error=${failure.value} />`}${!entries.value && !failure.value && html`<${Loading} />`}
    ${entries.value?.length === 0 && html`<div class="empty"><h2>${t("Nothing was changed yet")}</h2></div>`}
    ${entries.value && entries.value.length > 0 && html`<table class="table of-changes">
      <thead><tr><th>${t("Time")}</th><th>${t("What happened")}</th><th>${t("Path")}</th><th>${t("Who")}</th><th>${t("Address")}</th></tr></thead>
      <tbody>${entries.value.map((one) => html`<tr key=${one.number}>
        <td class="when num" title=${one.at}>${when(one.at)}</td>
        <td class="what">${t(words(one.action))}${one.version ? html` <span class="small quiet">v${one.version}</span>` : ""}</td>
        <td class="subject">${place(one.subject) ? html`<a class="mono" href=${place(one.subject)}>${one.subject}</a>` : html`<code>${one.subject}</code>`}</td>
        <td class="who quiet">${one.actor}</td><td class="address quiet num">${one.address}</td></tr>`)}</tbody></table>`}
    ${more.value && html`<p class="field-box">
      <button type="button" class="button" onClick=${() => load(entries.value?.at(-1)?.number ?? null)}>${t("Show older entries")}</button></p>`}</main>`;
}
