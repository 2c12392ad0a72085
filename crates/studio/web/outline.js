// The outline: the tree of nodes, with moves by keyboard and by drag and drop.

/** @import { Ref } from "./vendor-hooks.js" */
/** @import { Signal } from "./vendor-signals.js" */
/** @import { PageEvent } from "./vendor-htm.js" */
/** @import { EditedDocument } from "./edited-document.js" */
/** @import { Target } from "./outline-moves.js" */
/** @import { DataField, Diagnostic, Place, Row, Schema } from "./types.js" */
/**
 * @typedef {{editing: EditedDocument, root: Schema, problems: Diagnostic[], pages: Map<string, number>, folded: Signal<Set<string>>,
 *   locked: boolean, onAdd: () => void, onField: (field: DataField, place: Place) => void, say: (text: string) => void}} OutlineProps
 * @typedef {{from: string | null, to: Target | null}} Drag
 * @typedef {{editing: EditedDocument, row: Row, index: number, page: number, problems: Diagnostic[], moves: Moves, isGhost: boolean,
 *   onGrab: (event: PageEvent, row: Row) => void, onFocus: () => void}} RowProps
 */

import { html, useSignal, useComputed, useMemo, useRef, useEffect, names } from "./base.js";
import { within } from "./pointer.js";
import { outline } from "./nodes.js";
import { Moves, ROW } from "./outline-moves.js";
import { useDropZone } from "./field-drag.js";
import { Icon } from "./icons.js";
import { t } from "./text.js";

/**
 * Rows that a list of this height shows, with some more at both ends.
 * @param {number} top
 * @param {number} height
 */
function shown(top, height) {
  return [Math.max(0, Math.floor(top / ROW) - 8), Math.ceil((top + height) / ROW) + 8];
}

/**
 * Moves a row with the pointer; Escape cancels it.
 * @param {PageEvent} event
 * @param {Row} row
 * @param {{box: HTMLElement, drag: Signal<Drag | null>, moves: Moves, offset: (y: number) => number}} outline
 */
function dragRow(event, row, { box, drag, moves, offset }) {
  const start = { x: event.clientX, y: event.clientY };
  const moved = (/** @type {PointerEvent} */ next) => {
    if (!drag.value && Math.hypot(next.clientX - start.x, next.clientY - start.y) < 4) return;
    const bounds = box.getBoundingClientRect();
    if (next.clientY < bounds.top + 24) box.scrollTop -= 12;
    if (next.clientY > bounds.bottom - 24) box.scrollTop += 12;
    drag.value = { from: row.pointer, to: moves.target(offset(next.clientY)) };
  };
  const stop = (/** @type {boolean} */ drop) => {
    removeEventListener("pointermove", moved);
    removeEventListener("pointerup", up);
    removeEventListener("pointercancel", cancel);
    removeEventListener("keydown", escape, true);
    const to = drag.value?.to;
    drag.value = null;
    if (drop && to) moves.move(row.pointer, to.list, to.index);
  };
  const up = () => stop(true);
  // A touch that scrolls the list is no drag.
  const cancel = () => stop(false);
  const escape = (/** @type {KeyboardEvent} */ key) => key.key === "Escape" && stop(false);
  addEventListener("pointermove", moved);
  addEventListener("pointerup", up);
  addEventListener("pointercancel", cancel);
  addEventListener("keydown", escape, true);
}

/** @param {{row: Row, problems: Diagnostic[]}} props */
function Marks({ row, problems }) {
  const isOuter = row.open && row.hasChildren;
  const found = problems.filter((one) => (isOuter ? one.path === row.pointer : row.pointer && within(one.path, row.pointer)));
  if (found.length === 0) return null;
  const isBad = found.some((one) => one.severity === "error");
  return html`<span class=${names("mark", isBad ? "bad" : "warn")} title=${found[0].message}>
    <${Icon} name="warning" /><span class="away">${isBad ? t("has errors") : t("has warnings")}</span></span>`;
}

/** @param {RowProps} props */
function TreeRow({ editing, row, index, page, problems, moves, isGhost, onGrab, onFocus }) {
  const isChosen = row.pointer === editing.selected.value;
  return html`<div id=${`row-${index}`} role="treeitem"
      class=${names("tree-row", isChosen && "chosen", row.pointer === editing.hovered.value && "hovered", isGhost && "ghost")}
      aria-level=${row.level + 1} aria-selected=${isChosen} aria-expanded=${row.hasChildren ? row.open : undefined}
      style=${{ top: `${index * ROW}px`, paddingLeft: `${6 + row.level * 14}px` }} onPointerDown=${(event) => onGrab(event, row)}
      onMouseEnter=${() => { editing.hovered.value = row.pointer; }} onMouseLeave=${() => { editing.hovered.value = ""; }}
      onClick=${() => { editing.selected.value = row.pointer; onFocus(); }}>
    <span class=${names("fold", row.open && "open")}
        onClick=${(event) => { if (row.hasChildren) { event.stopPropagation(); moves.fold(row, row.open); } }}>${row.hasChildren && html`<${Icon}
        name="chevron" />`}</span>
    <${Icon} name=${row.icon} /><b>${row.label}</b><span class="cut quiet grow" dir="auto">${row.summary}</span><${Marks} ...${{ row, problems }} />
    ${page > 1 && row.isNode && html`<span class="badge square">${t("p. {page}", { page })}</span>`}</div>`;
}

/**
 * The tree.
 * @param {OutlineProps} props
 */
export function Outline({ editing, root, problems, pages, folded, locked, onAdd, onField, say }) {
  /** @type {Ref<HTMLElement>} */
  const box = useRef(null);
  const scroll = useSignal({ top: 0, height: 800 });
  const drag = useSignal(/** @type {Drag | null} */ (null));
  const rows = useComputed(() => outline(root, editing.document.value, folded.value));
  const moves = useMemo(() => new Moves(editing, rows, folded, say), [editing]);
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

  /** Height in the list of a place on the screen. */
  const offset = (/** @type {number} */ y) => y - box.current.getBoundingClientRect().top + box.current.scrollTop;
  const keys = (/** @type {PageEvent} */ event) => {
    const changes = event.altKey || ["Delete", "Backspace", "d", "a"].includes(event.key);
    const act = locked && changes ? null : moves.key(event, place, onAdd);
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  };
  useDropZone(box, {
    over: (y, field) => { drag.value = locked ? null : { from: null, to: moves.fieldTarget(offset(y), field) }; },
    leave: () => { drag.value = null; },
    drop: (field) => { if (drag.value?.to) onField(field, drag.value.to); },
  });
  const grab = (/** @type {PageEvent} */ event, /** @type {Row} */ row) => {
    if (event.button === 0 && row.isNode && !locked) dragRow(event, row, { box: box.current, drag, moves, offset });
  };
  const [first, end] = shown(scroll.value.top, scroll.value.height);
  return html`<div class="tree" ref=${box} role="tree" tabindex="0" aria-label=${t("Outline")}
      aria-activedescendant=${place >= 0 ? `row-${place}` : undefined} onKeyDown=${keys}
      onScroll=${(event) => { scroll.value = { top: event.currentTarget.scrollTop, height: event.currentTarget.clientHeight }; }}>
    <div class="tree-all" style=${{ height: `${rows.value.length * ROW}px` }}>
      ${rows.value.slice(first, end).map((row, index) => html`<${TreeRow} key=${row.pointer}
          ...${{ editing, row, problems, moves, isGhost: drag.value?.from === row.pointer }} index=${first + index}
          page=${pages.get(row.pointer) ?? 1} onGrab=${grab} onFocus=${() => box.current.focus({ preventScroll: true })} />`)}
      ${drag.value?.to && html`<div class="drop-line" style=${{ top: `${drag.value.to.line - 1}px`, left: `${8 + drag.value.to.level * 14}px` }}></div>`}</div></div>`;
}
