// A JSON document that is edited: what is chosen in it, and undo.

/** @import { Signal } from "./vendor-signals.js" */
/** @import { Definition, Json } from "./types.js" */
/** @typedef {{document: Definition, selected: string}} Step */

import { signal, batch } from "./base.js";
import { get, set, insert, remove, move, parent, last } from "./pointer.js";

/** How many changes can be undone. */
const STEPS = 200;
/** Changes of one place within this time are one step, in milliseconds. */
const PAUSE = 800;

/** A document with what is chosen in it, and the steps that undo takes. */
export class EditedDocument {
  constructor() {
    /** Nothing is edited before it is read. */
    this.document = signal(/** @type {Definition} */ ({}));
    /** Pointers of what is chosen, and of what is pointed at. */
    this.selected = signal("");
    this.hovered = signal("");
    /** Text of the JSON view while it is no JSON. */
    this.broken = signal(/** @type {{text: string, message: string} | null} */ (null));
    /** How often such text was taken back. */
    this.resets = signal(0);
    this.past = signal(/** @type {Step[]} */ ([]));
    this.future = signal(/** @type {Step[]} */ ([]));
    this.lastChange = { pointer: /** @type {string | null} */ (null), at: 0 };
    /**
     * Icon of a type of steps, where steps of a flow are edited.
     * @type {((type: string) => string) | null}
     */
    this.icon = null;
    /**
     * The sample data of a template.
     * @type {Signal<Json> | null}
     */
    this.sample = null;
    this.sampleSize = 0;
  }

  /** Called after each change. */
  keep() {}

  /**
   * Replaces the document; one step of undo for changes of the same place in a short time.
   * @param {Definition} next
   * @param {string | null} pointer place of the change, if others may join it
   * @param {string} [selected]
   */
  change(next, pointer, selected = this.selected.value) {
    if (next === this.document.value) return;
    this.replace(next, pointer, selected);
    this.keep();
  }

  /**
   * Replaces the document as `change` does, without keeping it: another tab does that.
   * @param {Definition} next
   * @param {string | null} pointer
   * @param {string} [selected]
   */
  replace(next, pointer, selected = this.selected.value) {
    const now = Date.now();
    const joins = pointer !== null && this.lastChange.pointer === pointer && now - this.lastChange.at < PAUSE;
    this.lastChange = { pointer, at: now };
    batch(() => {
      if (!joins) {
        this.past.value = [...this.past.value, { document: this.document.value, selected: this.selected.value }].slice(-STEPS);
      }
      this.future.value = [];
      // What is no JSON yet was written on what this replaces.
      if (pointer !== "json") this.broken.value = null;
      this.document.value = next;
      this.selected.value = selected;
    });
  }

  /**
   * @param {string} pointer
   * @param {unknown} value
   */
  set(pointer, value) {
    this.change(set(this.document.value, pointer, value), pointer);
  }

  /**
   * @param {string} list
   * @param {number} index
   * @param {unknown} item
   */
  insert(list, index, item) {
    this.change(insert(this.document.value, list, index, item), null, `${list}/${index}`);
  }

  /** @param {string} pointer */
  remove(pointer) {
    const list = get(this.document.value, parent(pointer));
    const at = Number(last(pointer));
    const next = remove(this.document.value, pointer);
    const left = Array.isArray(list) ? list.length - 1 : 0;
    const selected = left > 0 ? `${parent(pointer)}/${Math.min(at, left - 1)}` : parent(parent(pointer));
    this.change(next, null, selected);
  }

  /** @param {string} pointer */
  duplicate(pointer) {
    const copy = structuredClone(get(this.document.value, pointer));
    // An id stands once in a template.
    if (copy && typeof copy === "object" && "id" in copy) delete copy.id;
    this.insert(parent(pointer), Number(last(pointer)) + 1, copy);
  }

  /**
   * Moves a node; false if it cannot be there.
   * @param {string} from
   * @param {string} list
   * @param {number} index
   */
  move(from, list, index) {
    const moved = move(this.document.value, from, list, index);
    if (!moved) return false;
    this.change(moved[0], null, moved[1]);
    return true;
  }

  undo() {
    // Text that is no JSON yet is the last step.
    if (this.broken.value) {
      this.broken.value = null;
      this.resets.value += 1;
      return;
    }
    this.travel(this.past, this.future);
  }

  redo() {
    this.travel(this.future, this.past);
  }

  /**
   * @param {Signal<Step[]>} from
   * @param {Signal<Step[]>} to
   */
  travel(from, to) {
    const step = from.value.at(-1);
    if (!step) return;
    this.lastChange = { pointer: null, at: 0 };
    batch(() => {
      to.value = [...to.value, { document: this.document.value, selected: this.selected.value }].slice(-STEPS);
      from.value = from.value.slice(0, -1);
      this.document.value = step.document;
      this.selected.value = step.selected;
      this.broken.value = null;
    });
    this.keep();
  }
}
