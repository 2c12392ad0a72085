// The editor of a template: outline, pages and form of one document.

/** @import { DataField, Place, Schema, Session } from "./types.js" */

import { html, useEffect, useMemo, useSignal, useSignalEffect, memory, names } from "./base.js";
import { asError, request, Unreachable } from "./api.js";
import { Editing } from "./editing.js";
import { Preview } from "./preview.js";
import { Outline } from "./outline.js";
import { Form } from "./form.js";
import { Canvas } from "./canvas.js";
import { JsonView } from "./json-view.js";
import { Drawer, grouped } from "./drawer.js";
import { Palette, place } from "./palette.js";
import { columnOf, columnsFor, nodeOf } from "./data-field.js";
import { Publish, Copy } from "./editor-dialogs.js";
import { DraftClash, SampleClash, SaveState, saveNow } from "./save-state.js";
import { get } from "./pointer.js";
import { schemaOfKind } from "./schema.js";
import { sampleOf } from "./sample.js";
import { Failure, Loading, Menu, say } from "./parts.js";
import { Icon } from "./icons.js";
import { t, tn, duration } from "./text.js";

const FORMATS = ["pdf", "docx", "pptx", "xlsx", "html", "csv"];

/**
 * The page of the editor: reads the template, then shows it.
 * @param {{name: string, session: Session}} props
 */
export function Editor({ name, session }) {
  const editing = useMemo(() => new Editing(name), [name]);
  const preview = useMemo(() => new Preview(editing), [editing]);
  const root = useSignal(/** @type {Schema | null} */ (null));
  const failure = useSignal(/** @type {Error | null} */ (null));
  useEffect(() => {
    Promise.all([schemaOfKind("template"), editing.open()]).then(([schema, { hasSample }]) => {
      const { inputSchema } = editing.document.value;
      if (!hasSample && inputSchema) editing.use(sampleOf(inputSchema));
      root.value = schema;
    }).catch((error) => { failure.value = error; });
    return () => {
      preview.close();
      editing.close();
    };
  }, [editing]);
  if (failure.value) return html`<main class="content">
    <${Failure} error=${failure.value} /><p><a href="#/templates">${t("All templates")}</a></p></main>`;
  if (!root.value) return html`<main class="content"><${Loading} /></main>`;
  return html`<${Work} key=${name} ...${{ editing, preview, root: root.value, locked: !session.mayChange }} />`;
}

/** @param {{editing: Editing, preview: Preview, root: Schema, locked: boolean}} props */
function Work({ editing, preview, root, locked }) {
  const view = useSignal("design");
  const zoom = useSignal(/** @type {"fit" | number} */ ("fit"));
  const drawer = useSignal(/** @type {boolean | null} */ (memory.get("drawer")) ?? innerHeight > 860);
  const tab = useSignal("data");
  const folded = useSignal(new Set(["/page"]));
  const dialog = useSignal(/** @type {string | null} */ (null));
  const pane = useSignal("page");
  const isHtml = editing.document.value.kind === "html";
  useSignalEffect(() => {
    // Both are read, so that a change of either is seen.
    if (editing.document.value && editing.sample.value) preview.changed();
  });
  useSignalEffect(() => { memory.set("drawer", drawer.value); });
  const problems = preview.problems.value;
  /** @type {Map<string, number>} */
  const pages = new Map();
  for (const box of preview.boxes.value) if (!pages.has(box.path)) pages.set(box.path, box.page);
  const toView = (/** @type {string} */ name) => {
    if (name === "design" && editing.broken.value) editing.broken.value = null;
    view.value = name;
  };
  const step = (/** @type {number} */ by) => {
    const all = grouped(problems);
    const at = all.findIndex((one) => one.path === editing.selected.value);
    const next = all[(at + by + all.length) % all.length];
    if (next) editing.selected.value = next.path;
  };
  useEffect(() => {
    const keys = (/** @type {KeyboardEvent} */ event) => {
      const control = event.ctrlKey || event.metaKey;
      const act = (/** @type {() => void} */ work) => { event.preventDefault(); work(); };
      if (control && event.key.toLowerCase() === "z" && !inCode(event)) act(() => (event.shiftKey ? editing.redo() : editing.undo()));
      else if (control && event.key.toLowerCase() === "y") act(() => editing.redo());
      else if (control && event.key === "s") act(() => saveNow(editing));
      else if (control && event.key === "j") act(() => toView(view.value === "json" ? "design" : "json"));
      else if (control && event.key === "b") act(() => { drawer.value = !drawer.value; });
      else if (event.key === "F8") act(() => step(event.shiftKey ? -1 : 1));
      else if (event.key === "F6") act(() => focusPane(event.shiftKey ? -1 : 1));
    };
    addEventListener("keydown", keys);
    return () => removeEventListener("keydown", keys);
  }, [problems]);
  const box = preview.boxes.value.find((one) => one.path === editing.selected.value);
  const download = async (/** @type {string} */ format) => {
    try {
      const response = await request("POST", `render/${format}`, { body: { definition: editing.document.value, data: editing.sample.value } });
      const warnings = response.headers.get("X-Render-Warnings");
      save(await response.blob(), `${editing.key}.${format}`);
      say(warnings ? t("Downloaded. What this format lacks: {warnings}", { warnings }) : t("Downloaded {name}", { name: `${editing.key}.${format}` }));
    } catch (error) {
      say(error instanceof Unreachable ? t("The service does not answer.") : asError(error).message, true);
    }
  };
  const addField = (/** @type {DataField} */ field, /** @type {Place | null} */ where = null) => {
    const document = editing.document.value;
    const columns = columnsFor(document, where?.list ?? editing.selected.value, field);
    if (columns) {
      const last = /** @type {unknown[]} */ (get(document, columns)).length;
      const at = where?.list === columns ? where.index : last;
      editing.insert(columns, at, columnOf(document, columns, field));
    } else {
      const { list, index } = where ?? place(root, document, editing.selected.value);
      editing.insert(list, index, nodeOf(document, `${list}/${index}`, field));
    }
  };
  const hasErrors = preview.failed.value;
  return html`<div class="editor" data-pane=${pane.value}>
    <header class="editor-top">
      <a class="brand-small" href="#/templates" aria-label=${t("All templates")}><img src="studio/icon.svg" alt="" width="22" height="22" /></a>
      <div class="grow row crumbs">
        <a href="#/templates">${t("Templates")}</a><${Icon} name="chevron" /><h1 class="cut">${editing.name.value}</h1>
        <code class="quiet cut wide-only">${editing.key}</code>
        ${editing.hasDraft.value ? html`<span class="badge on">${t("Draft")}</span>` : html`<span class="badge ok">${t("v{version} live", { version: editing.live.value })}</span>`}
        <${SaveState} editing=${editing} onClash=${(/** @type {string} */ kind) => { dialog.value = kind; }} /></div>
      ${!locked && html`<button type="button" class="button plain icon" disabled=${editing.past.value.length === 0} title=${`${t("Undo")} (Ctrl Z)`}
          aria-label=${t("Undo")} onClick=${() => editing.undo()}><${Icon} name="undo" /></button>
        <button type="button" class="button plain icon" disabled=${editing.future.value.length === 0} title=${`${t("Redo")} (Ctrl Shift Z)`}
            aria-label=${t("Redo")} onClick=${() => editing.redo()}><${Icon} name="redo" /></button>`}
      <a class="button plain wide-only" href=${`#/templates/${editing.key}/versions`}><${Icon} name="history" />${t("Versions")}</a>
      <${Menu} label=${t("Download")} icon="download">
        ${FORMATS.map((format) => html`<button type="button" key=${format} onClick=${() => download(format)}>${format.toUpperCase()}</button>`)}
        <button type="button" onClick=${() => { dialog.value = "copy"; }}><${Icon} name="code" />${t("Copy as program…")}</button>
        ${!locked && editing.hasDraft.value && editing.live.value && html`<button type="button"
            onClick=${() => editing.discard().then(() => say(t("The draft was discarded.")), (error) => say(error.message, true))}>
          <${Icon} name="trash" />${t("Discard the draft")}</button>`}</${Menu}>
      ${!locked && html`<button type="button" class="button primary" disabled=${hasErrors || !editing.hasDraft.value}
          title=${hasErrors ? t("There are errors: see Problems") : ""} onClick=${() => { dialog.value = "publish"; }}>${t("Publish…")}</button>`}</header>
    <aside class="editor-outline" aria-label=${t("Outline")}>
      <div class="row pane-head">
        <h2 class="grow">${t("Outline")}</h2>
        ${!locked && html`<button type="button" class="button" onClick=${() => { dialog.value = "add"; }}><${Icon} name="plus" />${t("Add")}</button>`}</div>
      ${isHtml ? html`<p class="notice">${t("An HTML template is edited as JSON.")}</p>` : html`<${Outline}
          ...${{ editing, root, problems, pages, folded, locked, say }} onField=${addField} onAdd=${() => { if (!locked) dialog.value = "add"; }} />`}</aside>
    <main class="editor-page">
      <div class="row toolbar">
        <div class="segments" role="tablist" aria-label=${t("View")}>${[["design", t("Design")], ["json", "JSON"]].map(([name, label]) => html`<button
            type="button" role="tab" aria-selected=${view.value === name} onClick=${() => toView(name)}>${label}</button>`)}</div>
        <span class="grow"></span>
        ${problems.length > 0 && html`<button type="button"
            class=${names("badge", problems.some((one) => one.severity === "error") ? "bad" : "warn", "as-button")}
            onClick=${() => { drawer.value = true; tab.value = "problems"; }}>${tn(grouped(problems).length, "{count} problem", "{count} problems")}</button>`}
        <span class="small quiet num" title=${t("Time of the last preview")}>${preview.time.value !== null && duration(preview.time.value)}</span>
        <button type="button" class="button plain icon" aria-label=${t("Smaller")}
            onClick=${() => { zoom.value = Math.max(0.25, Math.round(((zoom.value === "fit" ? 1 : zoom.value) - 0.15) * 100) / 100); }}>
          <${Icon} name="minus" /></button>
        <button type="button" class="button plain num" title=${t("Fit to the width")} onClick=${() => { zoom.value = "fit"; }}>${zoom.value === "fit" ? t("Fit") : `${Math.round(zoom.value * 100)} %`}</button>
        <button type="button" class="button plain icon" aria-label=${t("Larger")}
            onClick=${() => { zoom.value = Math.min(4, Math.round(((zoom.value === "fit" ? 1 : zoom.value) + 0.15) * 100) / 100); }}>
          <${Icon} name="plus" /></button>
        ${!drawer.value && html`<button type="button" class="button plain" onClick=${() => { drawer.value = true; }}>
          <${Icon} name="data" />${t("Data")}</button>`}</div>
      ${view.value === "json" ? html`<div class="halves">
        <${JsonView} ...${{ editing, root, problems, locked }} /><${Canvas} ...${{ editing, preview, zoom }} /></div>` : html`<${Canvas}
            ...${{ editing, preview, zoom }} />`}
      ${drawer.value && html`<${Drawer} ...${{ editing, problems, tab, locked, say }} onAdd=${addField} onClose=${() => { drawer.value = false; }} />`}</main>
    <aside class="editor-form" aria-label=${t("Properties")}>${!isHtml && html`<${Form} ...${{ editing, root, problems, locked, box }} />`}</aside>
    <nav class="pane-tabs" aria-label=${t("Panes")}>${[["outline", t("Outline")], ["page", t("Page")], ["form", t("Properties")]].map(([name, label]) => html`<button
        type="button" aria-pressed=${pane.value === name} onClick=${() => { pane.value = name; }}>${label}</button>`)}</nav>
    ${dialog.value === "add" && html`<${Palette} ...${{ editing, root }} onClose=${() => { dialog.value = null; }} />`}
    ${dialog.value === "publish" && html`<${Publish} ...${{ editing, problems }} onClose=${() => { dialog.value = null; }} />`}
    ${dialog.value === "draft" && html`<${DraftClash} editing=${editing} onClose=${() => { dialog.value = null; }} />`}
    ${dialog.value === "sample" && html`<${SampleClash} editing=${editing} onClose=${() => { dialog.value = null; }} />`}
    ${dialog.value === "copy" && html`<${Copy} editing=${editing} onClose=${() => { dialog.value = null; }} />`}</div>`;
}

/**
 * Whether an event comes from the code view, which has its own keys.
 * @param {Event} event
 */
const inCode = (event) => event.composedPath().some((one) => one instanceof Element && one.classList.contains("cm-editor"));

/** @param {number} by */
function focusPane(by) {
  const panes = [".editor-outline .tree", ".canvas", ".editor-form input, .editor-form textarea, .editor-form button", ".drawer button"].flatMap((one) => /** @type {HTMLElement | null} */ (document.querySelector(one)) ?? []);
  const at = panes.findIndex((one) => one.closest("aside, section, .canvas")?.contains(document.activeElement));
  panes[(at + by + panes.length) % panes.length]?.focus();
}

/**
 * Saves a file of this browser.
 * @param {Blob} blob
 * @param {string} name
 */
export function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
