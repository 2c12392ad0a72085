// What every module uses: markup as tagged templates, and signals.

import { h, render } from "./vendor-preact.js";
import { useEffect, useRef, useMemo, useLayoutEffect } from "./vendor-hooks.js";
import { signal, computed, effect, batch, untracked, useSignal, useComputed, useSignalEffect } from "./vendor-signals.js";
import htm from "./vendor-htm.js";

/** Markup as a tagged template. */
export const html = htm.bind(h);
export { render, useEffect, useRef, useMemo, useLayoutEffect, signal, computed, effect, batch, untracked, useSignal, useComputed, useSignalEffect };

/**
 * Joins the names of classes that are set.
 * @param {(string | false | null | undefined)[]} all
 */
export const names = (...all) => all.filter(Boolean).join(" ");

/**
 * Calls `work` once `wait` milliseconds have passed without another call.
 * @param {number} wait
 * @param {() => unknown} work
 */
export function debounced(wait, work) {
  let timer = 0;
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(work, wait);
  };
  later.cancel = () => clearTimeout(timer);
  return later;
}

/** What this browser remembers; nothing if it forbids that. */
export const memory = {
  /**
   * Whoever asks knows what it has set.
   * @template T
   * @param {string} name
   * @returns {T | null}
   */
  get(name) {
    try { return JSON.parse(localStorage.getItem(`platen.${name}`) ?? "null"); } catch { return null; }
  },
  /**
   * @param {string} name
   * @param {unknown} value null forgets it
   * @returns whether it is kept
   */
  set(name, value) {
    try {
      if (value === null) localStorage.removeItem(`platen.${name}`);
      else localStorage.setItem(`platen.${name}`, JSON.stringify(value));
      return true;
    } catch { return false; }
  },
};
