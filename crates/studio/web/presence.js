// Who else has the template open, and where they are in it.

/** @import { Editing } from "./editing.js" */
/** @typedef {{id: string, name: string, place?: string, since: string}} Present */

import { debounced, html, memory, useEffect, useSignal, useSignalEffect } from "./base.js";
import { json, request } from "./api.js";
import { nearest, plain, words } from "./nodes.js";
import { get } from "./pointer.js";
import { say } from "./parts.js";
import { t } from "./text.js";

/** Time between two signs of life, in milliseconds: the service lists who has given one in the last 45 seconds. */
const EVERY = 15_000;
/** Time that something is chosen before others see it, in milliseconds. */
const SETTLED = 1_000;
/** Most people that the bar has room for. */
const MOST = 4;

/** The tabs of a browser are one editor. */
function ownId() {
  const known = /** @type {string | null} */ (memory.get("editor"));
  if (known) return known;
  const made = Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join("");
  memory.set("editor", made);
  return made;
}

/** @param {string} name */
const initials = (name) => name.split(/[\s._@-]+/).filter(Boolean).slice(0, 2).map((word) => [...word][0].toUpperCase()).join("") || "?";

/**
 * What somebody has chosen, in few words.
 * @param {Editing} editing
 * @param {string | undefined} place
 */
function about(editing, place) {
  const node = /** @type {{type?: string} | undefined} */ (place ? get(editing.document.value, place) : undefined);
  if (!node?.type) return "";
  return `${t(words(node.type))} ${plain(node).slice(0, 40)}`.trim();
}

/**
 * The others who edit, each as a button that leads to what they have chosen.
 * @param {{editing: Editing}} props
 */
export function Presence({ editing }) {
  const others = useSignal(/** @type {Present[]} */ ([]));
  const id = ownId();
  const path = `templates/${editing.key}/editors/${id}`;
  const speak = async () => {
    try {
      const { editors } = /** @type {{editors: Present[]}} */ (await json("PUT", path, { body: { place: editing.selected.value || undefined } }));
      const found = editors.filter((one) => one.id !== id);
      for (const one of found) {
        if (!others.value.some((known) => known.id === one.id)) say(t("{name} has this template open, too.", { name: one.name || t("Somebody") }));
      }
      others.value = found;
    } catch {
      // Whoever cannot be seen now may be later.
    }
  };
  useEffect(() => {
    const timer = setInterval(speak, EVERY);
    const leave = () => { request("DELETE", path, { keepalive: true }).catch(() => {}); };
    addEventListener("pagehide", leave);
    return () => {
      clearInterval(timer);
      removeEventListener("pagehide", leave);
      leave();
    };
  }, [path]);
  const soon = useSignal(debounced(SETTLED, speak));
  useSignalEffect(() => {
    // Read, so that a choice is seen; the first one is none.
    if (editing.selected.value !== null) soon.value();
  });
  if (others.value.length === 0) return null;
  const more = others.value.length - MOST;
  return html`<ul class="people row" aria-label=${t("Who else edits")}>${others.value.slice(0, MOST).map((one) => {
    const where = about(editing, one.place);
    const name = one.name || t("Somebody");
    const label = where ? t("{name} is at {where}", { name, where }) : t("{name} has this open", { name });
    return html`<li key=${one.id}><button type="button" class="person" title=${label} disabled=${!where}
        onClick=${() => { if (one.place) editing.selected.value = nearest(editing.document.value, one.place); }}><span
        aria-hidden="true">${initials(name)}</span><span class="away">${label}</span></button></li>`;
  })}${more > 0 && html`<li class="small quiet">+${more}</li>`}</ul>`;
}
