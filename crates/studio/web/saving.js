// What is edited is kept in this browser at once and saved at the service soon, and never over what
// another person has saved meanwhile. Tabs of one browser tell each other what is typed: they are one editor.

/**
 * What a tab tells the others: a value after a change, and how far it is saved.
 * @typedef {{value?: unknown, state: string, savedAt: number, revision: number | null, base: number | null, isKept: boolean}} Told
 */

import { signal, memory, debounced } from "./base.js";
import { asError, json, request, statusOf, tagOf, Unreachable } from "./api.js";

/** Time without a change before something is sent, in milliseconds. */
const PAUSE = 900;
/** Time before a service that was away is tried again, in milliseconds. */
const RETRY = 3000;
/** Answers that say that the service is away for a while. */
const AWAY = [502, 503, 504];
/** Answers that say that somebody else has changed or removed what this would replace. */
const CLASHES = [404, 409, 412];
/** Most values without an answer that are remembered. */
const UNANSWERED = 10;

/**
 * Whether the service did not answer. It may have got what was sent.
 * @param {unknown} error
 */
const isAway = (error) => error instanceof Unreachable || AWAY.includes(statusOf(error));

/** One thing that is edited, such as a draft, on its way to the service. */
export class Saving {
  /**
   * @param {string} place where this browser keeps what is not sent
   * @param {{path: () => string, current: () => unknown, onTold: (told: Told) => void}} edited
   *   where the service keeps it, what is edited, and what takes a change of another tab
   */
  constructor(place, { path, current, onTold }) {
    this.place = place;
    this.path = path;
    this.current = current;
    /** `idle`, `waiting`, `saving`, `saved`, `offline`, `ended`, `clash` or `failed`. */
    this.state = signal("idle");
    this.savedAt = signal(0);
    this.failure = signal(/** @type {Error | null} */ (null));
    /** Revision that the service has, and the version that a draft changes. */
    this.revision = /** @type {number | null} */ (null);
    this.base = /** @type {number | null} */ (null);
    /** The value that the service has. */
    this.stored = /** @type {unknown} */ (null);
    /** Whether this browser has what is not sent. */
    this.isKept = true;
    this.isTold = true;
    /** What was sent without an answer: the service may have it. */
    this.unanswered = /** @type {Set<unknown>} */ (new Set());
    /** The request that is sent. */
    this.running = /** @type {Promise<void>} */ (Promise.resolve());
    this.soon = debounced(PAUSE, () => this.save());
    this.tabs = new BroadcastChannel(`platen.${place}`);
    this.tabs.onmessage = ({ data }) => this.hear(data, onTold);
  }

  /**
   * Tells the other tabs.
   * @param {{value?: unknown}} [change]
   */
  tell(change = {}) {
    /** @type {Told} */
    const told = { ...change, state: this.state.value, savedAt: this.savedAt.value, revision: this.revision, base: this.base, isKept: this.isKept };
    this.tabs.postMessage(told);
  }

  /**
   * Another tab has changed or saved something: whatever this one had is in it.
   * @param {Told} told
   * @param {(told: Told) => void} onTold
   */
  hear(told, onTold) {
    this.soon.cancel();
    this.revision = told.revision;
    this.base = told.base;
    this.isKept = told.isKept;
    this.savedAt.value = told.savedAt;
    this.state.value = told.state;
    onTold(told);
  }

  close() {
    this.tabs.close();
  }

  /**
   * Begins with what the service has, or with what this browser has kept and not sent.
   * @returns {T} what is edited from now on
   * @template T
   * @param {T} stored
   * @param {number | null} revision
   * @param {number | null} [base]
   */
  begin(stored, revision, base = null) {
    this.stored = stored;
    this.revision = revision;
    this.base = base;
    const local = /** @type {{document: T, revision: number | null, base: number | null} | null} */ (memory.get(this.place));
    if (!local) return stored;
    if (local.revision === revision && local.base === base) {
      this.soon();
      return local.document;
    }
    if (JSON.stringify(local.document) === JSON.stringify(stored)) {
      // It has arrived, though this browser did not hear of it.
      memory.set(this.place, null);
      return stored;
    }
    // It stays a change of what it was based on, also over a reload, until somebody decides.
    this.revision = local.revision;
    this.base = local.base;
    this.state.value = "clash";
    return local.document;
  }

  /**
   * Keeps a change here, unless it is too large for a browser, and sends it soon.
   * @param {boolean} [isSmall]
   */
  keep(isSmall = true) {
    // What is too large to keep is too large to be told with each key: other tabs see a clash then.
    this.isTold = isSmall;
    this.remember();
    if (this.state.value !== "clash") {
      this.state.value = "waiting";
      this.soon();
    }
    if (isSmall) this.tell({ value: this.current() });
  }

  /** Has this browser keep what is edited, with the revision that it changes. */
  remember() {
    this.isKept = this.isTold && memory.set(this.place, { document: this.current(), base: this.base, revision: this.revision });
  }

  /** Sends what is edited, after what is being sent: each request names the revision that it replaces. */
  save() {
    this.soon.cancel();
    this.running = this.running.then(() => this.send());
    return this.running;
  }

  async send() {
    // Nothing replaces what somebody else has saved before it is decided what stays.
    if (this.state.value === "clash") return;
    this.state.value = "saving";
    const sent = this.current();
    try {
      this.revision = await this.put(sent);
      this.stored = sent;
      this.savedAt.value = Date.now();
      this.failure.value = null;
      if (this.current() === sent) {
        memory.set(this.place, null);
        this.state.value = "saved";
      } else {
        // A tab that is closed now would find a clash with itself otherwise.
        this.remember();
        this.soon();
      }
    } catch (error) {
      this.fail(error);
    }
    if (this.isTold) this.tell();
  }

  /**
   * Sends a value, also in place of one that has arrived without an answer: it is no change of somebody else.
   * @param {unknown} sent
   * @returns {Promise<number>} its revision
   */
  async put(sent) {
    const headers = /** @type {{[name: string]: string}} */ (this.revision ? { "If-Match": `"${this.revision}"` } : {});
    try {
      const saved = /** @type {{revision: number}} */ (await json("PUT", this.path(), { body: sent, headers }));
      this.unanswered.clear();
      return saved.revision;
    } catch (error) {
      if (isAway(error)) {
        // Of many, the first ones and the last one may have arrived.
        if (this.unanswered.size === UNANSWERED) this.unanswered.delete([...this.unanswered][UNANSWERED - 1]);
        this.unanswered.add(sent);
      }
      if (![409, 412].includes(statusOf(error)) || !await this.hasArrived()) throw error;
    }
    return this.put(sent);
  }

  /** Whether the service has a value that was sent without an answer. It is what the next one replaces then. */
  async hasArrived() {
    if (this.unanswered.size === 0) return false;
    const response = await request("GET", this.path().split("?")[0]);
    const theirs = JSON.stringify(await response.json());
    if (![...this.unanswered].some((one) => JSON.stringify(one) === theirs)) return false;
    this.unanswered.clear();
    this.revision = tagOf(response);
    this.base = Number(response.headers.get("X-Draft-Base")) || null;
    return true;
  }

  /** @param {unknown} error */
  fail(error) {
    const status = statusOf(error);
    if (isAway(error)) {
      this.state.value = "offline";
      setTimeout(() => this.state.value === "offline" && this.save(), RETRY);
    } else if (status === 401) {
      this.state.value = "ended";
    } else if (CLASHES.includes(status)) {
      this.state.value = "clash";
    } else {
      this.state.value = "failed";
      this.failure.value = asError(error);
    }
  }

  /**
   * Ends a clash: what is saved next replaces the revision of `theirs`.
   * @param {{revision: number | null, base: number | null}} theirs
   */
  settle({ revision, base }) {
    this.revision = revision;
    this.base = base;
    this.state.value = "idle";
  }

  /** Nothing is left to send. */
  end() {
    this.soon.cancel();
    this.revision = null;
    this.state.value = "idle";
    memory.set(this.place, null);
    this.tell({ value: this.current() });
  }
}
