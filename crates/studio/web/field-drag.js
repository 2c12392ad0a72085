// Fields of the sample data that are dragged with the mouse: into texts, and onto the outline.

/** @import { Ref } from "./vendor-hooks.js" */
/** @import { PageEvent } from "./vendor-htm.js" */
/** @import { EditedDocument } from "./edited-document.js" */
/** @import { DataField } from "./types.js" */
/**
 * @typedef {HTMLTextAreaElement | HTMLInputElement} Control
 * @typedef {{element: HTMLElement, over: (y: number, field: DataField) => void, leave: () => void, drop: (field: DataField) => void}} Zone
 */

import { signal, useEffect } from "./base.js";
import { expressionFor } from "./data-field.js";
import { insertInto } from "./fields.js";

/** Way of the pointer before a press becomes a drag, in pixels. */
const WAY = 4;

/** The field that is dragged, and where the pointer is. */
export const dragged = signal(/** @type {{field: DataField, x: number, y: number} | null} */ (null));

/**
 * Parts of the page that take fields.
 * @type {Set<Zone>}
 */
const zones = new Set();

/**
 * Makes a part of the page take fields while it is there.
 * @param {Ref<HTMLElement>} element
 * @param {Omit<Zone, "element">} zone
 */
export function useDropZone(element, zone) {
  useEffect(() => {
    const entry = { element: element.current, ...zone };
    zones.add(entry);
    return () => { zones.delete(entry); };
  }, []);
}

/**
 * The text control at a point.
 * @param {number} x
 * @param {number} y
 * @returns {Control | null}
 */
const controlAt = (x, y) => document.elementFromPoint(x, y)?.closest("textarea[data-kind]:not(:disabled), input[data-kind]:not(:disabled)") ?? null;

/**
 * Where in a text control a point is; its caret where the browser does not tell.
 * @param {Control} control
 * @param {number} x
 * @param {number} y
 */
function positionAt(control, x, y) {
  const found = document.caretPositionFromPoint?.(x, y);
  return found?.offsetNode === control ? found.offset : control.selectionEnd ?? 0;
}

/**
 * The expression for a field in a text control.
 * @param {EditedDocument} editing
 * @param {Control} control
 * @param {DataField} field
 */
export function expressionIn(editing, control, field) {
  return expressionFor(editing.document.value, control.dataset.pointer || editing.selected.value, field.path);
}

/**
 * Begins a drag of a field, once the pointer has moved.
 * @param {PageEvent} event
 * @param {EditedDocument} editing
 * @param {DataField} field
 */
export function grabField(event, editing, field) {
  if (event.button !== 0 || event.pointerType === "touch") return;
  const start = { x: event.clientX, y: event.clientY };
  let control = /** @type {Control | null} */ (null);
  let zone = /** @type {Zone | null} */ (null);
  const mark = (/** @type {Control | null} */ next) => {
    control?.classList.remove("takes-field");
    control = next;
    control?.classList.add("takes-field");
  };
  const move = (/** @type {PointerEvent} */ { clientX: x, clientY: y }) => {
    if (!dragged.value && Math.hypot(x - start.x, y - start.y) < WAY) return;
    mark(controlAt(x, y));
    const next = [...zones].find((one) => one.element.contains(document.elementFromPoint(x, y))) ?? null;
    if (zone !== next) zone?.leave();
    zone = next;
    zone?.over(y, field);
    dragged.value = { field, x, y };
  };
  const end = (/** @type {boolean} */ drop) => {
    removeEventListener("pointermove", move);
    removeEventListener("pointerup", up);
    removeEventListener("pointercancel", cancel);
    removeEventListener("keydown", escape, true);
    const wasDragged = dragged.value;
    dragged.value = null;
    const target = control;
    mark(null);
    if (drop && wasDragged && target) insertInto(target, expressionIn(editing, target, field), positionAt(target, wasDragged.x, wasDragged.y));
    else if (drop && wasDragged) zone?.drop(field);
    zone?.leave();
  };
  const up = () => end(true);
  const cancel = () => end(false);
  const escape = (/** @type {KeyboardEvent} */ key) => {
    if (key.key !== "Escape") return;
    key.stopPropagation();
    end(false);
  };
  addEventListener("pointermove", move);
  addEventListener("pointerup", up);
  addEventListener("pointercancel", cancel);
  addEventListener("keydown", escape, true);
}
