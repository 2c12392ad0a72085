// The pages of the document as the engine makes them, always those in view.

/** @import { Box, Diagnostic, PreviewAnswer } from "./types.js" */
/** @import { Editing } from "./editing.js" */
/** @import { Layers } from "./layers.js" */
/**
 * What `layers` has of a page that is not in view any more is not kept: a document may have thousands of pages.
 * @typedef {{urls: string[], layers: Layers | null, width: number, height: number, generation: number}} Picture
 */

import { signal, batch } from "./base.js";
import { json, isAbort, Problem, Unreachable } from "./api.js";
import { layersOf } from "./layers.js";

/** Time without a change before pages are asked for, where they take long, in milliseconds. */
const PAUSE = 60;
/** Where pages take no longer than this, each change is shown at once, in milliseconds. */
const FAST = 100;
/** Most pages of one request. */
const MOST = 4;

/** The pages, their boxes and their problems, as signals. */
export class Preview {
  /** @param {Editing} editing */
  constructor(editing) {
    this.editing = editing;
    this.pageCount = signal(0);
    /** Pages by number. */
    this.pages = signal(/** @type {Map<number, Picture>} */ (new Map()));
    this.boxes = signal(/** @type {Box[]} */ ([]));
    this.problems = signal(/** @type {Diagnostic[]} */ ([]));
    /** Milliseconds of the last preview. */
    this.time = signal(/** @type {number | null} */ (null));
    this.waiting = signal(false);
    /** When the page was last right, while there are errors. */
    this.goodSince = signal(0);
    this.failed = signal(false);
    this.message = signal("");
    this.view = /** @type {[number, number]} */ ([1, 1]);
    /** The first and the last page in view, and the page to go to. */
    this.inView = signal([1, 1]);
    this.goTo = signal(/** @type {{page: number} | null} */ (null));
    this.generation = 0;
    this.timer = 0;
    this.stop = /** @type {AbortController | null} */ (null);
    /** Whether pages were asked for and have not come yet. */
    this.busy = false;
    this.isStale = false;
  }

  /**
   * The document or the data have changed.
   * @param {boolean} [now]
   */
  changed(now = false) {
    this.generation += 1;
    this.soon(now);
  }

  /**
   * Asks for pages: at once where they come fast, before the rest of the editor is drawn anew; after a pause otherwise.
   * One request at a time.
   * @param {boolean} [now]
   */
  soon(now = false) {
    clearTimeout(this.timer);
    const isFast = (this.time.value ?? 0) <= FAST;
    if (this.busy && isFast) {
      this.isStale = true;
      return;
    }
    if (now || isFast) this.ask();
    else this.timer = setTimeout(() => this.ask(), PAUSE);
  }

  /**
   * These pages are in view.
   * @param {number} first
   * @param {number} last
   */
  show(first, last) {
    this.view = /** @type {[number, number]} */ ([Math.max(1, first), Math.max(1, last)]);
    const pages = this.pages.value;
    const count = this.pageCount.value;
    for (let page = this.view[0]; page <= Math.min(this.view[1], count); page += 1) {
      if (pages.get(page)?.generation !== this.generation) {
        this.soon();
        return;
      }
    }
  }

  async ask() {
    clearTimeout(this.timer);
    this.stop?.abort();
    this.busy = true;
    this.isStale = false;
    const stop = new AbortController();
    this.stop = stop;
    const generation = this.generation;
    const [first, last] = this.view;
    const started = performance.now();
    const late = setTimeout(() => { this.waiting.value = true; }, 400);
    try {
      const answer = /** @type {PreviewAnswer} */ (await json("POST", "render/preview", {
        body: { definition: this.editing.document.value, ...this.editing.dataOfRequest, firstPage: first, pageCount: Math.min(MOST, Math.max(1, last - first + 1)) },
        signal: stop.signal,
      }));
      if (generation !== this.generation && this.stop !== stop) return;
      this.accept(answer, generation);
      this.time.value = performance.now() - started;
    } catch (error) {
      if (isAbort(error)) return;
      batch(() => {
        this.failed.value = true;
        this.problems.value = error instanceof Problem ? error.diagnostics : [];
        this.message.value = error instanceof Unreachable || !(error instanceof Error) ? "" : error.message;
      });
    } finally {
      clearTimeout(late);
      if (this.stop === stop) {
        this.busy = false;
        this.waiting.value = false;
        if (this.isStale) this.soon(true);
      }
    }
  }

  /**
   * @param {PreviewAnswer} answer
   * @param {number} generation
   */
  accept(answer, generation) {
    const pages = new Map([...this.pages.value].filter(([page]) => page <= answer.pageCount));
    const asked = new Set(answer.pages.map((page) => page.page));
    for (const [page, old] of pages) if (old.layers && !asked.has(page)) pages.set(page, { ...old, layers: null });
    for (const { page, picture, width, height } of answer.pages) {
      const layers = layersOf(picture, pages.get(page)?.layers);
      pages.set(page, { urls: layers.urls, layers, width, height, generation });
    }
    const gone = [...this.pages.value].flatMap(([page, old]) => old.urls.filter((url) => !pages.get(page)?.urls.includes(url)));
    // What is on the screen stays until the others are.
    setTimeout(() => gone.forEach((url) => URL.revokeObjectURL(url)), 1000);
    const others = this.boxes.value.filter((box) => !asked.has(box.page) && box.page <= answer.pageCount);
    batch(() => {
      this.pageCount.value = answer.pageCount;
      this.pages.value = pages;
      this.boxes.value = [...others, ...answer.boxes];
      this.problems.value = answer.warnings;
      this.failed.value = false;
      this.message.value = "";
      this.goodSince.value = Date.now();
    });
    this.show(...this.view);
  }

  /**
   * The innermost node at a point of a page, in points.
   * @param {number} page
   * @param {number} x
   * @param {number} y
   */
  at(page, x, y) {
    const hit = this.boxes.value.filter((box) => box.page === page
      && x >= box.area[0] && x <= box.area[0] + box.area[2] && y >= box.area[1] && y <= box.area[1] + box.area[3]);
    const size = (/** @type {Box} */ box) => box.area[2] * box.area[3];
    // Of boxes of one size, the inner one comes last.
    return hit.reduce((best, box) => (!best || size(box) <= size(best) ? box : best), /** @type {Box | null} */ (null));
  }

  close() {
    clearTimeout(this.timer);
    this.stop?.abort();
    this.isStale = false;
    for (const { urls } of this.pages.value.values()) urls.forEach((url) => URL.revokeObjectURL(url));
  }
}
