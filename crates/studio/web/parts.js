// Small parts that several pages use: dialogs, messages, menus.

/** @import { Shown } from "./vendor-preact.js" */
/** @import { Ref } from "./vendor-hooks.js" */
/** @import { Signal } from "./vendor-signals.js" */
/** @import { Diagnostic } from "./types.js" */
/** @typedef {{label: string, run: () => void}} Action */

import { html, signal, useEffect, useLayoutEffect, useRef, useSignal, names } from "./base.js";
import { isAbort, MOST_LISTED } from "./api.js";
import { Icon } from "./icons.js";
import { number, t } from "./text.js";

/**
 * The message at the bottom of the page.
 * @type {Signal<{text: string, isError: boolean, action: Action | null} | null>}
 */
export const toast = signal(null);
let timer = 0;

/**
 * Says what happened; errors stay until they are dismissed.
 * @param {string} text
 * @param {boolean} [isError]
 * @param {Action | null} [action]
 */
export function say(text, isError = false, action = null) {
  clearTimeout(timer);
  toast.value = { text, isError, action };
  if (!isError) timer = setTimeout(() => { toast.value = null; }, 6000);
}

/** Shows the message. */
export function Toast() {
  const shown = toast.value;
  const action = shown?.action;
  return html`<div role="status" aria-live="polite">${shown && html`<div class=${names("toast", shown.isError && "bad")}>
    <span class="grow">${shown.text}</span>
    ${action && html`<button type="button" class="link" onClick=${() => { toast.value = null; action.run(); }}>${action.label}</button>`}
    <button type="button" class="button plain icon" aria-label=${t("Dismiss")} onClick=${() => { toast.value = null; }}>
      <${Icon} name="close" /></button></div>`}</div>`;
}

/**
 * A modal dialog; Escape closes it.
 * @param {{title: string, wide?: boolean, onClose: () => void, children?: Shown}} props
 */
export function Dialog({ title, wide, onClose, children }) {
  /** @type {Ref<HTMLDialogElement>} */
  const ref = useRef(null);
  // Before the next key, which belongs to the dialog.
  useLayoutEffect(() => {
    const dialog = ref.current;
    const opener = document.activeElement;
    dialog.showModal();
    return () => { dialog.close(); if (opener instanceof HTMLElement) opener.focus(); };
  }, []);
  return html`<dialog ref=${ref} class=${wide ? "wide" : ""} aria-label=${title} onCancel=${(event) => { event.preventDefault(); onClose(); }}>
    <h2>${title}</h2>${children}</dialog>`;
}

/** Whether a dialog is open, whose keys are its own. */
export const isDialogOpen = () => document.querySelector("dialog[open]") !== null;

/**
 * A button with a list of actions.
 * @param {{label: string, icon?: string, children?: Shown}} props
 */
export function Menu({ label, icon, children }) {
  const open = useSignal(false);
  /** @type {Ref<HTMLDivElement>} */
  const ref = useRef(null);
  useEffect(() => {
    if (!open.value) return undefined;
    const close = (/** @type {Event} */ event) => {
      const isOutside = event instanceof KeyboardEvent ? event.key === "Escape" : !ref.current?.contains(/** @type {Node} */ (event.target));
      if (isOutside) open.value = false;
    };
    addEventListener("pointerdown", close);
    addEventListener("keydown", close);
    return () => { removeEventListener("pointerdown", close); removeEventListener("keydown", close); };
  }, [open.value]);
  return html`<div class="menu" ref=${ref}>
    <button type="button" class="button" aria-haspopup="true" aria-label=${label} aria-expanded=${open.value}
        onClick=${() => { open.value = !open.value; }}>
      ${icon && html`<${Icon} name=${icon} />`}<span class="wide-text">${label}</span><${Icon} name="down" /></button>
    ${open.value && html`<div class="menu-list" onClick=${() => { open.value = false; }}>${children}</div>`}</div>`;
}

/**
 * What is shown while something loads, after a moment.
 * @param {{rows?: number}} props
 */
export function Loading({ rows = 4 }) {
  const late = useSignal(false);
  useEffect(() => {
    const id = setTimeout(() => { late.value = true; }, 200);
    return () => clearTimeout(id);
  }, []);
  return html`<div aria-busy="true">${late.value && Array.from({ length: rows }, (_, index) => html`<div class="skeleton" key=${index}
      style=${{ height: "28px", margin: "0 0 12px" }}></div>`)}</div>`;
}

/**
 * A failed request, in the words of the service.
 * @param {{error: Error & {diagnostics?: Diagnostic[]}, onRetry?: () => void}} props
 */
export function Failure({ error, onRetry }) {
  return html`<div class="notice bad" role="alert"><h3>${t("That did not work")}</h3><p>${error.message || t("The service does not answer.")}</p>
    ${error.diagnostics?.slice(0, 5).map((one) => html`<p class="small">${one.message}</p>`)}
    ${onRetry && html`<p><button type="button" class="button" onClick=${onRetry}>${t("Try again")}</button></p>`}</div>`;
}

/**
 * Says of a list of so many entries where it ends, as there may be more.
 * @param {{count: number}} props
 */
export const ListEnd = ({ count }) => (count < MOST_LISTED ? null : html`<p class="small warn-text">${t("The list ends after {count} entries.", { count: number(MOST_LISTED) })}</p>`);

/**
 * Loads something once, and again when `inputs` change: `{value, error, again}`.
 * @template T
 * @param {() => Promise<T>} load
 * @param {unknown[]} inputs
 */
export function useLoaded(load, inputs) {
  /** @type {Signal<{value: T | null, error: Error | null}>} */
  const state = useSignal({ value: null, error: null });
  const round = useSignal(0);
  useEffect(() => {
    let gone = false;
    load().then(
      (value) => { if (!gone) state.value = { value, error: null }; },
      (error) => { if (!gone && !isAbort(error)) state.value = { value: null, error }; },
    );
    return () => { gone = true; };
  }, [...inputs, round.value]);
  return { ...state.value, again: () => { round.value += 1; } };
}
