// The page of stored pictures and fonts, which templates use by name.

/** @import { PageEvent } from "./vendor-htm.js" */
/** @import { AssetEntry, AssetUse, Session } from "./types.js" */

import { html, useSignal, names } from "./base.js";
import { asError, json, list, request, root, statusOf } from "./api.js";
import { Dialog, Failure, ListEnd, Loading, say, useLoaded } from "./parts.js";
import { Icon } from "./icons.js";
import { may } from "./session.js";
import { bytes, number, t, tn, when } from "./text.js";

/** Largest asset, in bytes. */
const MOST = 16 * 1024 * 1024;
/** What the dialog for files offers; the service looks at the content. */
export const ACCEPTED = "image/png,image/jpeg,image/svg+xml,image/gif,image/webp,application/pdf,.ttf,.otf,.ttc";

/** @param {AssetEntry} asset */
export const isPicture = (asset) => asset.mediaType.startsWith("image/");

/**
 * The address of an asset. Its version makes the browser keep it until it changes.
 * @param {AssetEntry} asset
 */
export const addressOf = (asset) => new URL(`assets/${asset.name}?version=${asset.version}`, root).href;

/** @returns {Promise<AssetEntry[]>} */
export const loadAssets = () => list("assets", "assets");

/**
 * The name that a file gets.
 * @param {File} file
 */
export function nameOf(file) {
  const name = file.name.toLowerCase().replaceAll(/[^a-z0-9._-]+/g, "-").replace(/^[^a-z0-9]+/, "").slice(-128).replace(/^[^a-z0-9]+/, "");
  return name || "asset";
}

/**
 * Stores a file; says what went wrong. One that is to be new replaces nothing: its name may be taken.
 * @param {string} name
 * @param {File} file
 * @param {boolean} [isNew]
 * @returns {Promise<AssetEntry | "taken" | null>}
 */
export async function storeAsset(name, file, isNew = false) {
  if (file.size > MOST) {
    say(t("{name} has {size}; an asset has at most {most}.", { name: file.name, size: bytes(file.size), most: bytes(MOST) }), true);
    return null;
  }
  const headers = /** @type {{[name: string]: string}} */ (isNew ? { "If-None-Match": "*" } : {});
  try {
    return await json("PUT", `assets/${name}`, { body: file, headers });
  } catch (error) {
    if (isNew && statusOf(error) === 412) return "taken";
    say(`${file.name}: ${asError(error).message}`, true);
    return null;
  }
}

/**
 * What kind of file it is, for people.
 * @param {AssetEntry} asset
 */
function kindOf({ mediaType, families }) {
  if (families?.length) return t("Font: {families}", { families: families.join(", ") });
  const kind = mediaType.split("/")[1].replace("svg+xml", "SVG").toUpperCase();
  return mediaType === "application/pdf" ? "PDF" : t("Picture: {kind}", { kind });
}

/** @param {{asset: AssetEntry}} props */
function Look({ asset }) {
  if (isPicture(asset)) return html`<img src=${addressOf(asset)} alt="" loading="lazy" />`;
  return html`<${Icon} name=${asset.families?.length ? "heading" : "document"} />`;
}

/**
 * The page.
 * @param {{session: Session}} props
 */
export function AssetLibrary({ session }) {
  const { value, error, again } = useLoaded(loadAssets, []);
  const search = useSignal("");
  const over = useSignal(false);
  const chosen = useSignal(/** @type {string | null} */ (null));
  const clash = useSignal(/** @type {{name: string, file: File}[]} */ ([]));
  const mayAdd = may(session, "draft");
  const take = async (/** @type {File[]} */ files) => {
    const known = new Set((value ?? []).map((one) => one.name));
    const clashing = [];
    let count = 0;
    for (const file of files) {
      const name = nameOf(file);
      // Another file here may have the name, and so may one that somebody else has stored meanwhile.
      const stored = known.has(name) ? "taken" : await storeAsset(name, file, true);
      if (stored) known.add(name);
      if (stored === "taken") clashing.push({ name, file });
      else if (stored) count += 1;
    }
    if (count > 0) say(tn(count, "{count} file is stored.", "{count} files are stored."));
    clash.value = clashing;
    again();
  };
  const choose = (/** @type {PageEvent} */ event) => {
    const files = [...event.currentTarget.files];
    event.currentTarget.value = "";
    take(files);
  };
  const drop = (/** @type {PageEvent} */ event) => {
    event.preventDefault();
    over.value = false;
    if (mayAdd) take([...event.dataTransfer.files]);
  };
  const drag = (/** @type {PageEvent} */ event) => {
    if (!mayAdd || !event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    over.value = true;
  };
  const shown = (value ?? []).filter((one) => `${one.name} ${(one.families ?? []).join(" ")}`.toLowerCase().includes(search.value.trim().toLowerCase()));
  const open = value?.find((one) => one.name === chosen.value);
  const upload = mayAdd && html`<label class="button primary">
    <${Icon} name="upload" />${t("Upload files")}<input class="away" type="file" multiple accept=${ACCEPTED} onChange=${choose} /></label>`;
  return html`<main class=${names("content", "library", over.value && "over")} onDragOver=${drag} onDrop=${drop}
      onDragLeave=${(event) => { if (event.currentTarget === event.target) over.value = false; }}>
    <header class="head">
      <h1>${t("Assets")}</h1><span class="quiet num">${value && number(value.length)}</span><span class="grow"></span>${upload}</header>
    <p class="quiet about">${t("Pictures, PDF backgrounds and fonts for all templates, used by name. A published template keeps the versions that it was published with.")}</p>
    ${value && value.length > 0 && html`<div class="filters"><label class="search">
      <span class="away">${t("Search assets")}</span><${Icon} name="search" />
      <input class="input" type="search" placeholder=${t("Search assets")} value=${search.value}
          onInput=${(event) => { search.value = event.currentTarget.value; }} /></label></div>`}
    ${error && html`<${Failure} error=${error} onRetry=${again} />`}${!value && !error && html`<${Loading} />`}
    ${value?.length === 0 && html`<div class="empty"><h2>${t("No assets yet")}</h2>
      <p>${mayAdd ? t("Drop files here, or upload them. Then write their name as the source of an image.") : t("Authors and publishers can upload them.")}</p></div>`}
    ${value && value.length > 0 && shown.length === 0 && html`<div class="empty"><p>${t("No asset matches “{text}”.", { text: search.value })}</p></div>`}
    <div class="cards assets">${shown.map((one) => html`<button type="button" class="card" key=${one.name} onClick=${() => { chosen.value = one.name; }}>
      <div class="card-look"><${Look} asset=${one} /></div>
      <div class="card-text"><b class="cut">${one.name}</b><span class="small quiet cut">${kindOf(one)}</span>
        <p class="card-foot small">${bytes(one.sizeBytes)} · ${t("v{version}", { version: one.version })} · ${when(one.updatedAt)}</p></div></button>`)}</div>
    <${ListEnd} count=${value?.length ?? 0} />
    ${open && html`<${Details} key=${open.name} ...${{ session, asset: open }} onChanged=${again} onClose=${() => { chosen.value = null; }} />`}
    ${clash.value.length > 0 && html`<${Replace} ...${{ session }} clash=${clash.value} taken=${value ?? []}
        onDone=${() => { clash.value = []; again(); }} />`}</main>`;
}

/**
 * Files whose names are taken: they replace what is there, or get another name.
 * @param {{session: Session, clash: {name: string, file: File}[], taken: AssetEntry[], onDone: () => void}} props
 */
function Replace({ session, clash, taken, onDone }) {
  const busy = useSignal(false);
  const known = new Set(taken.map((one) => one.name));
  const other = (/** @type {string} */ name) => {
    const [, stem, end] = /^(.*?)(\.[^.]*)?$/.exec(name) ?? [name, name, ""];
    for (let count = 2; ; count += 1) if (!known.has(`${stem}-${count}${end ?? ""}`)) return `${stem}-${count}${end ?? ""}`;
  };
  const store = async (/** @type {boolean} */ isNew) => {
    busy.value = true;
    let count = 0;
    for (const { name, file } of clash) {
      let stored;
      do {
        const wish = isNew ? other(name) : name;
        known.add(wish);
        stored = await storeAsset(wish, file, isNew);
      } while (stored === "taken");
      if (stored) count += 1;
    }
    if (count > 0) say(tn(count, "{count} file is stored.", "{count} files are stored."));
    onDone();
  };
  return html`<${Dialog} title=${tn(clash.length, "A name is taken", "{count} names are taken")} onClose=${onDone}>
    <p>${clash.map((one) => one.name).join(", ")}</p>
    <p class="quiet">${t("A new version shows in drafts at once, and in published templates once they are published again.")}</p>
    <div class="ends">
      <button type="button" class="button" onClick=${onDone}>${t("Cancel")}</button>
      <button type="button" class="button" disabled=${busy.value} onClick=${() => store(true)}>${t("Keep both")}</button>
      ${may(session, "publish") && html`<button type="button" class="button primary" disabled=${busy.value}
          onClick=${() => store(false)}>${t("Store new versions")}</button>`}</div></${Dialog}>`;
}

/**
 * An asset: how it looks, who uses it, its versions, and what can be done with it.
 * @param {{session: Session, asset: AssetEntry, onChanged: () => void, onClose: () => void}} props
 */
function Details({ session, asset, onChanged, onClose }) {
  const uses = useLoaded(() => /** @type {Promise<{templates: AssetUse[]}>} */ (json("GET", `assets/${asset.name}/uses`)), [asset.version]);
  const versions = useLoaded(() => /** @type {Promise<{versions: AssetEntry[]}>} */ (json("GET", `assets/${asset.name}/versions`)), [asset.version]);
  const deleting = useSignal(false);
  const failure = useSignal(/** @type {Error | null} */ (null));
  const templates = uses.value?.templates ?? [];
  const replace = async (/** @type {PageEvent} */ event) => {
    const [file] = event.currentTarget.files;
    event.currentTarget.value = "";
    if (file && await storeAsset(asset.name, file)) { say(t("{name} has a new version.", { name: asset.name })); onChanged(); }
  };
  const end = async (/** @type {boolean} */ force) => {
    try {
      await request("DELETE", `assets/${asset.name}${force ? "?force=true" : ""}`);
      say(t("{name} is deleted.", { name: asset.name }));
      onClose();
      onChanged();
    } catch (error) { failure.value = asError(error); if (statusOf(error) === 409) uses.again(); }
  };
  if (deleting.value) {
    return html`<${Dialog} title=${t("Delete {name}?", { name: asset.name })} onClose=${() => { deleting.value = false; }}>
      ${templates.length > 0 ? html`<p>${t("These templates use it and fail without it:")}</p><${Uses} templates=${templates} />`
        : html`<p>${t("No template uses it by name. Templates that take its name from their data are not known.")}</p>`}
      ${failure.value && html`<${Failure} error=${failure.value} />`}
      <div class="ends">
        <button type="button" class="button" onClick=${() => { deleting.value = false; }}>${t("Cancel")}</button>
        <button type="button" class="button danger" onClick=${() => end(templates.length > 0)}>
          ${templates.length > 0 ? t("Delete all the same") : t("Delete")}</button></div></${Dialog}>`;
  }
  return html`<${Dialog} wide title=${asset.name} onClose=${onClose}>
    <div class="asset-details">
      <div class="card-look"><${Look} asset=${asset} /></div>
      <div>
        <p>${kindOf(asset)} · ${bytes(asset.sizeBytes)} · ${t("v{version}", { version: asset.version })} · ${when(asset.updatedAt)}</p>
        <h3>${t("Used by")}</h3>
        ${uses.error ? html`<${Failure} error=${uses.error} onRetry=${uses.again} />` : !uses.value ? html`<${Loading} rows=${1} />`
          : templates.length > 0 ? html`<${Uses} templates=${templates} />` : html`<p class="quiet">${t("No template names it.")}</p>`}
        <h3>${t("Versions")}</h3>
        <ul class="asset-versions">${(versions.value?.versions ?? []).map((one) => html`<li class="row" key=${one.version}>
          <a href=${addressOf(one)} target="_blank" rel="noopener">${t("v{version}", { version: one.version })}</a>
          <span class="small quiet grow">${bytes(one.sizeBytes)} · ${when(one.updatedAt)}</span></li>`)}</ul></div></div>
    <div class="ends">
      ${may(session, "publish") && html`<button type="button" class="button danger" onClick=${() => { deleting.value = true; }}>${t("Delete")}</button>
        <label class="button"><${Icon} name="upload" />${t("New version")}<input class="away" type="file" accept=${ACCEPTED} onChange=${replace} /></label>`}
      <a class="button" href=${addressOf(asset)} download=${asset.name}><${Icon} name="download" />${t("Download")}</a>
      <button type="button" class="button primary" onClick=${onClose}>${t("Close")}</button></div></${Dialog}>`;
}

/** @param {{templates: AssetUse[]}} props */
function Uses({ templates }) {
  return html`<ul class="asset-uses">${templates.map((one) => html`<li class="row" key=${`${one.key} ${one.draft}`}>
    <a href=${`#/templates/${one.key}`}>${one.name || one.key}</a>${one.draft && html`<span class="badge on">${t("Draft")}</span>`}</li>`)}</ul>`;
}
