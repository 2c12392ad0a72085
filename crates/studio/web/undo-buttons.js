// Undo and redo of a document, as buttons and by keys.

/** @import { EditedDocument } from "./edited-document.js" */

import { html, useEffect } from "./base.js";
import { Icon } from "./icons.js";
import { t } from "./text.js";

/**
 * Both buttons.
 * @param {{editing: EditedDocument}} props
 */
export function UndoButtons({ editing }) {
  return html`<button type="button" class="button plain icon" disabled=${editing.past.value.length === 0} title=${`${t("Undo")} (Ctrl Z)`}
      aria-label=${t("Undo")} onClick=${() => editing.undo()}><${Icon} name="undo" /></button>
    <button type="button" class="button plain icon" disabled=${editing.future.value.length === 0} title=${`${t("Redo")} (Ctrl Shift Z)`}
        aria-label=${t("Redo")} onClick=${() => editing.redo()}><${Icon} name="redo" /></button>`;
}

/**
 * Ctrl Z and Ctrl Shift Z, but for the code view, which has its own.
 * @param {EditedDocument} editing
 */
export function useUndoKeys(editing) {
  useEffect(() => {
    const keys = (/** @type {KeyboardEvent} */ event) => {
      const inCode = event.target instanceof Element && event.target.closest(".json-host");
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z" || inCode) return;
      event.preventDefault();
      if (event.shiftKey) editing.redo(); else editing.undo();
    };
    addEventListener("keydown", keys);
    return () => removeEventListener("keydown", keys);
  }, [editing]);
}
