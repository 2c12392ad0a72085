// The editor of a template: outline, pages and form of one document.

/** @import { Signal } from "./vendor-signals.js" */
/** @import { Kind } from "./save-state.js" */
/** @import { DataField, Diagnostic, Place, Schema, Session } from "./types.js" */

import { effect, html, untracked, useComputed, useEffect, useMemo, useSignal, useSignalEffect, memory } from "./base.js";
import { Editing } from "./editing.js";
import { Preview } from "./preview.js";
import { Outline } from "./outline.js";
import { Form } from "./form.js";
import { Canvas } from "./canvas.js";
import { isUnfinished, JsonView } from "./json-view.js";
import { Drawer, grouped } from "./drawer.js";
import { Palette } from "./palette.js";
import { addField } from "./data-field.js";
import { EditorTop } from "./editor-top.js";
import { Thumbnails } from "./thumbnails.js";
import { Toolbar } from "./toolbar.js";
import { Publish, Copy } from "./editor-dialogs.js";
import { DraftClash, SampleClash, saveNow } from "./save-state.js";
import { schemaOfKind } from "./schema.js";
import { sampleOf } from "./sample.js";
import { Failure, Loading, isDialogOpen, say } from "./parts.js";
import { hasOwnUndo } from "./undo-buttons.js";
import { Icon } from "./icons.js";
import { t } from "./text.js";

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
  return html`<${Work} key=${name} ...${{ editing, preview, root: root.value, locked: !session.mayChange, session }} />`;
}

/** @param {{editing: Editing, preview: Preview, root: Schema, locked: boolean, session: Session}} props */
function Work({ editing, preview, root, locked, session }) {
  const view = useSignal("design");
  const zoom = useSignal(/** @type {"fit" | number} */ ("fit"));
  const drawer = useSignal(/** @type {boolean | null} */ (memory.get("drawer")) ?? innerHeight > 860);
  const strip = useSignal(/** @type {boolean | null} */ (memory.get("pages")) ?? innerWidth > 1100);
  const tab = useSignal("data");
  const folded = useSignal(new Set(["/page"]));
  const dialog = useSignal(/** @type {string | null} */ (null));
  const pane = useSignal("page");
  const isHtml = editing.document.value.kind === "html";
  // The effects of components wait for the next frame; the request for the page does not.
  useEffect(() => effect(() => {
    // Both are read, so that a change of either is seen, and nothing else is: what a preview takes would ask for the next one.
    if (editing.document.value && editing.sample.value) untracked(() => preview.changed());
  }), []);
  useSignalEffect(() => { memory.set("drawer", drawer.value); });
  useSignalEffect(() => { memory.set("pages", strip.value); });
  const problems = preview.problems.value;
  /** @type {Map<string, number>} */
  const pages = new Map();
  for (const box of preview.boxes.value) if (!pages.has(box.path)) pages.set(box.path, box.page);
  const isBroken = useComputed(() => editing.broken.value !== null);
  // A change beside what is written as JSON and is none yet would replace it.
  const held = locked || isBroken.value;
  const toView = (/** @type {string} */ name) => { if (name === view.value || !isUnfinished(editing)) view.value = name; };
  const step = (/** @type {number} */ by) => {
    const all = grouped(problems);
    const at = all.findIndex((one) => one.path === editing.selected.value);
    const next = all[(at + by + all.length) % all.length];
    if (next) editing.selected.value = next.path;
  };
  const box = preview.boxes.value.find((one) => one.path === editing.selected.value);
  const open = (/** @type {string} */ name) => { dialog.value = name; };
  const add = (/** @type {DataField} */ field, /** @type {Place | undefined} */ where) => { if (!isUnfinished(editing)) addField(editing, root, field, where); };
  useKeys(editing, {
    onView: () => toView(view.value === "json" ? "design" : "json"), onDrawer: () => { drawer.value = !drawer.value; }, onStep: step, onClash: open,
  }, [problems]);
  return html`<div class="editor" data-pane=${pane.value}>
    <${EditorTop} ...${{ editing, locked, session, hasErrors: preview.failed.value }} onOpen=${open} />
    <aside class="editor-outline" aria-label=${t("Outline")}>
      <div class="row pane-head">
        <h2 class="grow">${t("Outline")}</h2>
        ${!held && html`<button type="button" class="button" onClick=${() => { dialog.value = "add"; }}><${Icon} name="plus" />${t("Add")}</button>`}</div>
      ${isHtml ? html`<p class="notice">${t("An HTML template is edited as JSON.")}</p>` : html`<${Outline}
          ...${{ editing, root, problems, pages, folded, locked: held, say }} onField=${add} onAdd=${() => { if (!held) dialog.value = "add"; }} />`}</aside>
    <main class="editor-page">
      <${Toolbar} ...${{ preview, view: view.value, zoom, drawer, tab, strip }} onView=${toView} />
      ${view.value === "json" ? html`<div class="halves">
        <${JsonView} ...${{ editing, root, problems, locked }} /><${Canvas} ...${{ editing, preview, zoom }} /></div>` : html`<div class="sheets">
        ${strip.value && preview.pageCount.value > 1 && html`<${Thumbnails} ...${{ editing, preview }} />`}<${Canvas} ...${{ editing, preview, zoom }} /></div>`}
      ${drawer.value && html`<${Drawer} ...${{ editing, problems, tab, locked, say }} onAdd=${add} onClose=${() => { drawer.value = false; }} />`}</main>
    <aside class="editor-form" aria-label=${t("Properties")}>${!isHtml && html`<${Form} ...${{ editing, root, problems, locked: held, box }} />`}</aside>
    <nav class="pane-tabs" aria-label=${t("Panes")}>${[["outline", t("Outline")], ["page", t("Page")], ["form", t("Properties")]].map(([name, label]) => html`<button
        type="button" aria-pressed=${pane.value === name} onClick=${() => { pane.value = name; }}>${label}</button>`)}</nav>
    <${Dialogs} ...${{ editing, root, problems, dialog }} /></div>`;
}

/** @param {{editing: Editing, root: Schema, problems: Diagnostic[], dialog: Signal<string | null>}} props */
function Dialogs({ editing, root, problems, dialog }) {
  const close = () => { dialog.value = null; };
  return html`${dialog.value === "add" && html`<${Palette} ...${{ editing, root }} onClose=${close} />`}
    ${dialog.value === "publish" && html`<${Publish} ...${{ editing, problems }} onClose=${close} onClash=${() => { dialog.value = "draft"; }} />`}
    ${dialog.value === "draft" && html`<${DraftClash} editing=${editing} onClose=${close} />`}
    ${dialog.value === "sample" && html`<${SampleClash} editing=${editing} onClose=${close} />`}
    ${dialog.value === "copy" && html`<${Copy} editing=${editing} onClose=${close} />`}`;
}

/**
 * The keys of the editor. While a dialog is open, they are not for what is behind it.
 * @param {Editing} editing
 * @param {{onView: () => void, onDrawer: () => void, onStep: (by: number) => void, onClash: (kind: Kind) => void}} actions
 * @param {unknown[]} inputs what the actions depend on
 */
function useKeys(editing, { onView, onDrawer, onStep, onClash }, inputs) {
  useEffect(() => {
    const keys = (/** @type {KeyboardEvent} */ event) => {
      const control = event.ctrlKey || event.metaKey;
      if (isDialogOpen()) {
        // The browser's own actions, such as saving the page, are not meant either.
        if (control && /^[sjb]$/.test(event.key)) event.preventDefault();
        return;
      }
      const act = (/** @type {() => void} */ work) => { event.preventDefault(); work(); };
      if (control && /^[zy]$/i.test(event.key)) {
        if (!hasOwnUndo(event)) act(() => (event.shiftKey || event.key.toLowerCase() === "y" ? editing.redo() : editing.undo()));
      } else if (control && event.key === "s") act(() => saveNow(editing, onClash));
      else if (control && event.key === "j") act(onView);
      else if (control && event.key === "b") act(onDrawer);
      else if (event.key === "F8") act(() => onStep(event.shiftKey ? -1 : 1));
      else if (event.key === "F6") act(() => focusPane(event.shiftKey ? -1 : 1));
    };
    addEventListener("keydown", keys);
    return () => removeEventListener("keydown", keys);
  }, inputs);
}

/** What gets the focus in each pane. */
const PANES = [".editor-outline .tree", ".canvas", ".editor-form input, .editor-form textarea, .editor-form button", ".drawer button"];

/** @param {number} by */
function focusPane(by) {
  const panes = PANES.flatMap((one) => /** @type {HTMLElement | null} */ (document.querySelector(one)) ?? []);
  const at = panes.findIndex((one) => one.closest("aside, section, .canvas")?.contains(document.activeElement));
  panes[(at + by + panes.length) % panes.length]?.focus();
}
