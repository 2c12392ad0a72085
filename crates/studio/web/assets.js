// Pictures of a template: uploaded into it, or stored for all templates; used by name.

/** @import { PageEvent } from "./vendor-htm.js" */
/** @import { EditedDocument } from "./edited-document.js" */
/** @import { AssetEntry } from "./types.js" */

import { html, useSignal } from "./base.js";
import { bearer } from "./api.js";
import { addressOf, isPicture, loadAssets } from "./asset-library.js";
import { escape } from "./pointer.js";
import { TextControl } from "./fields.js";
import { Icon } from "./icons.js";
import { Dialog, Failure, Loading, say, useLoaded } from "./parts.js";
import { bytes, t, tn } from "./text.js";

/** Largest picture, in bytes: it is a part of the template. */
const MOST = 2_000_000;
const TYPES = "image/png,image/jpeg,image/svg+xml,image/gif,image/webp";

/**
 * A free name like that of a file.
 * @param {File} file
 * @param {object} assets
 */
function nameFor(file, assets) {
  const wish = file.name.replace(/\.[^.]*$/, "").toLowerCase().replaceAll(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "") || "picture";
  for (let count = 1; ; count += 1) {
    const name = count === 1 ? wish : `${wish}-${count}`;
    if (!(name in assets)) return name;
  }
}

/**
 * Puts a file into the template; returns its name there, or null.
 * @param {EditedDocument} editing
 * @param {File} file
 */
async function upload(editing, file) {
  const { name: from, size } = file;
  if (!TYPES.split(",").includes(file.type)) {
    say(t("{name} is no picture that documents can show: use PNG, JPEG, SVG, GIF or WebP.", { name: from }), true);
    return null;
  }
  if (size > MOST) {
    say(t("{name} has {size}; a picture in a template has at most {most}.", { name: from, size: bytes(size), most: bytes(MOST) }), true);
    return null;
  }
  const address = await new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result);
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
  const name = nameFor(file, editing.document.value.assets ?? {});
  editing.set(`/assets/${escape(name)}`, address);
  return name;
}

/** @param {{editing: EditedDocument, onDone?: (name: string) => void}} props */
function Upload({ editing, onDone }) {
  const choose = async (/** @type {PageEvent} */ event) => {
    const [file] = event.currentTarget.files;
    event.currentTarget.value = "";
    const name = file && await upload(editing, file);
    if (name) onDone?.(name);
  };
  return html`<label class="button">
    <${Icon} name="upload" />${t("Upload a picture")}<input class="away" type="file" accept=${TYPES} onChange=${choose} /></label>`;
}

/**
 * The source of an image: a name, an address, or an expression, and pictures to choose from.
 * @param {{editing: EditedDocument, pointer: string, id: string, value: string | undefined, onChange: (name: string) => void, invalid?: boolean}} props
 */
export function SourceControl({ editing, pointer, id, value, onChange, invalid }) {
  const { assets = {} } = editing.document.value;
  const names = Object.keys(assets);
  const choosing = useSignal(false);
  const take = (/** @type {string} */ name) => { choosing.value = false; onChange(name); };
  return html`<div>
    <${TextControl} ...${{ editing, pointer, id, value, onChange, invalid }} />
    <div class="row swatches">
      ${names.map((name) => html`<button type="button" class="asset" aria-pressed=${value === name} title=${name} onClick=${() => onChange(name)}>
        <img src=${assets[name]} alt=${name} /></button>`)}
      <${Upload} editing=${editing} onDone=${(/** @type {string} */ name) => editing.set(pointer, name)} />
      ${!bearer.value && html`<button type="button" class="button" onClick=${() => { choosing.value = true; }}>
        <${Icon} name="image" />${t("From the assets")}</button>`}</div>
    ${choosing.value && html`<${StoredPictures} chosen=${value} onTake=${take} onClose=${() => { choosing.value = false; }} />`}</div>`;
}

/**
 * The pictures that are stored for all templates, to choose one.
 * @param {{chosen: string | undefined, onTake: (name: string) => void, onClose: () => void}} props
 */
function StoredPictures({ chosen, onTake, onClose }) {
  const { value, error, again } = useLoaded(loadAssets, []);
  const search = useSignal("");
  const pictures = (value ?? []).filter((one) => isPicture(one) && one.name.toLowerCase().includes(search.value.trim().toLowerCase()));
  return html`<${Dialog} wide title=${t("Choose a picture")} onClose=${onClose}>
    <label class="search">
      <span class="away">${t("Search assets")}</span><${Icon} name="search" />
      <input class="input" type="search" placeholder=${t("Search assets")} value=${search.value}
          onInput=${(event) => { search.value = event.currentTarget.value; }} /></label>
    ${error && html`<${Failure} error=${error} onRetry=${again} />`}${!value && !error && html`<${Loading} rows=${2} />`}
    ${value && pictures.length === 0 && html`<p class="quiet">${t("No picture is here. The page “Assets” takes new ones.")}</p>`}
    <div class="cards assets">${pictures.map((/** @type {AssetEntry} */ one) => html`<button type="button" class="card" key=${one.name}
        aria-pressed=${chosen === one.name} onClick=${() => onTake(one.name)}>
      <div class="card-look"><img src=${addressOf(one)} alt="" loading="lazy" /></div>
      <div class="card-text"><b class="cut">${one.name}</b></div></button>`)}</div>
    <div class="ends"><button type="button" class="button" onClick=${onClose}>${t("Cancel")}</button></div></${Dialog}>`;
}

/**
 * All pictures of the template, with how often each is used.
 * @param {{editing: EditedDocument}} props
 */
export function Assets({ editing }) {
  const { assets = {}, ...rest } = editing.document.value;
  const text = JSON.stringify(rest);
  const uses = (/** @type {string} */ name) => text.split(`:${JSON.stringify(name)}`).length - 1;
  return html`<div class="field-box">
    <p class="label">${t("Pictures")}</p>
    <ul class="list-box">${Object.entries(assets).map(([name, address]) => html`<li class="row" key=${name}>
      <img class="asset-small" src=${address} alt="" /><span class="grow cut">${name}</span>
      <span class="small quiet num">${bytes(Math.round(address.length * 0.75))} · ${tn(uses(name), "{count} use", "{count} uses")}</span>
      <button type="button" class="button plain icon" disabled=${uses(name) > 0} title=${uses(name) > 0 ? t("It is in use") : ""}
          aria-label=${t("Remove {name}", { name })} onClick=${() => editing.set(`/assets/${escape(name)}`, undefined)}>
        <${Icon} name="trash" /></button></li>`)}</ul>
    <${Upload} editing=${editing} /></div>`;
}
