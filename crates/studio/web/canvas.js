// The pages with what is chosen marked on them.

/** @import { Ref } from "./vendor-hooks.js" */
/** @import { Signal } from "./vendor-signals.js" */
/** @import { PageEvent } from "./vendor-htm.js" */
/** @import { Editing } from "./editing.js" */
/** @import { Preview } from "./preview.js" */
/** @import { Box } from "./types.js" */
/**
 * @typedef {{preview: Preview, scale: number, index: number, size: {width: number, height: number}, top: number, count: number, selected: string,
 *   hovered: string, hover: Signal<string | null>, onChoose: (event: PageEvent, page: number) => void, at: (event: PageEvent, page: number) => Box | null}} PageProps
 */

import { html, useSignal, useRef, useEffect, useLayoutEffect, names } from "./base.js";
import { existing } from "./nodes.js";
import { parent } from "./pointer.js";
import { when, t } from "./text.js";

/** Space between pages, and around them. */
const GAP = 20;

/**
 * One page, with the marks on it.
 * @param {PageProps} props
 */
function Page({ preview, scale, index, size, top, count, selected, hovered, hover, onChoose, at }) {
  const number = index + 1;
  const picture = preview.pages.value.get(number);
  const mark = (/** @type {string} */ path, /** @type {string} */ kind) => {
    const boxes = preview.boxes.value.filter((one) => one.page === number && one.path === path);
    return boxes.map(({ area }) => {
      const [left, above, width, height] = area.map((length) => `${length * scale}px`);
      return html`<div key=${`${kind}${area}`} class=${names("node-box", kind)} style=${{ left, top: above, width, height }}></div>`;
    });
  };
  return html`<div class="page" style=${{ top: `${top}px`, width: `${size.width * scale}px`, height: `${size.height * scale}px` }}
      onClick=${(event) => onChoose(event, number)} onPointerMove=${(event) => { hover.value = at(event, number)?.path ?? null; }}
      onPointerLeave=${() => { hover.value = null; }}>
    ${picture?.urls.map((url, layer) => url && html`<img key=${layer} src=${url} draggable="false" class=${names(layer === 1 && !!(picture.urls[0] || picture.urls[2]) && "changing")}
      alt=${layer === 1 ? t("Page {page} of {count}", { page: number, count }) : ""} />`)}
    ${hovered && hovered !== selected && mark(hovered, "hovered")}${selected && mark(selected, "chosen")}</div>`;
}

/**
 * The pages in view, one below the other.
 * @param {{editing: Editing, preview: Preview, zoom: Signal<"fit" | number>}} props
 */
export function Canvas({ editing, preview, zoom }) {
  /** @type {Ref<HTMLDivElement>} */
  const box = useRef(null);
  const width = useSignal(600);
  const hover = useSignal(/** @type {string | null} */ (null));
  const view = preview.inView;
  const fromPage = useRef(false);
  const pages = preview.pages.value;
  const first = pages.get(1) ?? [...pages.values()][0] ?? { width: 595, height: 842 };
  const scale = zoom.value === "fit" ? Math.min(1.6, Math.max(0.2, (width.value - 2 * GAP - 24) / first.width)) : zoom.value;
  const count = Math.max(1, preview.pageCount.value);
  const sizes = Array.from({ length: count }, (_, index) => pages.get(index + 1) ?? first);
  const tops = /** @type {number[]} */ ([]);
  let top = GAP;
  for (const size of sizes) { tops.push(top); top += size.height * scale + GAP; }

  const look = () => {
    const element = box.current;
    if (!element) return;
    const [low, high] = [element.scrollTop, element.scrollTop + element.clientHeight];
    const begins = tops.findIndex((at, index) => at + sizes[index].height * scale > low);
    const ends = tops.findLastIndex((at) => at < high);
    const [first, last] = [Math.max(1, begins + 1), Math.max(1, ends + 1)];
    if (first !== view.value[0] || last !== view.value[1]) view.value = [first, last];
    preview.show(first, last);
  };
  useEffect(() => {
    const watch = new ResizeObserver(() => { if (box.current) { width.value = box.current.clientWidth; look(); } });
    watch.observe(box.current);
    return () => watch.disconnect();
  }, []);
  useLayoutEffect(look, [count, scale]);
  useEffect(() => {
    if (preview.goTo.value) box.current?.scrollTo({ top: tops[preview.goTo.value.page - 1] - GAP / 2 });
  }, [preview.goTo.value]);
  useEffect(() => {
    // What was chosen elsewhere comes into view.
    if (fromPage.current) { fromPage.current = false; return; }
    const found = preview.boxes.value.find((one) => one.path === editing.selected.value);
    if (!found || !box.current) return;
    const y = tops[found.page - 1] + found.area[1] * scale;
    const bottom = y + Math.min(found.area[3] * scale, box.current.clientHeight - 80);
    if (y < box.current.scrollTop || bottom > box.current.scrollTop + box.current.clientHeight) box.current.scrollTo({ top: y - 60 });
  }, [editing.selected.value]);

  const point = (/** @type {PageEvent} */ event, /** @type {number} */ page) => {
    const bounds = event.currentTarget.getBoundingClientRect();
    return preview.at(page, (event.clientX - bounds.left) / scale, (event.clientY - bounds.top) / scale);
  };
  const click = (/** @type {PageEvent} */ event, /** @type {number} */ page) => {
    const found = point(event, page);
    if (!found) return;
    let path = existing(editing.document.value, found.path);
    // A second click means what contains it.
    if (editing.selected.value === path && event.detail > 1) path = existing(editing.document.value, parent(parent(path)));
    fromPage.current = true;
    editing.selected.value = path;
  };
  // A document may have thousands of pages: those in view, and one before and after them, are there.
  const near = sizes.map((size, index) => ({ size, index })).slice(Math.max(0, view.value[0] - 2), view.value[1] + 1);
  const widest = sizes.reduce((most, one) => Math.max(most, one.width), 0);
  const selected = editing.selected.value;
  const hovered = hover.value ?? editing.hovered.value;
  return html`<div class="canvas" ref=${box} onScroll=${look} tabindex="0" aria-label=${t("Pages")} role="region">
    ${preview.waiting.value && html`<div class="late" role="progressbar" aria-label=${t("Making the page")}></div>`}
    ${preview.failed.value && html`<div class="stale" role="status">${preview.goodSince.value
      ? t("Shown as of {when}, before the errors.", { when: when(preview.goodSince.value) }) : preview.message.value || t("The page cannot be shown yet.")}</div>`}
    <div class="pages" style=${{ height: `${top}px`, width: `${widest * scale + 2 * GAP}px` }}>${near.map(({ size, index }) => html`<${Page}
        key=${index} ...${{ preview, scale, index, size, count, selected, hovered, top: tops[index], hover }} onChoose=${click} at=${point} />`)}</div></div>`;
}
