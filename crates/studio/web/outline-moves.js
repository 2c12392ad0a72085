// How rows of the outline are walked, folded and moved.

/** @import { Signal, ReadonlySignal } from "./vendor-signals.js" */
/** @import { PageEvent } from "./vendor-htm.js" */
/** @import { EditedDocument } from "./edited-document.js" */
/** @import { DataField, Node, Place, Row } from "./types.js" */
/** @typedef {Place & {line: number, level: number}} Target where something is dropped, and where its line is drawn */

import { get, parent, within } from "./pointer.js";
import { columnsFor } from "./data-field.js";
import { t } from "./text.js";

/** Height of a row in pixels. */
export const ROW = 26;

/** What can be done with the rows of an outline. */
export class Moves {
  /**
   * @param {EditedDocument} editing
   * @param {ReadonlySignal<Row[]>} rows
   * @param {Signal<Set<string>>} folded
   * @param {(text: string) => void} say
   */
  constructor(editing, rows, folded, say) {
    this.editing = editing;
    this.rows = rows;
    this.folded = folded;
    this.say = say;
  }

  /** @param {string} list */
  childrenAt(list) {
    return /** @type {Node[]} */ (get(this.editing.document.value, list));
  }

  /**
   * The list of nodes inside a node.
   * @param {string} pointer
   */
  listIn(pointer) {
    const node = /** @type {Node | undefined} */ (get(this.editing.document.value, pointer));
    const name = ["body", "then"].find((one) => Array.isArray(node?.[one]));
    return name ? `${pointer}/${name}` : null;
  }

  /**
   * @param {Row} row
   * @param {boolean | undefined} closed
   */
  fold(row, closed) {
    const next = new Set(this.folded.value);
    if (closed) next.add(row.pointer); else next.delete(row.pointer);
    this.folded.value = next;
  }

  /** @param {number} index */
  choose(index) {
    const row = this.rows.value[Math.max(0, Math.min(this.rows.value.length - 1, index))];
    if (row) this.editing.selected.value = row.pointer;
  }

  /**
   * @param {string} from
   * @param {string} list
   * @param {number} index
   */
  move(from, list, index) {
    if (!this.editing.move(from, list, index)) return;
    const position = Number(this.editing.selected.value.slice(list.length + 1).split("/")[0]) + 1;
    this.say(t("Moved to {position} of {count}", { position, count: this.childrenAt(list).length }));
  }

  /**
   * Behind what contains it.
   * @param {Row} row
   */
  moveOut(row) {
    const outer = parent(row.list);
    const contains = (/** @type {Row} */ one) => within(outer, one.pointer) && one.pointer !== row.pointer && within(row.pointer, one.pointer);
    const nodes = this.rows.value.filter((one) => one.isNode);
    const up = nodes.find((one) => one.pointer === outer) ?? nodes.find(contains);
    if (up) this.move(row.pointer, up.list, up.index + 1);
  }

  /**
   * To the end of the node before it.
   * @param {Row} row
   */
  moveIn(row) {
    const before = `${row.list}/${row.index - 1}`;
    const sibling = /** @type {Node | undefined} */ (get(this.editing.document.value, before));
    const inside = this.listIn(before) ?? (sibling?.columns?.[0]?.body ? `${before}/columns/0/body` : null);
    if (inside) this.move(row.pointer, inside, this.childrenAt(inside).length);
  }

  /**
   * The place at a height of the list.
   * @param {number} offset
   * @returns {Target | null}
   */
  target(offset) {
    const index = Math.min(this.rows.value.length - 1, Math.max(0, Math.floor(offset / ROW)));
    const row = this.rows.value[index];
    const lower = offset - index * ROW > ROW / 2;
    if (row?.isList && row.isNodes) return { list: row.pointer, index: 0, line: (index + 1) * ROW, level: row.level + 1 };
    const inside = row?.pointer ? this.listIn(row.pointer) : null;
    if (inside && (!row.isNode || (lower && row.open))) return { list: inside, index: 0, line: (index + 1) * ROW, level: row.level + 1 };
    if (!row?.isNode) return null;
    return { list: row.list, index: row.index + (lower ? 1 : 0), line: (index + (lower ? 1 : 0)) * ROW, level: row.level };
  }

  /**
   * Where a field would go at a height: a column of a table that has its rows, or a node.
   * @param {number} offset
   * @param {DataField} field
   * @returns {Target | null}
   */
  fieldTarget(offset, field) {
    const index = Math.min(this.rows.value.length - 1, Math.floor(offset / ROW));
    const row = this.rows.value[index];
    const columns = row && columnsFor(this.editing.document.value, row.pointer, field);
    if (!columns) return this.target(offset);
    const isColumn = row.list === columns;
    return { list: columns, index: isColumn ? row.index + 1 : this.childrenAt(columns).length, line: (index + 1) * ROW, level: row.level + (isColumn ? 0 : 1) };
  }

  /**
   * What a key does with the row at `place`; null if it does nothing.
   * @param {PageEvent} event
   * @param {number} place
   * @param {() => void} onAdd
   * @returns {(() => void) | null}
   */
  key(event, place, onAdd) {
    const row = this.rows.value[place];
    const { key } = event;
    const control = event.ctrlKey || event.metaKey;
    if (event.altKey) return row?.isNode ? this.keyOfMove(key, row) : null;
    if (key === "ArrowDown") return () => this.choose(place + 1);
    if (key === "ArrowUp") return () => this.choose(place - 1);
    if (key === "Home") return () => this.choose(0);
    if (key === "End") return () => this.choose(this.rows.value.length - 1);
    if (key === "ArrowRight" && row?.hasChildren) return () => (row.open ? this.choose(place + 1) : this.fold(row, false));
    if (key === "ArrowLeft" && row?.hasChildren && row.open) return () => this.fold(row, true);
    if (key === "ArrowLeft" && row) return () => this.choose(this.rows.value.findLastIndex((one, index) => index < place && one.level < row.level));
    if (["Delete", "Backspace"].includes(key) && row?.index >= 0) return () => this.editing.remove(row.pointer);
    if (key === "d" && control && row?.index >= 0) return () => this.editing.duplicate(row.pointer);
    return key === "a" && !control ? onAdd : null;
  }

  /**
   * @param {string} key
   * @param {Row} row
   * @returns {(() => void) | null}
   */
  keyOfMove(key, row) {
    if (key === "ArrowDown") return () => this.move(row.pointer, row.list, row.index + 2);
    if (key === "ArrowUp") return () => this.move(row.pointer, row.list, row.index - 1);
    if (key === "ArrowLeft") return () => this.moveOut(row);
    return key === "ArrowRight" ? () => this.moveIn(row) : null;
  }
}
