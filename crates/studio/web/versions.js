// The versions of a template, and what changed between two of them.

/** @import { Signal } from "./vendor-signals.js" */
/** @import { Json, PreviewAnswer, Session, Version } from "./types.js" */
/** @typedef {{changes: {op: string, path: string, value?: Json, oldValue?: Json}[]}} Changed */

import { html, useSignal, useEffect } from "./base.js";
import { asError, json, list, request, statusOf, tagOf } from "./api.js";
import { Failure, Loading, useLoaded, say } from "./parts.js";
import { Icon } from "./icons.js";
import { may } from "./session.js";
import { t, tn, when, bytes } from "./text.js";

/**
 * Pages of a version with the sample data of the template.
 * @param {string} name
 * @param {number} version
 * @param {number} first
 * @param {unknown} sample
 */
async function pagesOf(name, version, first, sample) {
  const answer = /** @type {PreviewAnswer} */ (await json("POST", "render/preview", { body: { template: name, version, data: sample, firstPage: first } }));
  const picture = new Blob([answer.pages[0].picture], { type: "image/svg+xml" });
  return { count: answer.pageCount, url: URL.createObjectURL(picture) };
}

/**
 * The page of versions.
 * @param {{name: string, session: Session}} props
 */
export function Versions({ name, session }) {
  const { value, error, again } = useLoaded(() => /** @type {Promise<Version[]>} */ (list(`templates/${name}/versions`, "versions", 500)), [name]);
  const newer = useSignal(0);
  const older = useSignal(0);
  const view = useSignal("pages");
  const page = useSignal(1);
  useEffect(() => {
    if (!value?.length) return;
    newer.value = value[0].version;
    older.value = value[1]?.version ?? value[0].version;
  }, [value]);
  const restore = async (/** @type {number} */ version) => {
    try {
      const current = tagOf(await request("GET", `templates/${name}`));
      await request("POST", `templates/${name}/versions/${version}/restore`, { headers: { "If-Match": `"${current}"` } });
      say(t("Version {version} was restored as a new version.", { version }));
      again();
    } catch (failure) {
      say(asError(failure).message, true);
    }
  };
  return html`<main class="content">
    <header class="head">
      <h1>${t("Versions of {name}", { name })}</h1><span class="grow"></span>
      <a class="button" href=${`#/templates/${name}`}>${t("Back to the editor")}</a></header>
    ${error && html`<${Failure} error=${statusOf(error) === 404 ? new Error(t("This template has not been published yet.")) : error} onRetry=${again} />`}
    ${!value && !error && html`<${Loading} />`}
    ${value && newer.value && html`<div class="compare">
      <ol class="version-list" aria-label=${t("Versions")}>${value.map((one) => html`<li key=${one.version}>
        <button type="button" aria-pressed=${older.value === one.version} onClick=${() => { older.value = one.version; page.value = 1; }}>
          <span class="row">
            <b>${t("Version {version}", { version: one.version })}</b>
            ${one.version === value[0].version && html`<span class="badge ok">${t("live")}</span>`}<span class="grow"></span>
            <span class="small quiet">${when(one.createdAt)}</span></span>
          <span class="small quiet">
            ${one.note ?? (one.restoredFrom ? t("Restored from version {version}", { version: one.restoredFrom }) : t("No note"))} · ${bytes(one.sizeBytes)}</span></button></li>`)}</ol>
      <section aria-label=${t("Comparison")}>
        <div class="row">
          <div class="segments" role="tablist">${[["pages", t("Side by side")], ["overlay", t("Overlay")], ["json", t("Changes")]].map(([kind, label]) => html`<button
              type="button" role="tab" aria-selected=${view.value === kind} onClick=${() => { view.value = kind; }}>${label}</button>`)}</div>
          <span class="grow"></span>
          ${may(session, "publish") && older.value !== value[0].version && html`<button type="button" class="button" onClick=${() => restore(older.value)}>
            <${Icon} name="history" />${t("Restore version {version}", { version: older.value })}</button>`}</div>
        ${view.value === "json" ? html`<${Changes} key=${`${older.value}-${newer.value}`} ...${{ name, from: older.value, to: newer.value }} />` : html`<${Pages}
            key=${`${older.value}-${newer.value}`} ...${{ name, from: older.value, to: newer.value, view, page }} />`}</section></div>`}</main>`;
}

/** @param {{name: string, from: number, to: number, view: Signal<string>, page: Signal<number>}} props */
function Pages({ name, from, to, view, page }) {
  const { value, error } = useLoaded(async () => {
    const sample = await json("GET", `templates/${name}/sample`).catch(() => ({}));
    return Promise.all([from, to].map((version) => pagesOf(name, version, page.value, sample)));
  }, [name, from, to, page.value]);
  useEffect(() => () => value?.forEach((one) => URL.revokeObjectURL(one.url)), [value]);
  if (error) return html`<${Failure} error=${error} />`;
  if (!value) return html`<${Loading} />`;
  const count = Math.max(value[0].count, value[1].count);
  return html`${count > 1 && html`<p class="row field-box">
    <button type="button" class="button" disabled=${page.value === 1} onClick=${() => { page.value -= 1; }}>${t("Previous page")}</button>
    <span class="num">${t("Page {page} of {count}", { page: page.value, count })}</span>
    <button type="button" class="button" disabled=${page.value >= count} onClick=${() => { page.value += 1; }}>${t("Next page")}</button></p>`}
    ${view.value === "overlay" ? html`<div class="overlay inverted">
      <img src=${value[0].url} alt=${t("Version {version}", { version: from })} />
      <img src=${value[1].url} alt=${t("Version {version}", { version: to })} /></div>
      <p class="small quiet">${t("What is the same is white; what differs is dark.")}</p>`
      : html`<div class="sides">${[from, to].map((version, index) => html`<figure class="side-page" key=${index}>
        <figcaption class="small">${t("Version {version}", { version })} · ${tn(value[index].count, "{count} page", "{count} pages")}</figcaption>
        <img src=${value[index].url} alt=${t("Version {version}", { version })} /></figure>`)}</div>`}`;
}

/** @param {{name: string, from: number, to: number}} props */
function Changes({ name, from, to }) {
  const { value, error } = useLoaded(() => /** @type {Promise<Changed>} */ (json("POST", `templates/${name}/diff`, { body: { from: Math.min(from, to), to: Math.max(from, to) } })), [name, from, to]);
  if (error) return html`<${Failure} error=${error} />`;
  if (!value) return html`<${Loading} />`;
  if (value.changes.length === 0) return html`<p class="quiet field-box">${t("Both are the same.")}</p>`;
  return html`<table class="table changes">
    <thead><tr><th>${t("Place")}</th><th>${t("Change")}</th></tr></thead>
    <tbody>${value.changes.map((one, index) => html`<tr key=${index}>
      <td><code>${one.path}</code></td>
      <td>
        ${one.oldValue !== undefined && html`<del class="mono">${JSON.stringify(one.oldValue).slice(0, 400)}</del> `}
        ${one.op === "remove" ? t("removed") : html`<ins class="mono">${JSON.stringify(one.value)?.slice(0, 400)}</ins>`}</td></tr>`)}</tbody></table>`;
}
