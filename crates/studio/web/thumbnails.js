// The pages of the document in small, beside the page: a click goes there.

/** @import { Ref } from "./vendor-hooks.js" */
/** @import { Editing } from "./editing.js" */
/** @import { Preview } from "./preview.js" */
/** @import { PreviewAnswer } from "./types.js" */
/** @typedef {{urls: string[], generation: number}} Small */

import { html, useSignal, useRef, useEffect } from "./base.js";
import { json } from "./api.js";
import { t } from "./text.js";

/** Width of a page, and the height of its row without it, in pixels. */
const WIDTH = 76;
const REST = 34;
/** Time without a change before pages that are not in view are asked for, in milliseconds. */
const PAUSE = 500;
/** Time until a page that changed is drawn here too, in milliseconds: typing waits for nothing but the page. */
const LATER = 400;
/** Most pages of one request. */
const MOST = 4;

/**
 * The list of pages. Only those in view are in the document.
 * @param {{editing: Editing, preview: Preview}} props
 */
export function Thumbnails({ editing, preview }) {
  /** @type {Ref<HTMLDivElement>} */
  const box = useRef(null);
  const top = useSignal(0);
  const height = useSignal(600);
  const own = useSignal(/** @type {Map<number, Small>} */ (new Map()));
  const pages = preview.pages.value;
  const seen = useSignal(/** @type {Map<number, Small>} */ (new Map()));
  const later = useRef(0);
  const count = preview.pageCount.value;
  const first = pages.get(1) ?? [...pages.values()][0] ?? { width: 595, height: 842 };
  const each = (WIDTH * first.height) / first.width + REST;
  const from = Math.max(1, Math.floor(top.value / each));
  const to = Math.min(count, Math.ceil((top.value + height.value) / each) + 1);
  const current = preview.inView.value[0];
  useEffect(() => {
    const watch = new ResizeObserver(() => { height.value = box.current?.clientHeight ?? 0; });
    watch.observe(box.current);
    return () => watch.disconnect();
  }, []);
  useEffect(() => {
    const take = () => {
      later.current = 0;
      seen.value = preview.pages.value;
    };
    if (!later.current) later.current = setTimeout(take, seen.value.size ? LATER : 0);
  }, [pages]);
  useEffect(() => {
    // The page in view is in view here, too.
    const at = (current - 1) * each;
    if (at < box.current.scrollTop || at + each > box.current.scrollTop + box.current.clientHeight) box.current.scrollTo({ top: at - each });
  }, [current, each]);
  useEffect(() => {
    const isThere = (/** @type {number} */ page) => [pages, own.value].some((all) => all.get(page)?.generation === preview.generation);
    const wanted = Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index).find((page) => !isThere(page));
    if (!wanted || preview.failed.value) return undefined;
    const stop = new AbortController();
    const { generation } = preview;
    const timer = setTimeout(async () => {
      try {
        const answer = /** @type {PreviewAnswer} */ (await json("POST", "render/preview", {
          body: { definition: editing.document.value, ...editing.dataOfRequest, firstPage: wanted, pageCount: MOST }, signal: stop.signal,
        }));
        const next = new Map([...own.value].filter(([page]) => page <= answer.pageCount));
        for (const { page, picture } of answer.pages) {
          const old = next.get(page);
          old?.urls.forEach((url) => URL.revokeObjectURL(url));
          next.set(page, { urls: [URL.createObjectURL(new Blob([picture], { type: "image/svg+xml" }))], generation });
        }
        own.value = next;
      } catch { /* What is wrong stands beside the page. */ }
    }, PAUSE);
    return () => { clearTimeout(timer); stop.abort(); };
  }, [pages, own.value, from, to]);
  useEffect(() => () => {
    clearTimeout(later.current);
    for (const { urls } of own.value.values()) urls.forEach((url) => URL.revokeObjectURL(url));
  }, []);
  const shown = Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
  return html`<nav class="thumbnails" ref=${box} aria-label=${t("List of pages")} onScroll=${() => { top.value = box.current.scrollTop; }}>
    <div class="pages" style=${{ height: `${count * each}px` }}>${shown.map((page) => {
      /** @type {Small | undefined} */
      const picture = [seen.value.get(page), own.value.get(page)].filter(Boolean).sort((one, other) => (other?.generation ?? 0) - (one?.generation ?? 0))[0];
      return html`<button type="button" key=${page} class="thumbnail" style=${{ top: `${(page - 1) * each}px`, height: `${each}px` }}
          aria-current=${page === current ? "page" : undefined} aria-label=${t("Page {page}", { page })} onClick=${() => { preview.goTo.value = { page }; }}>
        <span class="sheet" style=${{ width: `${WIDTH}px`, height: `${each - REST}px` }}>${picture?.urls.map((url, layer) => url && html`<img key=${layer} src=${url} alt="" />`)}</span>
        <span class="small num">${page}</span></button>`;
    })}</div></nav>`;
}
