// How far a template and its sample data are saved, and what two people who changed them can do.

/** @import { Editing } from "./editing.js" */
/** @import { Saving } from "./saving.js" */
/** @import { Json, Stored, Template } from "./types.js" */
/** @typedef {"draft" | "sample"} Kind */

import { html, useSignalEffect } from "./base.js";
import { signedOut } from "./api.js";
import { Clash } from "./clash.js";
import { say } from "./parts.js";
import { t, when } from "./text.js";

/** States in the order in which they are told. */
const ORDER = ["clash", "failed", "ended", "offline", "waiting", "saving", "saved", "idle"];

/**
 * The draft or the sample data, whichever has more to say.
 * @param {Editing} editing
 * @returns {[Kind, Saving]}
 */
function leading(editing) {
  const rank = (/** @type {Saving} */ saving) => ORDER.indexOf(saving.state.value);
  return rank(editing.data) < rank(editing.draft) ? ["sample", editing.data] : ["draft", editing.draft];
}

/**
 * @param {Kind} kind
 * @param {Saving} saving
 */
function textOf(kind, saving) {
  /** @type {{[state: string]: string}} */
  const texts = {
    waiting: t("Saving"), saving: t("Saving"), saved: t("Saved {when}", { when: when(saving.savedAt.value) }),
    offline: saving.isKept ? t("Offline, kept in this browser") : t("Offline, and too large to keep in this browser: leave this page open"),
    ended: saving.isKept ? t("Signed out, kept in this browser") : t("Signed out, and too large to keep in this browser: leave this page open"),
    clash: kind === "draft" ? t("Changed by somebody else") : t("Sample data changed by somebody else"),
    failed: kind === "draft" ? t("Not saved") : t("Sample data not saved"),
  };
  return texts[saving.state.value] ?? "";
}

/**
 * Saves at once what is not saved, and says so. In a clash, nothing is saved before somebody decides.
 * @param {Editing} editing
 * @param {(kind: Kind) => void} onClash
 */
export async function saveNow(editing, onClash) {
  const unsaved = [editing.draft, editing.data].filter((one) => !["idle", "saved", "clash"].includes(one.state.value));
  await Promise.all(unsaved.map((one) => one.save()));
  const [kind, saving] = leading(editing);
  if (saving.state.value === "clash") onClash(kind);
  else say(textOf(kind, saving) || t("Everything is saved."));
}

/**
 * Says how far everything is saved.
 * @param {{editing: Editing, onClash: (kind: Kind) => void}} props
 */
export function SaveState({ editing, onClash }) {
  useSignalEffect(() => {
    // What a session that has ended could not save is saved by the next one.
    if (signedOut.value) return;
    for (const one of [editing.draft, editing.data]) if (one.state.peek() === "ended") one.save();
  });
  const [kind, saving] = leading(editing);
  const state = saving.state.value;
  return html`<span class="small quiet cut" role="status">${textOf(kind, saving)}</span>
    ${state === "clash" && html`<button type="button" class="button danger" onClick=${() => onClash(kind)}>${t("Compare and choose…")}</button>`}
    ${state === "failed" && html`<span class="small bad-text cut">${saving.failure.value?.message}</span>`}`;
}

/**
 * The choice between two drafts.
 * @param {{editing: Editing, onClose: () => void}} props
 */
export function DraftClash({ editing, onClose }) {
  return html`<${Clash} title=${t("Two people have changed this template")} mine=${editing.document.value} load=${() => editing.theirDraft()}
      onSettle=${(/** @type {Template} */ value, /** @type {Stored<Template>} */ theirs) => { editing.settleDraft(value, theirs); say(t("What you chose is the draft now.")); }}
      onClose=${onClose} />`;
}

/**
 * The choice between two samples.
 * @param {{editing: Editing, onClose: () => void}} props
 */
export function SampleClash({ editing, onClose }) {
  const settle = (/** @type {Json} */ value, /** @type {Stored<Json>} */ theirs) => {
    const mine = editing.sample.value;
    editing.settleSample(value, theirs);
    // Sample data has no undo of its own.
    say(t("What you chose is the sample data now."), false, { label: t("Undo"), run: () => editing.setSample(mine) });
  };
  return html`<${Clash} title=${t("Two people have changed this sample data")} mine=${editing.sample.value} load=${() => editing.theirSample()}
    onSettle=${settle} onClose=${onClose} />`;
}
