// The list of templates, and new ones from the gallery.

/** @import { Ref } from "./vendor-hooks.js" */
/** @import { PageEvent } from "./vendor-htm.js" */
/** @import { DraftEntry, Json, PreviewAnswer, Session, Template, TemplateEntry } from "./types.js" */
/**
 * @typedef {TemplateEntry & {draft: DraftEntry | null}} Listed
 * @typedef {{key: string, name: string, empty?: boolean}} Start what a new template begins with
 */

import { html, useSignal, useEffect, useMemo, useRef } from "./base.js";
import { asError, list, json, request, root, statusOf, Problem } from "./api.js";
import { gallery } from "./gallery.js";
import { Dialog, Failure, ListEnd, Loading, useLoaded } from "./parts.js";
import { Icon } from "./icons.js";
import { LabelButton, LabelDialog, LabelFilter, Labels, labelsOf } from "./labels.js";
import { may } from "./session.js";
import { number, t, when } from "./text.js";

const KEY = /^[a-z0-9][a-z0-9._-]{0,127}$/;

/**
 * All templates: those that callers get, and those that are only drafts.
 * @returns {Promise<Listed[]>}
 */
async function load() {
  const [templates, drafts] = await Promise.all([
    /** @type {Promise<TemplateEntry[]>} */ (list("templates", "templates")),
    /** @type {Promise<DraftEntry[]>} */ (list("drafts/templates", "drafts")),
  ]);
  const all = new Map(templates.map((one) => [one.key, /** @type {Listed} */ ({ ...one, draft: null })]));
  for (const draft of drafts) {
    const known = all.get(draft.key);
    all.set(draft.key, { ...known, key: draft.key, version: known?.version ?? null, name: draft.name, updatedAt: draft.updatedAt, draft });
  }
  return [...all.values()];
}

/**
 * A picture that loads when it comes into view.
 * @param {{template: Listed}} props
 */
function Thumbnail({ template }) {
  const source = useSignal(/** @type {string | null} */ (null));
  /** @type {Ref<HTMLDivElement>} */
  const ref = useRef(null);
  useEffect(() => {
    let url = /** @type {string | null} */ (null);
    const watch = new IntersectionObserver(async ([entry]) => {
      if (!entry.isIntersecting) return;
      watch.disconnect();
      if (template.version && !template.draft) {
        source.value = new URL(`templates/${template.key}/preview.png?sample=true&dpi=60&version=${template.version}`, root).href;
        return;
      }
      url = await drafted(template.key).catch(() => null);
      source.value = url ?? "";
    });
    watch.observe(ref.current);
    return () => { watch.disconnect(); if (url) URL.revokeObjectURL(url); };
  }, [template.key, template.version, template.draft?.revision]);
  return html`<div ref=${ref}>${source.value ? html`<img src=${source.value} alt="" onError=${() => { source.value = ""; }} />` : null}</div>`;
}

/** @param {string} key */
async function drafted(key) {
  const [definition, data] = await Promise.all([json("GET", `templates/${key}/draft`), json("GET", `templates/${key}/sample`).catch(() => ({}))]);
  return pictured(definition, data);
}

/**
 * The address of a picture of page 1.
 * @param {unknown} definition
 * @param {unknown} data
 */
async function pictured(definition, data) {
  const answer = /** @type {PreviewAnswer} */ (await json("POST", "render/preview", { body: { definition, data, firstPage: 1 } }));
  return URL.createObjectURL(new Blob([answer.pages[0].picture], { type: "image/svg+xml" }));
}

/**
 * The page of all templates.
 * @param {{session: Session}} props
 */
export function Templates({ session }) {
  const { value, error, again } = useLoaded(load, []);
  const search = useSignal(new URLSearchParams(location.hash.split("?")[1] ?? "").get("q") ?? "");
  const order = useSignal("changed");
  const state = useSignal("");
  const label = useSignal("");
  const labelling = useSignal(/** @type {Listed | null} */ (null));
  const labels = useMemo(() => labelsOf(value ?? []), [value]);
  const adding = useSignal(location.hash.includes("new=1"));
  const shown = useMemo(() => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = (value ?? []).filter((one) => words.every((word) => `${one.key} ${one.name} ${(one.labels ?? []).join(" ")}`.toLowerCase().includes(word)))
      .filter((one) => !state.value || (state.value === "live" ? one.version && !one.draft : Boolean(one.draft)))
      .filter((one) => !label.value || (one.labels ?? []).includes(label.value));
    return found.sort((one, other) => (order.value === "changed" ? other.updatedAt.localeCompare(one.updatedAt) : (one.name || one.key).localeCompare(other.name || other.key)));
  }, [value, search.value, order.value, state.value, label.value]);
  const find = (/** @type {string} */ text) => {
    search.value = text;
    history.replaceState(null, "", text ? `#/templates?q=${encodeURIComponent(text)}` : "#/templates");
  };
  return html`<main class="content">
    <header class="head">
      <h1>${t("Templates")}</h1><span class="quiet num">${value && number(value.length)}</span><span class="grow"></span>
      ${session.mayChange && html`<button type="button" class="button primary" onClick=${() => { adding.value = true; }}>
        <${Icon} name="plus" />${t("New template")}</button>`}</header>
    <div class="filters">
      <label class="search">
        <span class="away">${t("Search names and keys")}</span><${Icon} name="search" />
        <input class="input" type="search" placeholder=${t("Search names and keys")} value=${search.value}
            onInput=${(event) => find(event.currentTarget.value)} /></label>
      <select class="select" aria-label=${t("State")} value=${state.value} onChange=${(event) => { state.value = event.currentTarget.value; }}>
        <option value="">${t("All states")}</option><option value="live">${t("Live")}</option>
        <option value="draft">${t("With a draft")}</option></select>
      <${LabelFilter} all=${labels} chosen=${label} />
      <select class="select" aria-label=${t("Order")} value=${order.value} onChange=${(event) => { order.value = event.currentTarget.value; }}>
        <option value="changed">${t("Last change")}</option><option value="name">${t("Name")}</option></select></div>
    ${error && html`<${Failure} error=${error} onRetry=${again} />`}${!value && !error && html`<${Loading} />`}
    ${value && value.length === 0 && html`<div class="empty">
      <h2>${t("Start with a template")}</h2><p>${t("Take one from the gallery, change a text, and see the real page change as you type.")}</p>
      ${session.mayChange && html`<button type="button" class="button primary" onClick=${() => { adding.value = true; }}>${t("Open the gallery")}</button>`}</div>`}
    ${value && value.length > 0 && shown.length === 0 && html`<div class="empty">
      <p>${t("No template matches “{text}”.", { text: search.value })}</p>
      <button type="button" class="button" onClick=${() => { find(""); state.value = ""; label.value = ""; }}>${t("Show all")}</button></div>`}
    <div class="cards">${shown.map((one) => html`<div class="card-box" key=${one.key}><a class="card" href=${`#/templates/${one.key}`}>
      <div class="card-page">
        <${Thumbnail} template=${one} />${one.draft && one.version && html`<span class="badge on">${t("Draft changes")}</span>`}</div>
      <div class="card-text">
        <div class="row">
          <b class="cut" dir="auto">${one.name || one.key}</b>
          ${one.version ? html`<span class="badge ok">${t("v{version} live", { version: one.version })}</span>` : html`<span class="badge warn">${t("Draft only")}</span>`}</div>
        <code class="quiet cut">${one.key}</code><${Labels} labels=${one.labels} />
        <p class="card-foot small">${when(one.updatedAt)}</p></div></a>
      ${one.version && may(session, "draft") && html`<${LabelButton} entry=${one} onOpen=${() => { labelling.value = one; }} />`}</div>`)}</div>
    <${ListEnd} count=${value?.length ?? 0} />
    ${labelling.value && html`<${LabelDialog} kind="templates" entry=${labelling.value} all=${labels} onClose=${() => { labelling.value = null; }}
        onDone=${() => { labelling.value = null; again(); }} />`}
    ${adding.value && html`<${Gallery} taken=${value ?? []} onClose=${() => { adding.value = false; }} />`}</main>`;
}

/**
 * A free key like `wish`.
 * @param {string} wish
 * @param {Listed[]} taken
 */
function freeKey(wish, taken) {
  const known = new Set(taken.map((one) => one.key));
  for (let count = 1; ; count += 1) {
    const key = count === 1 ? wish : `${wish}-${count}`;
    if (!known.has(key)) return key;
  }
}

/** @param {{taken: Listed[], onClose: () => void}} props */
function Gallery({ taken, onClose }) {
  const chosen = useSignal(/** @type {Start | null} */ (null));
  const search = useSignal("");
  const shown = gallery.filter((one) => `${one.name} ${one.about} ${one.language}`.toLowerCase().includes(search.value.toLowerCase()));
  if (chosen.value) return html`<${NewTemplate} entry=${chosen.value} taken=${taken} onClose=${onClose} onBack=${() => { chosen.value = null; }} />`;
  return html`<${Dialog} wide title=${t("New template")} onClose=${onClose}>
    <label class="search">
      <span class="away">${t("Search the gallery")}</span><${Icon} name="search" />
      <input class="input" placeholder=${t("Search the gallery")} value=${search.value}
          onInput=${(event) => { search.value = event.currentTarget.value; }} /></label>
    <div class="cards gallery">
      <button type="button" class="card" onClick=${() => { chosen.value = { name: t("Empty page"), key: "new-template", empty: true }; }}>
        <div class="card-page"><div class="empty-page"></div></div>
        <div class="card-text"><b>${t("Empty page")}</b><span class="small quiet">${t("A heading and a text")}</span></div></button>
      ${shown.map((one) => html`<button type="button" class="card" key=${one.key} onClick=${() => { chosen.value = one; }}>
        <div class="card-page"><${GalleryPage} name=${one.key} /></div>
        <div class="card-text"><b class="cut">${one.name}</b><span class="small quiet">${one.language} · ${one.about}</span></div></button>`)}</div>
    <div class="ends"><button type="button" class="button" onClick=${onClose}>${t("Cancel")}</button></div></${Dialog}>`;
}

/** @param {{name: string}} props */
function GalleryPage({ name }) {
  const source = useSignal("");
  /** @type {Ref<HTMLDivElement>} */
  const ref = useRef(null);
  useEffect(() => {
    const watch = new IntersectionObserver(async ([entry]) => {
      if (!entry.isIntersecting) return;
      watch.disconnect();
      const [definition, data] = await example(name);
      source.value = await pictured(definition, data);
    });
    watch.observe(ref.current);
    return () => watch.disconnect();
  }, [name]);
  return html`<div ref=${ref}>${source.value && html`<img src=${source.value} alt="" />`}</div>`;
}

/**
 * Template and data of the gallery.
 * @param {string} name
 * @returns {Promise<[Template, Json]>}
 */
const example = (name) => Promise.all([
  /** @type {Promise<Template>} */ (json("GET", `studio/gallery-${name}-template.json`)),
  /** @type {Promise<Json>} */ (json("GET", `studio/gallery-${name}-data.json`)),
]);

/** @param {{entry: Start, taken: Listed[], onClose: () => void, onBack: () => void}} props */
function NewTemplate({ entry, taken, onClose, onBack }) {
  const name = useSignal(entry.name);
  const key = useSignal(freeKey(entry.key, taken));
  const failure = useSignal(/** @type {Error | null} */ (null));
  const busy = useSignal(false);
  const isTaken = taken.some((one) => one.key === key.value);
  const about = t("There is a template with this key already: choose another key.");
  const create = async (/** @type {PageEvent} */ event) => {
    event.preventDefault();
    busy.value = true;
    try {
      /** @type {[Template, Json]} */
      const [definition, data] = entry.empty
        ? [{ locale: "en-US", page: { size: "A4" }, body: [{ type: "heading", level: 1, content: name.value }, { type: "text", content: t("Write here.") }] }, {}]
        : await example(entry.key);
      const { $schema: _, ...rest } = definition;
      await request("PUT", `templates/${key.value}/draft`, { body: { ...rest, key: key.value, name: name.value } });
      await request("PUT", `templates/${key.value}/sample`, { body: data }).catch((error) => { if (!(error instanceof Problem)) throw error; });
      location.hash = `#/templates/${key.value}`;
    } catch (error) {
      failure.value = statusOf(error) === 409 ? new Error(about) : asError(error);
      busy.value = false;
    }
  };
  const isKey = KEY.test(key.value) && !isTaken;
  return html`<${Dialog} title=${t("New template")} onClose=${onClose}>
    <form onSubmit=${create}>
      <div class="field-box">
        <label class="label" for="new-name">${t("Name")}</label>
        <input id="new-name" class="input" value=${name.value} required onInput=${(event) => { name.value = event.currentTarget.value; }} /></div>
      <div class="field-box">
        <label class="label" for="new-key">${t("Key")}</label>
        <input id="new-key" class="input code" value=${key.value} aria-invalid=${isKey ? undefined : "true"}
            onInput=${(event) => { key.value = event.currentTarget.value; }} />
        ${isTaken && html`<p class="small bad-text" role="alert">${about}</p>`}
        <p class="small quiet">${t("Programs ask for the template by this key: lower-case letters, digits, - _ and .")}</p></div>
      ${failure.value && html`<${Failure} error=${failure.value} />`}
      <div class="ends">
        <button type="button" class="button" onClick=${onBack}>${t("Back")}</button>
        <button class="button primary" disabled=${busy.value || !isKey}>${t("Create")}</button></div></form></${Dialog}>`;
}

