// The state of an editor: one document for outline, form, page and JSON, with undo over all.

/** @import { Told } from "./saving.js" */
/** @import { Json, Stored, Template } from "./types.js" */

import { signal, computed, batch } from "./base.js";
import { EditedDocument } from "./edited-document.js";
import { Saving } from "./saving.js";
import { json, request, Problem, statusOf, tagOf } from "./api.js";
import { t } from "./text.js";

/** Sample data above this length is named in a preview instead of sent with it. */
const NAMED_FROM = 200_000;
/** Sample data above this length is not kept in the browser. */
const KEPT_UP_TO = 1_000_000;

/** A template that is edited, with its sample data. */
export class Editing extends EditedDocument {
  /** @param {string} key */
  constructor(key) {
    super();
    this.key = key;
    this.sample = signal(/** @type {Json} */ ({}));
    /** Length of the sample data as text. */
    this.sampleSize = 0;
    /** Version that callers get. */
    this.live = signal(/** @type {number | null} */ (null));
    this.hasDraft = signal(false);
    /** @type {Saving} */
    this.draft = new Saving(`draft.${key}`, {
      path: () => `templates/${key}/draft${this.draft.base ? `?base=${this.draft.base}` : ""}`,
      current: () => this.document.value,
      onTold: (told) => this.draftTold(told),
    });
    this.data = new Saving(`sample.${key}`, {
      path: () => `templates/${key}/sample`,
      current: () => this.sample.value,
      onTold: ({ value }) => { if (value !== undefined) this.use(/** @type {Json} */ (value)); },
    });
    this.name = computed(() => this.document.value?.name || this.key);
  }

  /**
   * Another tab has changed, saved, published or discarded the draft.
   * @param {Told} told
   */
  draftTold(told) {
    batch(() => {
      if (told.value) this.replace(/** @type {Template} */ (told.value), "tab");
      // One that was never published is a draft again with the next change.
      this.hasDraft.value = told.state !== "idle" || !told.base;
      if (told.state === "idle") this.live.value = told.base;
    });
  }

  /** Nothing more is heard of other tabs. */
  close() {
    this.draft.close();
    this.data.close();
  }

  /** Reads the template, its draft and its sample data. */
  async open() {
    const path = `templates/${this.key}`;
    const [live, draft, sample] = await Promise.all([
      optional(request("GET", path)), optional(request("GET", `${path}/draft`)), optional(request("GET", `${path}/sample`)),
    ]);
    const found = draft ?? live;
    if (!found) throw new Problem(404, { detail: t("There is no template with the key {key}.", { key: this.key }) });
    this.live.value = live && tagOf(live);
    const base = draft ? Number(draft.headers.get("X-Draft-Base")) || null : this.live.value;
    const stored = /** @type {Template} */ (await found.json());
    const storedSample = /** @type {Json | null} */ (sample && await sample.json());
    const document = this.draft.begin(stored, draft && tagOf(draft), base);
    batch(() => {
      this.hasDraft.value = Boolean(draft) || document !== stored;
      this.document.value = document;
    });
    const data = this.data.begin(storedSample, sample && tagOf(sample));
    if (data !== null) this.use(data);
    return { hasSample: data !== null };
  }

  keep() {
    this.hasDraft.value = true;
    this.draft.keep();
  }

  /**
   * What the service has now: the draft, or the current version where there is none, or none but one's own.
   * @returns {Promise<Stored<Template>>}
   */
  async theirDraft() {
    const draft = await optional(request("GET", `templates/${this.key}/draft`));
    const revision = draft && tagOf(draft);
    if (draft && revision !== this.draft.revision) return { revision, base: Number(draft.headers.get("X-Draft-Base")) || null, value: await draft.json() };
    const live = await request("GET", `templates/${this.key}`);
    this.live.value = tagOf(live);
    return { revision, base: this.live.value, value: await live.json() };
  }

  /**
   * Ends a clash of drafts with `document`, which changes what the service has.
   * @param {Template} document
   * @param {Stored<Template>} theirs
   */
  settleDraft(document, theirs) {
    this.draft.settle(theirs);
    this.change(document, null);
    this.draft.save();
  }

  /**
   * The sample data that the service has now.
   * @returns {Promise<Stored<Json>>}
   */
  async theirSample() {
    const sample = await optional(request("GET", `templates/${this.key}/sample`));
    return { revision: sample && tagOf(sample), base: null, value: sample ? await sample.json() : {} };
  }

  /**
   * Ends a clash of sample data with `value`, which changes what the service has.
   * @param {Json} value
   * @param {Stored<Json>} theirs
   */
  settleSample(value, theirs) {
    this.data.settle(theirs);
    this.setSample(value);
    this.data.save();
  }

  /**
   * Takes sample data to show, which is not saved by that.
   * @param {Json} value
   */
  use(value) {
    this.sampleSize = JSON.stringify(value).length;
    this.sample.value = value;
  }

  /** The data of a request: large sample data is named, once the service has it. */
  get dataOfRequest() {
    const isNamed = this.sampleSize > NAMED_FROM && this.data.stored === this.sample.value;
    return isNamed ? { sample: this.key } : { data: this.sample.value };
  }

  /**
   * Changes the sample data.
   * @param {Json} value
   */
  setSample(value) {
    this.use(value);
    this.data.keep(this.sampleSize <= KEPT_UP_TO);
  }

  /**
   * Publishes the draft as a new version.
   * @param {string} note
   * @returns {Promise<{version: number}>}
   */
  async publish(note) {
    await this.draft.save();
    if (this.draft.state.value !== "saved") throw this.draft.failure.value ?? new Error(t("The draft is not saved yet."));
    /** @type {{[name: string]: string}} */
    const headers = { "If-Match": `"${this.draft.revision}"` };
    if (note) headers["X-Change-Note"] = encodeURIComponent(note);
    const version = /** @type {{version: number}} */ (await json("POST", `templates/${this.key}/draft/publication`, { headers }));
    batch(() => {
      this.live.value = version.version;
      this.draft.base = version.version;
      this.draft.end();
      this.hasDraft.value = false;
    });
    return version;
  }

  /**
   * Discards the draft: the live version is what is edited, if there is one, and undo goes back to the draft.
   * @returns what was edited
   */
  async discard() {
    this.draft.soon.cancel();
    // One that is being saved has its revision afterwards.
    await this.draft.running;
    const { revision } = this.draft;
    if (revision) await request("DELETE", `templates/${this.key}/draft`, { headers: { "If-Match": `"${revision}"` } });
    const live = await optional(request("GET", `templates/${this.key}`));
    const document = /** @type {Template | null} */ (live && await live.json());
    const mine = this.document.value;
    batch(() => {
      this.draft.base = this.live.value = live && tagOf(live);
      if (document) this.replace(document, null);
      this.draft.end();
      this.hasDraft.value = !document;
    });
    return mine;
  }
}

/**
 * The response to a request, or null if there is no such thing.
 * @param {Promise<Response>} promise
 */
function optional(promise) {
  return promise.catch((error) => {
    if (statusOf(error) === 404) return null;
    throw error;
  });
}
