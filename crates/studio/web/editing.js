// The state of an editor: one document for outline, form, page and JSON, with undo over all.

import { signal, computed, batch, memory, debounced } from "./base.js";
import { EditedDocument } from "./edited-document.js";
import { json, request, Problem, Unreachable, tagOf } from "./api.js";
import { t } from "./text.js";

/** Sample data above this length is not sent with each preview. */
const LARGE = 200_000;

export class Editing extends EditedDocument {
  constructor(key) {
    super();
    this.key = key;
    this.sample = signal({});
    /** `idle`, `saving`, `saved`, `offline`, `clash` or `failed`. */
    this.saving = signal("idle");
    this.savedAt = signal(0);
    this.failure = signal(null);
    /** Version that callers get, and the one that the draft changes. */
    this.live = signal(null);
    this.base = null;
    this.revision = null;
    this.sampleRevision = null;
    /** Sample data as the service has it, and the length of what is used as text. */
    this.savedSample = null;
    this.sampleSize = 0;
    this.hasDraft = signal(false);
    /** Whether the last change fits into what this browser keeps. */
    this.isKept = true;
    this.saveSoon = debounced(900, () => this.save());
    this.saveSampleSoon = debounced(900, () => this.saveSample());
    this.name = computed(() => this.document.value?.name || this.key);
  }

  /** Reads the template, its draft and its sample data. */
  async open() {
    const path = `templates/${this.key}`;
    const optional = (promise) => promise.catch((error) => {
      if (error instanceof Problem && error.status === 404) return null;
      throw error;
    });
    const [live, draft, sample] = await Promise.all([
      optional(request("GET", path)), optional(request("GET", `${path}/draft`)), optional(request("GET", `${path}/sample`)),
    ]);
    if (!live && !draft) throw new Problem(404, { detail: t("There is no template with the key {key}.", { key: this.key }) });
    this.live.value = live && tagOf(live);
    const local = memory.get(`draft.${this.key}`);
    this.base = draft ? Number(draft.headers.get("X-Draft-Base")) || null : this.live.value;
    this.revision = draft && tagOf(draft);
    this.sampleRevision = sample && tagOf(sample);
    const stored = await (draft ?? live).json();
    // What this browser has kept and not sent is newer than what the service has.
    const kept = local && local.revision === this.revision && local.base === this.base ? local.document : null;
    const clashes = local && !kept && JSON.stringify(local.document) !== JSON.stringify(stored);
    batch(() => {
      this.hasDraft.value = Boolean(draft) || Boolean(kept) || clashes;
      this.document.value = kept ?? (clashes ? local.document : stored);
      if (clashes) this.saving.value = "clash";
    });
    if (sample) {
      this.savedSample = await sample.json();
      this.use(this.savedSample);
    }
    if (kept) this.saveSoon();
    return { hasSample: Boolean(sample) };
  }

  /** Keeps the draft here at once, and at the service soon. */
  keep() {
    this.hasDraft.value = true;
    this.isKept = memory.set(`draft.${this.key}`, { document: this.document.value, base: this.base, revision: this.revision });
    if (this.saving.value !== "clash") {
      this.saving.value = "waiting";
      this.saveSoon();
    }
  }

  /** Sends the draft to the service. */
  async save() {
    this.saveSoon.cancel();
    if (this.busy) {
      this.saveSoon();
      return;
    }
    this.busy = true;
    const sent = this.document.value;
    this.saving.value = "saving";
    const base = this.base ? `?base=${this.base}` : "";
    const headers = this.revision ? { "If-Match": `"${this.revision}"` } : {};
    try {
      const saved = await json("PUT", `templates/${this.key}/draft${base}`, { body: sent, headers });
      this.revision = saved.revision;
      this.savedAt.value = Date.now();
      this.failure.value = null;
      if (this.document.value === sent) {
        memory.set(`draft.${this.key}`, null);
        this.saving.value = "saved";
      } else this.saveSoon();
    } catch (error) {
      this.fail(error);
    } finally {
      this.busy = false;
    }
  }

  fail(error) {
    if (error instanceof Unreachable) {
      this.saving.value = "offline";
      setTimeout(() => this.saving.value === "offline" && this.save(), 3000);
    } else if (error instanceof Problem && [404, 409, 412].includes(error.status)) {
      this.saving.value = "clash";
    } else {
      this.saving.value = "failed";
      this.failure.value = error;
    }
  }

  /** What the service has now: the draft, or the current version where there is none. */
  async theirs() {
    try {
      const response = await request("GET", `templates/${this.key}/draft`);
      return { revision: tagOf(response), base: Number(response.headers.get("X-Draft-Base")) || null, document: await response.json() };
    } catch (error) {
      if (!(error instanceof Problem && error.status === 404)) throw error;
      const response = await request("GET", `templates/${this.key}`);
      return { revision: null, base: tagOf(response), document: await response.json() };
    }
  }

  /** Ends a clash with `document`, which changes what the service has. */
  settle(document, { revision, base }) {
    this.revision = revision;
    this.base = base;
    this.saving.value = "idle";
    this.change(document, null);
    this.save();
  }

  use(value) {
    this.sampleSize = JSON.stringify(value).length;
    this.sample.value = value;
  }

  /** The data of a request: large sample data is named, once the service has it. */
  get dataOfRequest() {
    const isNamed = this.sampleSize > LARGE && this.savedSample === this.sample.value;
    return isNamed ? { sample: this.key } : { data: this.sample.value };
  }

  setSample(value) {
    this.use(value);
    this.saveSampleSoon();
  }

  async saveSample() {
    const headers = this.sampleRevision ? { "If-Match": `"${this.sampleRevision}"` } : {};
    try {
      const sent = this.sample.value;
      const saved = await json("PUT", `templates/${this.key}/sample`, { body: sent, headers });
      this.sampleRevision = saved.revision;
      this.savedSample = sent;
    } catch (error) {
      // Somebody else has changed it: the next change is based on theirs.
      const response = await request("GET", `templates/${this.key}/sample`).catch(() => null);
      this.sampleRevision = response && tagOf(response);
      if (!(error instanceof Problem)) this.saveSampleSoon();
    }
  }

  /** Publishes the draft as a new version. */
  async publish(note) {
    await this.save();
    if (this.saving.value !== "saved") throw this.failure.value ?? new Error(t("The draft is not saved yet."));
    const headers = { "If-Match": `"${this.revision}"` };
    if (note) headers["X-Change-Note"] = encodeURIComponent(note);
    const version = await json("POST", `templates/${this.key}/draft/publication`, { headers });
    batch(() => {
      this.live.value = version.version;
      this.base = version.version;
      this.revision = null;
      this.hasDraft.value = false;
      this.saving.value = "idle";
    });
    memory.set(`draft.${this.key}`, null);
    return version;
  }

  /** Discards the draft: the live version is what is edited. */
  async discard() {
    this.saveSoon.cancel();
    if (this.revision) await request("DELETE", `templates/${this.key}/draft`, { headers: { "If-Match": `"${this.revision}"` } });
    memory.set(`draft.${this.key}`, null);
    const response = await request("GET", `templates/${this.key}`);
    const document = await response.json();
    batch(() => {
      this.base = this.live.value = tagOf(response);
      this.revision = null;
      this.document.value = document;
      this.past.value = [];
      this.future.value = [];
      this.hasDraft.value = false;
      this.saving.value = "idle";
    });
  }
}
