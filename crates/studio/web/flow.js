// The editor of a flow: a map of its steps, a form for the chosen one, its JSON, and a test.

/** @import { Signal } from "./vendor-signals.js" */
/** @import { LastTimes } from "./flow-map.js" */
/** @import { Diagnostic, FlowDefinition, FlowStep, Json, Place, RunEntry, Schema, Session } from "./types.js" */
/** @typedef {Awaited<ReturnType<typeof load>>} Loaded a flow as the service has it, with its last runs */

import { html, signal, batch, useSignal, useEffect, useMemo, memory, names } from "./base.js";
import { asError, json, Problem, request, statusOf, tagOf } from "./api.js";
import { capturedBy } from "./captured.js";
import { EditedDocument } from "./edited-document.js";
import { Form } from "./form.js";
import { JsonControl } from "./fields.js";
import { isUnfinished, JsonView } from "./json-view.js";
import { Steps, stepIcon } from "./flow-map.js";
import { described } from "./descriptions.js";
import { schemaOfKind, typesOf } from "./schema.js";
import { get } from "./pointer.js";
import { words } from "./nodes.js";
import { Dialog, Failure, Loading, useLoaded, say } from "./parts.js";
import { UndoButtons, useUndoKeys } from "./undo-buttons.js";
import { Icon } from "./icons.js";
import { State } from "./runs.js";
import { StepTest, baseOf } from "./step-test.js";
import { may } from "./session.js";
import { t, when, duration } from "./text.js";

/** Runs that the test lists. */
const SHOWN = 5;

class EditedFlow extends EditedDocument {
  /** @param {string} key */
  constructor(key) {
    super();
    this.key = key;
    this.icon = stepIcon;
    /** What expressions see: the last run, or the test that is written. */
    this.sample = signal(/** @type {Json} */ ({}));
    this.version = 0;
    this.stored = /** @type {FlowDefinition} */ ({});
  }

  /** What is not saved as a version survives a reload. */
  keep() {
    memory.set(`flow.${this.key}`, this.isChanged ? { version: this.version, document: this.document.value } : null);
  }

  /**
   * Begins with a version of the service, or with what was kept of it. What was kept of an earlier one is one step of undo away.
   * @param {FlowDefinition} document
   * @param {number} version
   */
  begin(document, version) {
    // What was saved here is edited here already, with what was typed since then.
    if (version <= this.version) return;
    const kept = /** @type {{version: number, document: FlowDefinition} | null} */ (memory.get(`flow.${this.key}`));
    const outdated = kept && kept.version !== version && JSON.stringify(kept.document) !== JSON.stringify(document) ? kept.document : null;
    batch(() => {
      this.version = version;
      this.stored = document;
      this.broken.value = null;
      this.past.value = outdated ? [{ document: outdated, selected: "" }] : [];
      this.future.value = [];
      this.document.value = kept?.version === version ? kept.document : document;
    });
    if (outdated) say(t("Somebody has changed this flow meanwhile. Undo brings back what you have not saved."), true);
  }

  /**
   * Saves what is edited as a version; what is typed meanwhile is a change of it.
   * @returns the version
   */
  async save() {
    const sent = this.document.value;
    const { version } = /** @type {{version: number}} */ (await json("PUT", `flows/${this.key}`, { body: sent, headers: { "If-Match": `"${this.version}"` } }));
    this.version = version;
    this.stored = sent;
    this.keep();
    return version;
  }

  /**
   * Adds a new step of a type.
   * @param {Place} place
   * @param {string} type
   */
  add({ list, index }, type) {
    if (!Array.isArray(get(this.document.value, list))) this.set(list, []);
    this.insert(list, index, newStep(type, this.document.value));
  }

  /**
   * Takes what expressions and code see.
   * @param {RunEntry | null} run
   * @param {Json} trigger
   */
  see(run, trigger) {
    this.sample.value = capturedBy(run, trigger);
    this.sampleSize = JSON.stringify(this.sample.value).length;
  }

  get isChanged() {
    return JSON.stringify(this.document.value) !== JSON.stringify(this.stored);
  }
}

/**
 * A new step of a type, which is valid.
 * @param {string} type
 * @param {FlowDefinition} document
 * @returns {FlowStep}
 */
function newStep(type, document) {
  const taken = new Set(JSON.stringify(document).match(/"name":"[^"]*"/g) ?? []);
  const free = (/** @type {string} */ wish) => {
    for (let count = 1; ; count += 1) {
      const name = count === 1 ? wish : `${wish}${count}`;
      if (!taken.has(`"name":"${name}"`)) return name;
    }
  };
  /** @type {{[type: string]: FlowStep}} */
  const made = {
    code: { source: "export default (input, ctx) => {\n  return input;\n};\n", input: "{{ trigger }}" }, render: { template: "", data: "{{ trigger }}", format: "pdf" },
    http: { method: "GET", url: "" }, loop: { items: "trigger.items", steps: [] }, branch: { branches: [{ name: "first", when: "true", steps: [] }] },
    wait: { delayMs: 1000 }, respond: { body: {} }, piece: { piece: "text", action: "upper", input: { text: "" } }, convert: { file: "{{ trigger.file }}", to: "pdf" }, merge: { files: [] }, store: { operation: "get", key: "key" },
  };
  return { name: free(type), type, ...made[type] };
}

/**
 * @param {string} name
 * @param {Session} session
 */
async function load(name, session) {
  const response = await request("GET", `flows/${name}`);
  const flow = /** @type {FlowDefinition} */ (await response.json());
  const { published = null } = /** @type {{published?: number}} */ (await json("GET", `flows/${name}/versions?limit=1`));
  const { runs } = may(session, "runs")
    ? /** @type {{runs: RunEntry[]}} */ (await json("GET", `runs?flow=${encodeURIComponent(name)}&limit=200`)) : { runs: [] };
  const base = baseOf(runs) ?? runs[0];
  const last = base ? /** @type {RunEntry} */ (await json("GET", `runs/${base.id}`)) : null;
  return { flow, version: tagOf(response) ?? 0, published, runs, last };
}

/**
 * Time and state of each step in the last run.
 * @param {RunEntry | null} run
 * @returns {LastTimes}
 */
function lastTimes(run) {
  const found = new Map();
  for (const report of run?.steps ?? []) {
    const name = report.path.slice(report.path.lastIndexOf(".") + 1).replace(/\[\d+\]$/, "");
    found.set(name, { time: duration((report.durationUs ?? 0) / 1000), error: Boolean(report.error) });
  }
  return found;
}

/** @param {{editing: EditedFlow, found: Loaded, session: Session, locked: boolean, changed: boolean, busy: boolean, onSave: () => void, onPublish: () => void}} props */
function FlowHead({ editing, found, session, locked, changed, busy, onSave, onPublish }) {
  const { key } = editing;
  return html`<header class="head">
    <div class="grow">
      <p class="small crumbs row"><a href="#/flows">${t("Flows")}</a><${Icon} name="chevron" /><code>${key}</code></p>
      <h1 class="row">
        ${editing.document.value.name || key} ${found.published ? html`<span class="badge ok">${t("v{version} live", { version: found.published })}</span>` : html`<span
            class="badge warn">${t("Draft only")}</span>`}
        ${changed && html`<span class="badge on">${t("Not saved")}</span>`}</h1></div>
    ${!locked && html`<${UndoButtons} editing=${editing} />`}
    ${may(session, "runs") && html`<a class="button" href=${`#/runs?flow=${key}`}><${Icon} name="runs" />${t("Runs")}</a>`}
    ${!locked && html`<button type="button" class="button" disabled=${!changed || busy} onClick=${onSave}>${t("Save")}</button>`}
    ${may(session, "publish") && html`<button type="button" class="button primary" disabled=${changed || busy || found.published === editing.version} onClick=${onPublish}>${t("Publish v{version}", { version: editing.version })}</button>`}</header>`;
}

/** @param {{problems: Diagnostic[]}} props */
function Problems({ problems }) {
  return html`<ul class="notice bad problems-of-flow">${problems.map((one) => html`<li>
    ${one.message} <code class="small">${one.path}</code></li>`)}</ul>`;
}

/** @param {{editing: EditedFlow, onChoose: () => void}} props */
function Begin({ editing, onChoose }) {
  const flow = editing.document.value;
  const all = [
    { pointer: "", icon: "flow", title: flow.name || editing.key, text: flow.description ?? t("Key, secrets, limits") },
    { pointer: "/trigger", icon: "trigger", title: t("Trigger"), text: flow.trigger?.type ?? "" },
  ];
  const choose = (/** @type {string} */ pointer) => {
    editing.selected.value = pointer;
    onChoose();
  };
  return all.map(({ pointer, icon, title, text }) => html`<button type="button" key=${icon} aria-pressed=${editing.selected.value === pointer}
      class=${names("step", icon, editing.selected.value === pointer && "chosen")} onClick=${() => choose(pointer)}>
    <${Icon} name=${stepIcon(icon)} /><span class="grow cut"><b class="cut">${title}</b><small class="quiet cut">${text}</small></span></button>`);
}

/** @param {{found: Loaded, version: number, trigger: Signal<Json>, mayRun: boolean, changed: boolean, onRun: () => void}} props */
function FlowTest({ found, version, trigger, mayRun, changed, onRun }) {
  return html`<div class="flow-test">
  <p class="small quiet">${t("Runs version {version} with this as its trigger.", { version })}</p>
  <label class="away" for="flow-trigger">${t("Trigger")}</label>
  <${JsonControl} id="flow-trigger" label=${t("Trigger")} value=${trigger.value}
      onChange=${(/** @type {Json | undefined} */ next) => { trigger.value = next ?? {}; }} />
  <p class="field-box">
    <button type="button" class="button" disabled=${!mayRun} title=${changed ? t("Save first") : ""} onClick=${onRun}>
      <${Icon} name="play" />${t("Run with this")}</button></p>
  <h2 class="field-box">${t("Last runs")}</h2>
  ${found.runs.length === 0 ? html`<p class="quiet">${t("No runs yet")}</p>` : html`<ul>${found.runs.slice(0, SHOWN).map((run) => html`<li
      class="row last-run" key=${run.id}>
    <${State} name=${run.state} /><a class="mono" href=${`#/runs/${run.id}`}>${run.id}</a><span class="grow"></span>
    <span class="small quiet">${when(run.createdAt)}</span></li>`)}</ul>`}</div>`;
}

/**
 * The page of a flow.
 * @param {{name: string, session: Session}} props
 */
export function Flow({ name, session }) {
  const { value, error, again } = useLoaded(async () => ({ found: await load(name, session), root: await schemaOfKind("flow") }), [name]);
  const editing = useMemo(() => new EditedFlow(name), [name]);
  const problems = useSignal(/** @type {Diagnostic[]} */ ([]));
  const busy = useSignal(false);
  const view = useSignal("form");
  const adding = useSignal(/** @type {Place | null} */ (null));
  const trigger = useSignal(/** @type {Json} */ (memory.get(`trigger.${name}`) ?? {}));
  useEffect(() => { if (value) editing.begin(value.found.flow, value.found.version); }, [value]);
  useEffect(() => { if (value) editing.see(value.found.last, trigger.value); }, [value, trigger.value]);
  useUndoKeys(editing);
  // Read before anything is returned, so that what is shown follows it.
  const flow = editing.document.value;
  if (error) return html`<main class="content"><${Failure} error=${error} onRetry=${again} /></main>`;
  if (!value || !editing.version) return html`<main class="content"><${Loading} /></main>`;
  const { found, root } = value;
  // The version that is edited: the flow that is found is read again only after this was saved.
  const { version, isChanged: changed } = editing;
  const locked = !session.mayChange;
  // A change beside what is written as JSON and is none yet would replace it.
  const held = locked || editing.broken.value !== null;
  const show = (/** @type {string} */ kind) => { if (kind === view.value || !isUnfinished(editing)) view.value = kind; };
  const attempt = async (/** @type {() => Promise<void>} */ work) => {
    busy.value = true;
    problems.value = [];
    try { await work(); } catch (failure) {
      problems.value = failure instanceof Problem ? failure.diagnostics : [];
      // The tab of this browser that has saved it may keep nothing any more.
      if (statusOf(failure) === 412) editing.keep();
      say(statusOf(failure) === 412 ? t("Somebody has changed this flow meanwhile: reload to see it. Undo then brings back what you have not saved.") : asError(failure).message, true);
    }
    busy.value = false;
  };
  const save = () => attempt(async () => {
    const saved = await editing.save();
    say(t("Saved as version {version}, not published yet.", { version: saved }));
    again();
  });
  const publish = () => attempt(async () => {
    await request("POST", `flows/${name}/publication`, { body: { version: editing.version } });
    say(t("Version {version} is live.", { version }));
    again();
  });
  const test = () => attempt(async () => {
    memory.set(`trigger.${name}`, trigger.value);
    const run = /** @type {{run: string}} */ (await json("POST", `flows/${name}/runs?version=${version}`, { body: trigger.value }));
    location.hash = `#/runs/${run.run}`;
  });
  const step = stepAt(flow, editing.selected.value);
  const tabs = [["form", t("Step")], ["json", "JSON"], ["test", t("Test")]];
  return html`<main class="content flow-page">
    <${FlowHead} ...${{ editing, found, session, locked, changed, busy: busy.value }} onSave=${save} onPublish=${publish} />
    ${problems.value.length > 0 && html`<${Problems} problems=${problems.value} />`}
    <div class="flow">
      <section class="map" aria-label=${t("Steps")}>
        <${Begin} editing=${editing} onChoose=${() => show("form")} />
        <${Steps} list="/steps" steps=${flow.steps} ...${{ editing, problems: problems.value, locked: held, last: lastTimes(found.last) }}
            onAdd=${(/** @type {string} */ list, /** @type {number} */ index) => { adding.value = { list, index }; }} /></section>
      <section class="flow-side" aria-label=${t("Properties")}>
        <div class="tabs" role="tablist">${tabs.map(([kind, label]) => html`<button type="button" role="tab" aria-selected=${view.value === kind}
            onClick=${() => show(kind)}>${label}</button>`)}</div>
        ${view.value === "form" && html`<${Form} ...${{ editing, root, problems: problems.value, locked: held }} />
          ${step && may(session, "runs") && html`<${StepTest} key=${step.name} step=${step} runs=${found.runs} version=${version} changed=${changed} mayPublish=${may(session, "publish")} />`}`}
        ${view.value === "json" && html`<div class="flow-json"><${JsonView} ...${{ editing, root, problems: problems.value, locked }} /></div>`}
        ${view.value === "test" && html`<${FlowTest} ...${{ found, version, trigger, mayRun: !busy.value && !changed && may(session, "publish"), changed }} onRun=${test} />`}</section></div>
    ${adding.value && html`<${AddStep} root=${root} onClose=${() => { adding.value = null; }}
        onChoose=${(/** @type {string} */ type) => {
          if (adding.value) editing.add(adding.value, type);
          view.value = "form";
          adding.value = null;
        }} />`}</main>`;
}

/**
 * The step at or around what is chosen.
 * @param {FlowDefinition} flow
 * @param {string} pointer
 */
function stepAt(flow, pointer) {
  const at = /^(.*\/(?:steps|otherwise)\/\d+)/.exec(pointer);
  const found = /** @type {FlowStep | undefined} */ (at ? get(flow, at[1]) : undefined);
  return typeof found?.name === "string" ? found : null;
}

/** @param {{root: Schema, onClose: () => void, onChoose: (type: string) => void}} props */
function AddStep({ root, onClose, onChoose }) {
  const types = typesOf(root, "Step");
  return html`<${Dialog} wide title=${t("Add a step")} onClose=${onClose}>
    <div class="palette">${types.map((one) => html`<button type="button" class="palette-item" key=${one.type} onClick=${() => onChoose(one.type)}>
      <${Icon} name=${stepIcon(one.type)} /><span><b>${t(words(one.type))}</b><small>${described(one.about)}</small></span></button>`)}</div>
    <div class="ends"><button type="button" class="button" onClick=${onClose}>${t("Cancel")}</button></div></${Dialog}>`;
}
