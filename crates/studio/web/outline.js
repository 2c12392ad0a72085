// The outline: the tree of nodes, with moves by keyboard and by drag and drop.

/** @import { Ref } from "./vendor-hooks.js" */
/** @import { Signal } from "./vendor-signals.js" */
/** @import { PageEvent } from "./vendor-htm.js" */
/** @import { EditedDocument } from "./edited-document.js" */
/** @import { DataField, Diagnostic, Node, Place, Row, Schema } from "./types.js" */
/**
 * @typedef {{editing: EditedDocument, root: Schema, problems: Diagnostic[], pages: Map<string, number>, folded: Signal<Set<string>>,
 *   locked: boolean, onAdd: () => void, onField: (field: DataField, place: Place) => void, say: (text: string) => void}} OutlineProps
 * @typedef {Place & {line: number, level: number}} Target where something is dropped, and where its line is drawn
 */

import { html, useSignal, useComputed, useRef, useEffect, names } from "./base.js";
import { get, parent, within } from "./pointer.js";
import { outline } from "./nodes.js";
import { columnsFor } from "./data-field.js";
import { useDropZone } from "./field-drag.js";
import { Icon } from "./icons.js";
import { t } from "./text.js";

/** Height of a row in pixels. */
const ROW = 26;

/**
 * Rows that a list of this height shows, with some more at both ends.
 * @param {number} top
 * @param {number} height
 */
function shown(top, height) {
  return [Math.max(0, Math.floor(top / ROW) - 8), Math.ceil((top + height) / ROW) + 8];
}

/**
 * The tree.
 * @param {OutlineProps} props
 */
export function Outline({ editing, root, problems, pages, folded, locked, onAdd, onField, say }) {
  /** @type {Ref<HTMLElement>} */
  const box = useRef(null);
  const scroll = useSignal({ top: 0, height: 800 });
  const drag = useSignal(/** @type {{from: string | null, to: Target | null} | null} */ (null));
  const rows = useComputed(() => outline(root, editing.document.value, folded.value));
  const selected = editing.selected.value;
  const place = rows.value.findIndex((row) => row.pointer === selected);

  useEffect(() => {
    // What is inside folded rows is shown once it is chosen.
    const closed = [...folded.value].filter((one) => one !== selected && within(selected, one));
    if (closed.length > 0) folded.value = new Set([...folded.value].filter((one) => !closed.includes(one)));
  }, [selected]);
  useEffect(() => {
    const element = box.current;
    const measure = () => { scroll.value = { top: element.scrollTop, height: element.clientHeight }; };
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  useEffect(() => {
    const element = box.current;
    if (place < 0 || !element) return;
    const top = place * ROW;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + ROW > element.scrollTop + element.clientHeight) element.scrollTop = top + ROW - element.clientHeight;
  }, [place]);

  const childrenAt = (/** @type {string} */ list) => /** @type {Node[]} */ (get(editing.document.value, list));
  const nodeAt = (/** @type {string} */ pointer) => /** @type {Node | undefined} */ (get(editing.document.value, pointer));
  const fold = (/** @type {Row} */ row, /** @type {boolean | undefined} */ closed) => {
    const next = new Set(folded.value);
    if (closed) next.add(row.pointer); else next.delete(row.pointer);
    folded.value = next;
  };
  const choose = (/** @type {number} */ index) => {
    const row = rows.value[Math.max(0, Math.min(rows.value.length - 1, index))];
    if (row) editing.selected.value = row.pointer;
  };
  const moveTo = (/** @type {string} */ from, /** @type {string} */ list, /** @type {number} */ index) => {
    if (!editing.move(from, list, index)) return;
    const count = childrenAt(list).length;
    const position = Number(editing.selected.value.slice(list.length + 1).split("/")[0]) + 1;
    say(t("Moved to {position} of {count}", { position, count }));
  };
  const keys = (/** @type {PageEvent} */ event) => {
    const row = rows.value[place];
    const alt = event.altKey;
    const handled = () => { event.preventDefault(); event.stopPropagation(); };
    const changes = alt || ["Delete", "Backspace", "d", "a"].includes(event.key);
    if (locked && changes) return;
    if (event.key === "ArrowDown" && alt && row?.isNode) { handled(); moveTo(row.pointer, row.list, row.index + 2); }
    else if (event.key === "ArrowUp" && alt && row?.isNode) { handled(); moveTo(row.pointer, row.list, row.index - 1); }
    else if (event.key === "ArrowLeft" && alt && row?.isNode) { handled(); moveOut(row); }
    else if (event.key === "ArrowRight" && alt && row?.isNode) { handled(); moveIn(row); }
    else if (event.key === "ArrowDown") { handled(); choose(place + 1); }
    else if (event.key === "ArrowUp") { handled(); choose(place - 1); }
    else if (event.key === "Home") { handled(); choose(0); }
    else if (event.key === "End") { handled(); choose(rows.value.length - 1); }
    else if (event.key === "ArrowRight" && row?.hasChildren) { handled(); if (row.open) choose(place + 1); else fold(row, false); }
    else if (event.key === "ArrowLeft" && row) {
      handled();
      if (row.hasChildren && row.open) fold(row, true);
      else choose(rows.value.findLastIndex((one, index) => index < place && one.level < row.level));
    } else if ((event.key === "Delete" || event.key === "Backspace") && row?.list && row.index >= 0) { handled(); editing.remove(row.pointer); }
    else if (event.key === "d" && (event.ctrlKey || event.metaKey) && row?.index >= 0) { handled(); editing.duplicate(row.pointer); }
    else if (event.key === "a" && !event.ctrlKey && !event.metaKey) { handled(); onAdd(); }
  };
  /** The list of nodes inside a node. */
  const listIn = (/** @type {string} */ pointer) => {
    const name = ["body", "then"].find((one) => Array.isArray(nodeAt(pointer)?.[one]));
    return name ? `${pointer}/${name}` : null;
  };
  const moveOut = (/** @type {Row} */ row) => {
    const outer = parent(row.list);
    const up = rows.value.find((one) => one.pointer === outer && one.isNode) ?? rows.value.find((one) => one.isNode && within(outer, one.pointer) && one.pointer !== row.pointer && within(row.pointer, one.pointer));
    if (up) moveTo(row.pointer, up.list, up.index + 1);
  };
  const moveIn = (/** @type {Row} */ row) => {
    const before = `${row.list}/${row.index - 1}`;
    const sibling = nodeAt(before);
    const inside = listIn(before) ?? (sibling?.columns?.[0]?.body ? `${before}/columns/0/body` : null);
    if (inside) moveTo(row.pointer, inside, childrenAt(inside).length);
  };

  /**
   * The place at a height.
   * @param {number} y
   * @returns {Target | null}
   */
  const target = (y) => {
    const bounds = box.current.getBoundingClientRect();
    const offset = y - bounds.top + box.current.scrollTop;
    const index = Math.min(rows.value.length - 1, Math.max(0, Math.floor(offset / ROW)));
    const row = rows.value[index];
    const lower = offset - index * ROW > ROW / 2;
    if (row?.isList && row.isNodes) return { list: row.pointer, index: 0, line: (index + 1) * ROW, level: row.level + 1 };
    if (!row?.isNode) {
      const inside = row?.pointer ? listIn(row.pointer) : null;
      return inside ? { list: inside, index: 0, line: (index + 1) * ROW, level: row.level + 1 } : null;
    }
    const container = listIn(row.pointer);
    if (lower && container && row.open) return { list: container, index: 0, line: (index + 1) * ROW, level: row.level + 1 };
    return { list: row.list, index: row.index + (lower ? 1 : 0), line: (index + (lower ? 1 : 0)) * ROW, level: row.level };
  };
  /**
   * Where a field would go at a height: a column of a table that has its rows, or a node.
   * @param {number} y
   * @param {DataField} field
   * @returns {Target | null}
   */
  const fieldTarget = (y, field) => {
    const bounds = box.current.getBoundingClientRect();
    const index = Math.min(rows.value.length - 1, Math.floor((y - bounds.top + box.current.scrollTop) / ROW));
    const row = rows.value[index];
    const columns = row && columnsFor(editing.document.value, row.pointer, field);
    if (!columns) return target(y);
    const at = row.list === columns ? row.index + 1 : childrenAt(columns).length;
    return { list: columns, index: at, line: (index + 1) * ROW, level: row.list === columns ? row.level : row.level + 1 };
  };
  useDropZone(box, {
    over: (y, field) => { drag.value = locked ? null : { from: null, to: fieldTarget(y, field) }; },
    leave: () => { drag.value = null; },
    drop: (field) => { if (drag.value?.to) onField(field, drag.value.to); },
  });
  const grab = (/** @type {PageEvent} */ event, /** @type {Row} */ row) => {
    if (event.button !== 0 || !row.isNode || locked) return;
    const start = { x: event.clientX, y: event.clientY };
    const moved = (/** @type {PointerEvent} */ next) => {
      if (!drag.value && Math.hypot(next.clientX - start.x, next.clientY - start.y) < 4) return;
      const bounds = box.current.getBoundingClientRect();
      if (next.clientY < bounds.top + 24) box.current.scrollTop -= 12;
      if (next.clientY > bounds.bottom - 24) box.current.scrollTop += 12;
      drag.value = { from: row.pointer, to: target(next.clientY) };
    };
    const stop = (/** @type {boolean} */ drop) => {
      removeEventListener("pointermove", moved);
      removeEventListener("pointerup", up);
      removeEventListener("keydown", escape, true);
      const to = drag.value?.to;
      drag.value = null;
      if (drop && to) moveTo(row.pointer, to.list, to.index);
    };
    const up = () => stop(true);
    const escape = (/** @type {KeyboardEvent} */ key) => key.key === "Escape" && stop(false);
    addEventListener("pointermove", moved);
    addEventListener("pointerup", up);
    addEventListener("keydown", escape, true);
  };

  const [first, end] = shown(scroll.value.top, scroll.value.height);
  const marks = (/** @type {Row} */ row) => {
    const found = problems.filter((one) => (row.open && row.hasChildren ? one.path === row.pointer : row.pointer && within(one.path, row.pointer)));
    const isBad = found.some((one) => one.severity === "error");
    return found.length > 0 && html`<span class=${names("mark", isBad ? "bad" : "warn")} title=${found[0].message}>
      <${Icon} name="warning" /><span class="away">${isBad ? t("has errors") : t("has warnings")}</span></span>`;
  };
  return html`<div class="tree" ref=${box} role="tree" tabindex="0" aria-label=${t("Outline")}
      aria-activedescendant=${place >= 0 ? `row-${place}` : undefined} onKeyDown=${keys}
      onScroll=${(event) => { scroll.value = { top: event.currentTarget.scrollTop, height: event.currentTarget.clientHeight }; }}>
    <div class="tree-all" style=${{ height: `${rows.value.length * ROW}px` }}>
      ${rows.value.slice(first, end).map((row, offset) => html`<div key=${row.pointer} id=${`row-${first + offset}`} role="treeitem"
          class=${names("tree-row", row.pointer === selected && "chosen", row.pointer === editing.hovered.value && "hovered", drag.value?.from === row.pointer && "ghost")}
          aria-level=${row.level + 1} aria-selected=${row.pointer === selected} aria-expanded=${row.hasChildren ? row.open : undefined}
          style=${{ top: `${(first + offset) * ROW}px`, paddingLeft: `${6 + row.level * 14}px` }} onPointerDown=${(event) => grab(event, row)}
          onMouseEnter=${() => { editing.hovered.value = row.pointer; }} onMouseLeave=${() => { editing.hovered.value = ""; }}
          onClick=${() => { editing.selected.value = row.pointer; box.current.focus({ preventScroll: true }); }}>
        <span class=${names("fold", row.open && "open")}
            onClick=${(event) => { if (row.hasChildren) { event.stopPropagation(); fold(row, row.open); } }}>${row.hasChildren && html`<${Icon}
            name="chevron" />`}</span>
        <${Icon} name=${row.icon} /><b>${row.label}</b><span class="cut quiet grow" dir="auto">${row.summary}</span>${marks(row)}
        ${(pages.get(row.pointer) ?? 1) > 1 && row.isNode && html`<span class="badge square">${t("p. {page}", { page: pages.get(row.pointer) })}</span>`}</div>`)}
      ${drag.value?.to && html`<div class="drop-line" style=${{ top: `${drag.value.to.line - 1}px`, left: `${8 + drag.value.to.level * 14}px` }}></div>`}</div></div>`;
}
