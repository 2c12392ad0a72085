// Presence: who else has the template open, and what they have selected.

/** @import { Editing } from "./editing.js" */
/** @typedef {{id: string, name: string, place?: string, since: string}} Present */

import { debounced, html, memory, useEffect, useMemo, useSignalEffect, signal } from "./base.js";
import { json, request, signedOut } from "./api.js";
import { nearest, plain, words } from "./nodes.js";
import { get } from "./pointer.js";
import { say, toast } from "./parts.js";
import { t } from "./text.js";

/** Time between two heartbeats, in milliseconds. */
const HEARTBEAT_INTERVAL = 15_000;
/** The service lists editors with a heartbeat in this time, in milliseconds. */
const HEARTBEAT_TIMEOUT = 100_000;
/** Time without another selection before others see one, in milliseconds. */
const SETTLED = 1_000;
/** Most people that the bar has room for. */
const MOST = 4;

/** @param {number} bytes */
const random = (bytes) => Array.from(crypto.getRandomValues(new Uint8Array(bytes)), (byte) => byte.toString(16).padStart(2, "0")).join("");

/** The tabs of a browser are one editor; each sends its own heartbeats. */
const browser = /** @type {string | null} */ (memory.get("editor")) ?? random(12);
const tab = `${browser}-${random(4)}`;
memory.set("editor", browser);

/** @param {string} name */
const initials = (name) => name.split(/[\s._@-]+/).filter(Boolean).slice(0, 2).map((word) => [...word][0].toUpperCase()).join("") || "?";

/**
 * What somebody has chosen, in few words.
 * @param {Editing} editing
 * @param {string | undefined} place
 */
function about(editing, place) {
  const node = /** @type {{type?: unknown} | null | undefined} */ (place ? get(editing.document.value, place) : undefined);
  return typeof node?.type === "string" ? `${t(words(node.type))} ${plain(node).slice(0, 40)}`.trim() : "";
}

/** The others in one template, as far as the service knows. */
class Others {
  /** @param {Editing} editing */
  constructor(editing) {
    this.editing = editing;
    this.path = `templates/${editing.key}/editors/${tab}`;
    this.present = signal(/** @type {Present[]} */ ([]));
    /** Editors that a message has announced. */
    this.announced = new Set();
    this.message = "";
    this.receivedAt = Date.now();
    this.gone = false;
    this.soon = debounced(SETTLED, () => this.heartbeat());
    this.timer = setInterval(() => this.heartbeat(), HEARTBEAT_INTERVAL);
  }

  /** Sends a heartbeat and receives the list of editors. */
  async heartbeat() {
    if (this.gone || signedOut.value) return;
    try {
      const place = this.editing.selected.value || undefined;
      const { editors } = /** @type {{editors: Present[]}} */ (await json("PUT", this.path, { body: { place } }));
      if (!this.gone) this.receive(editors);
    } catch {
      // The next heartbeat may succeed.
      if (Date.now() - this.receivedAt > HEARTBEAT_TIMEOUT) this.present.value = [];
    }
  }

  /** @param {Present[]} editors */
  receive(editors) {
    this.receivedAt = Date.now();
    /** @type {Map<string, Present>} */
    const found = new Map();
    for (const one of editors) {
      const of = one.id.replace(/-[^-]*$/, "");
      if (of !== browser) found.set(of, one);
    }
    const fresh = [...found].find(([of]) => !this.announced.has(of));
    // A message about what one has done oneself, which may be undone, is not replaced: the next heartbeat announces the other.
    if (fresh && !toast.value) {
      this.announced.add(fresh[0]);
      this.message = t("{name} has this template open, too.", { name: fresh[1].name || t("Somebody") });
      say(this.message);
    }
    this.present.value = [...found.values()];
  }

  leave() {
    this.gone = true;
    clearInterval(this.timer);
    this.soon.cancel();
    // It would be wrong about the next page.
    if (toast.value?.text === this.message) toast.value = null;
    request("DELETE", this.path, { keepalive: true }).catch(() => {});
  }
}

/**
 * The others who edit, each as a button that leads to what they have chosen.
 * @param {{editing: Editing}} props
 */
export function Presence({ editing }) {
  const others = useMemo(() => new Others(editing), [editing]);
  useEffect(() => {
    const leave = () => others.leave();
    addEventListener("pagehide", leave);
    return () => {
      removeEventListener("pagehide", leave);
      leave();
    };
  }, [others]);
  useSignalEffect(() => {
    // Read, so that the effect runs after each selection.
    if (editing.selected.value !== null) others.soon();
  });
  const present = others.present.value;
  if (present.length === 0) return null;
  const more = present.length - MOST;
  return html`<ul class="people row" aria-label=${t("Who else edits")}>${present.slice(0, MOST).map((one) => {
    const where = about(editing, one.place);
    const name = one.name || t("Somebody");
    const label = where ? t("{name} is at {where}", { name, where }) : t("{name} has this open", { name });
    return html`<li key=${one.id}><button type="button" class="person" title=${label} aria-disabled=${!where}
        onClick=${() => { if (where && one.place) editing.selected.value = nearest(editing.document.value, one.place); }}><span
        aria-hidden="true">${initials(name)}</span><span class="away">${label}</span></button></li>`;
  })}${more > 0 && html`<li class="small quiet">${t("and {count} more", { count: more })}</li>`}</ul>`;
}
