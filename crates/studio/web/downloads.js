// Files of the draft in every format, with what each lacks.

/** @import { Editing } from "./editing.js" */
/** @import { Diagnostic, Session } from "./types.js" */
/** @typedef {{contentBase64?: string, warnings?: Diagnostic[], error?: {detail?: string, title: string}}} Made */

import { html, useSignal } from "./base.js";
import { asError, request, Unreachable } from "./api.js";
import { grouped } from "./drawer.js";
import { saveFile } from "./files.js";
import { may } from "./session.js";
import { Dialog, Menu, say } from "./parts.js";
import { Icon } from "./icons.js";
import { t, tn } from "./text.js";

const FORMATS = ["pdf", "docx", "pptx", "xlsx", "html", "csv"];

/**
 * Saves a file of the draft, and gives what its format lacks. It is a batch of one: other answers say
 * only how many warnings there are.
 * @param {Editing} editing
 * @param {string} format
 */
async function download(editing, format) {
  const item = { definition: editing.document.value, data: editing.sample.value };
  const response = await request("POST", `render/batch/${format}`, { body: { items: [item], packaging: "ndjson" } });
  const made = /** @type {Made} */ (await response.json());
  if (made.contentBase64 === undefined) throw new Error(made.error?.detail ?? made.error?.title);
  saveFile(new Blob([Uint8Array.from(atob(made.contentBase64), (byte) => byte.charCodeAt(0))]), `${editing.key}.${format}`);
  return grouped(made.warnings ?? []);
}

/**
 * Brings back the draft of a template that has nothing else.
 * @param {string} key
 * @param {unknown} document
 */
async function bringBack(key, document) {
  try {
    await request("PUT", `templates/${key}/draft`, { body: document });
    location.hash = `#/templates/${key}`;
  } catch (error) {
    say(asError(error).message, true);
  }
}

/** @param {{editing: Editing, locked: boolean, session: Session, onOpen: (dialog: string) => void}} props */
export function Downloads({ editing, locked, session, onOpen }) {
  const lost = useSignal(/** @type {{format: string, list: ReturnType<typeof grouped>} | null} */ (null));
  const start = async (/** @type {string} */ format) => {
    try {
      const list = await download(editing, format);
      if (list.length) lost.value = { format, list };
      else say(t("Downloaded {name}", { name: `${editing.key}.${format}` }));
    } catch (error) {
      say(error instanceof Unreachable ? t("The service does not answer.") : asError(error).message, true);
    }
  };
  const discard = async () => {
    // It would be the draft of somebody else.
    if (editing.draft.state.value === "clash") {
      onOpen("draft");
      return;
    }
    try {
      const mine = await editing.discard();
      const isLeft = !editing.live.value;
      if (isLeft) location.hash = "#/templates";
      say(t("The draft was discarded."), false, { label: t("Undo"), run: () => (isLeft ? bringBack(editing.key, mine) : editing.change(mine, null)) });
    } catch (error) {
      say(asError(error).message, true);
    }
  };
  return html`<${Menu} label=${t("Download")} icon="download">
    ${may(session, "render") && FORMATS.map((format) => html`<button type="button" key=${format} onClick=${() => start(format)}>${format.toUpperCase()}</button>`)}
    <button type="button" onClick=${() => onOpen("copy")}><${Icon} name="code" />${t("Copy as program…")}</button>
    ${!locked && editing.hasDraft.value && (editing.live.value || !session.template) && html`<button type="button" onClick=${discard}>
      <${Icon} name="trash" />${t("Discard the draft")}</button>`}</${Menu}>
    ${lost.value && html`<${Losses} ...${lost.value} name=${editing.key} onClose=${() => { lost.value = null; }} />`}`;
}

/** @param {{name: string, format: string, list: ReturnType<typeof grouped>, onClose: () => void}} props */
function Losses({ name, format, list, onClose }) {
  return html`<${Dialog} title=${t("What {format} lacks", { format: format.toUpperCase() })} onClose=${onClose}>
    <p>${t("{name} was downloaded. It differs from the page:", { name: `${name}.${format}` })}</p>
    <ul class="problems">${list.map((one) => html`<li>
      <p>${one.message}${one.count > 1 ? ` (${tn(one.count, "{count} time", "{count} times")})` : ""}</p>
      <p class="small quiet"><code>${one.code}</code> ${one.path}</p></li>`)}</ul>
    <div class="ends"><button type="button" class="button primary" onClick=${onClose}>${t("Close")}</button></div></${Dialog}>`;
}
