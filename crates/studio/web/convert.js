// Office files and HTML to PDF, and changes of PDF files, by drag and drop.

/** @import { PageEvent } from "./vendor-htm.js" */

import { html, useSignal } from "./base.js";
import { asError, request } from "./api.js";
import { saveFile } from "./files.js";
import { Icon } from "./icons.js";
import { bytes, t } from "./text.js";

/** @param {File} file */
const isPdf = (file) => /\.pdf$/i.test(file.name);
/** @param {File} file */
const isPage = (file) => /\.html?$/i.test(file.name);
/** @param {string} name */
const base = (name) => name.replace(/\.[^.]*$/, "");

/** What the page is for: an icon, a name, and what to drop. */
const uses = () => [
  ["convert", t("Convert to PDF"), t("Office files and HTML, one or many")],
  ["copy", t("Merge into one PDF"), t("PDF files in the order of the list")],
  ["compare", t("Split into pages"), t("One PDF file; you get an archive of its pages")],
  ["data", t("Make PDF/A-3"), t("One PDF file, to be kept for years")],
  ["key", t("Sign"), t("One PDF file, with a signing key of the service")],
];

/**
 * What can be done with the files that are there.
 * @param {File[]} files
 */
function actions(files) {
  const pdfs = files.length > 0 && files.every(isPdf);
  return [
    { name: "pdf", label: t("Convert to PDF"), fits: files.length > 0 && !files.some(isPdf) },
    { name: "merge", label: t("Merge into one PDF"), fits: pdfs && files.length > 1 },
    { name: "split", label: t("Split into pages"), fits: pdfs && files.length === 1 },
    { name: "archive", label: t("Make PDF/A-3"), fits: pdfs && files.length === 1 },
    { name: "sign", label: t("Sign"), fits: pdfs && files.length === 1 },
  ].filter((one) => one.fits);
}

/**
 * @param {string} action
 * @param {File[]} files
 * @param {string} key
 * @returns {Promise<[Blob, string][]>}
 */
async function run(action, files, key) {
  const [first] = files;
  const form = (/** @type {{do: string, [option: string]: unknown}[]} */ operations) => {
    const body = new FormData();
    files.forEach((file, index) => body.append("files", file, `${String(index).padStart(3, "0")}-${file.name}`));
    body.append("operations", JSON.stringify(operations));
    return request("POST", "pdf", { body });
  };
  if (action === "pdf") {
    const made = /** @type {[Blob, string][]} */ ([]);
    for (const file of files) {
      if (isPage(file)) {
        const body = new FormData();
        body.append("html", file, file.name);
        made.push([await (await request("POST", "render/html-to-pdf", { body })).blob(), `${base(file.name)}.pdf`]);
      } else {
        const body = new FormData();
        body.append("file", file, file.name);
        made.push([await (await request("POST", "convert", { body })).blob(), `${base(file.name)}.pdf`]);
      }
    }
    return made;
  }
  const options = { split: { every: 1 }, archive: { standard: "pdf-a-3b" }, sign: { key }, merge: {} };
  const response = await form([{ do: action, ...options[/** @type {keyof typeof options} */ (action)] }]);
  const blob = await response.blob();
  const isZip = (response.headers.get("Content-Type") ?? "").includes("zip");
  return [[blob, `${base(first.name)}-${action}.${isZip ? "zip" : "pdf"}`]];
}

/** The page that converts files. */
export function Convert() {
  const files = useSignal(/** @type {File[]} */ ([]));
  const over = useSignal(false);
  const busy = useSignal("");
  const failure = useSignal(/** @type {Error | null} */ (null));
  const results = useSignal(/** @type {{blob: Blob, name: string}[]} */ ([]));
  const key = useSignal("");
  const add = (/** @type {Iterable<File>} */ list) => { files.value = [...files.value, ...list]; failure.value = null; };
  const start = async (/** @type {string} */ action) => {
    busy.value = action;
    failure.value = null;
    try {
      const made = await run(action, files.value, key.value);
      results.value = [...made.map(([blob, name]) => ({ blob, name })), ...results.value];
    } catch (error) { failure.value = asError(error); }
    busy.value = "";
  };
  const drop = (/** @type {PageEvent} */ event) => {
    event.preventDefault();
    over.value = false;
    add([...event.dataTransfer.files]);
  };
  const move = (/** @type {number} */ index) => {
    const next = files.value.slice();
    next.splice(index - 1, 0, ...next.splice(index, 1));
    files.value = next;
  };
  const all = actions(files.value);
  return html`<main class="content">
    <header class="head"><h1>${t("Convert files")}</h1></header>
    <label class=${over.value ? "drop over" : "drop"} onDragOver=${(event) => { event.preventDefault(); over.value = true; }}
        onDragLeave=${() => { over.value = false; }} onDrop=${drop}>
      <${Icon} name="upload" /><b>${t("Drop files here, or choose them")}</b>
      <span class="quiet">${t("Word, Excel, PowerPoint, OpenDocument, HTML and PDF")}</span>
      <input class="away" type="file" multiple onChange=${(event) => { add([...event.currentTarget.files]); event.currentTarget.value = ""; }} /></label>
    ${files.value.length === 0 && html`<ul class="uses">${uses().map(([icon, name, text]) => html`<li key=${name}>
      <${Icon} name=${icon} /><b>${name}</b><span class="small quiet">${text}</span></li>`)}</ul>`}
    ${files.value.length > 0 && html`<ul class="files">${files.value.map((file, index) => html`<li class="row" key=${`${file.name}${index}`}>
      <${Icon} name="file" /><span class="grow cut">${file.name}</span><span class="small quiet num">${bytes(file.size)}</span>
      <button type="button" class="button plain icon" disabled=${index === 0} aria-label=${t("Move {name} up", { name: file.name })}
          onClick=${() => move(index)}><${Icon} name="up" /></button>
      <button type="button" class="button plain icon" aria-label=${t("Remove {name}", { name: file.name })}
          onClick=${() => { files.value = files.value.filter((_, at) => at !== index); }}><${Icon} name="close" /></button></li>`)}</ul>
      <div class="row actions">
        ${all.filter((one) => one.name !== "sign").map((one) => html`<button type="button" key=${one.name} class="button primary"
            disabled=${busy.value !== ""} onClick=${() => start(one.name)}>${busy.value === one.name ? t("Working") : one.label}</button>`)}
        ${all.some((one) => one.name === "sign") && html`<span class="row">
          <label class="away" for="sign-key">${t("Signing key")}</label>
          <input id="sign-key" class="input" placeholder=${t("Signing key")} value=${key.value}
              onInput=${(event) => { key.value = event.currentTarget.value; }} />
          <button type="button" class="button" disabled=${busy.value !== "" || !key.value} onClick=${() => start("sign")}>${t("Sign")}</button></span>`}
        <button type="button" class="button" onClick=${() => { files.value = []; }}>${t("Clear")}</button></div>`}
    ${files.value.length > 0 && all.length === 0 && html`<p class="notice">${t("PDF files and others together can only be cleared: convert the others first.")}</p>`}
    ${failure.value && html`<div class="notice bad" role="alert"><h3>${t("That did not work")}</h3><p>${failure.value.message}</p></div>`}
    ${results.value.length > 0 && html`<h2 class="field-box">${t("Results")}</h2>
      <ul class="files">${results.value.map((one, index) => html`<li class="row" key=${index}>
        <${Icon} name="file" /><span class="grow cut">${one.name}</span><span class="small quiet num">${bytes(one.blob.size)}</span>
        <button type="button" class="button" onClick=${() => saveFile(one.blob, one.name)}><${Icon} name="download" />${t("Download")}</button></li>`)}</ul>`}</main>`;
}
