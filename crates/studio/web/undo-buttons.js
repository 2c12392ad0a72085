// Undo and redo of a document, as buttons and by keys.

/** @import { EditedDocument } from "./edited-document.js" */

import { html, useEffect } from "./base.js";
import { Icon } from "./icons.js";
import { isDialogOpen } from "./parts.js";
import { t } from "./text.js";

/** Texts with an undo of their own: code, JSON that is no part of the document, and the sign-in over the page. */
const OWN = ".cm-editor, #sample, #flow-trigger, .sign-over";

/**
 * Whether Ctrl Z takes back something else than a change of the document.
 * @param {Event} event
 */
export const hasOwnUndo = (event) => isDialogOpen() || event.composedPath().some((one) => one instanceof Element && one.matches(OWN));

/**
 * Both buttons.
 * @param {{editing: EditedDocument}} props
 */
export function UndoButtons({ editing }) {
  return html`<button type="button" class="button plain icon" disabled=${editing.past.value.length === 0 && !editing.broken.value} title=${`${t("Undo")} (Ctrl Z)`}
      aria-label=${t("Undo")} onClick=${() => editing.undo()}><${Icon} name="undo" /></button>
    <button type="button" class="button plain icon" disabled=${editing.future.value.length === 0} title=${`${t("Redo")} (Ctrl Shift Z)`}
        aria-label=${t("Redo")} onClick=${() => editing.redo()}><${Icon} name="redo" /></button>`;
}

/**
 * Ctrl Z and Ctrl Shift Z, but for what has its own.
 * @param {EditedDocument} editing
 */
export function useUndoKeys(editing) {
  useEffect(() => {
    const keys = (/** @type {KeyboardEvent} */ event) => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z" || hasOwnUndo(event)) return;
      event.preventDefault();
      if (event.shiftKey) editing.redo(); else editing.undo();
    };
    addEventListener("keydown", keys);
    return () => removeEventListener("keydown", keys);
  }, [editing]);
}
