// The steps of a flow as a map: loops are boxes around their steps, branches stand side by side.

/** @import { EditedDocument } from "./edited-document.js" */
/** @import { Diagnostic, FlowStep, Place } from "./types.js" */
/**
 * @typedef {(list: string, index: number) => void} OnAdd
 * @typedef {Map<string, {time: string, error: boolean}>} LastTimes
 * @typedef {{list: string, steps?: FlowStep[], editing: EditedDocument, problems: Diagnostic[], onAdd: OnAdd, locked: boolean, last: LastTimes}} StepsProps
 */

import { html, names } from "./base.js";
import { Icon } from "./icons.js";
import { t, tn } from "./text.js";

/** @type {{[type: string]: string}} */
const icons = {
  code: "code", render: "document", loop: "repeat", branch: "if", respond: "retry", wait: "history", http: "convert",
  convert: "convert", merge: "copy", store: "data", piece: "use", step: "item", trigger: "play", flow: "flow",
};

/**
 * Icon of a type of steps.
 * @param {string | undefined} type
 */
export const stepIcon = (type) => icons[type ?? ""] ?? "item";

/**
 * What a step does, in one line.
 * @param {FlowStep} step
 */
export function about(step) {
  /** @type {{[type: string]: () => unknown}} */
  const parts = {
    code: () => step.language ?? "js", render: () => `${step.template ?? t("inline template")} → ${step.format ?? "pdf"}`,
    http: () => `${step.method ?? "GET"} ${step.url ?? ""}`, loop: () => step.items, piece: () => `${step.piece}.${step.action}`,
    wait: () => (step.delayMs ? `${step.delayMs} ms` : step.until ?? t("for a callback")), respond: () => t("answers the caller"),
    convert: () => `→ ${step.to}`, store: () => `${step.operation} ${step.key}`,
    branch: () => tn((step.branches ?? []).length + (step.otherwise ? 1 : 0), "{count} way", "{count} ways"),
  };
  return String(parts[step.type ?? ""]?.() ?? "");
}

/**
 * The problem at a step or below it.
 * @param {Diagnostic[]} problems
 * @param {string} pointer
 */
const problemAt = (problems, pointer) => problems.find((one) => one.path === pointer || one.path.startsWith(`${pointer}/`));

/** @param {Place & {onAdd: OnAdd}} props */
function Add({ list, index, onAdd }) {
  return html`<button type="button" class="add-step" aria-label=${t("Add a step here")} title=${t("Add a step here")}
      onClick=${() => onAdd(list, index)}><${Icon} name="plus" /></button>`;
}

/** @param {{step: FlowStep, pointer: string, editing: EditedDocument, problems: Diagnostic[], last: LastTimes}} props */
function Step({ step, pointer, editing, problems, last }) {
  const problem = problemAt(problems, pointer);
  const before = last.get(step.name ?? "");
  return html`<button type="button" class=${names("step", editing.selected.value === pointer && "chosen", problem && "wrong")}
      aria-pressed=${editing.selected.value === pointer} onClick=${() => { editing.selected.value = pointer; }}>
    <${Icon} name=${stepIcon(step.type)} />
    <span class="grow cut"><b class="cut">${step.name ?? t("step")}</b><small class="quiet cut">${step.type} · ${about(step)}</small></span>
    ${problem && html`<span class="mark bad" title=${problem.message}><${Icon} name="error" /><span class="away">${problem.message}</span></span>`}
    ${before && html`<small class=${names("num", before.error ? "bad-text" : "quiet")}>${before.time}</small>`}</button>`;
}

/**
 * A list of steps.
 * @param {StepsProps} props
 */
export function Steps({ list, steps, editing, problems, onAdd, locked, last }) {
  const inner = (/** @type {string} */ name, /** @type {FlowStep[] | undefined} */ all) => ({ list: name, steps: all, editing, problems, onAdd, locked, last });
  return html`<ol class="steps">
    ${(steps ?? []).map((step, index) => {
      const pointer = `${list}/${index}`;
      return html`<li key=${`${step?.name}${index}`}>
        ${!locked && html`<${Add} ...${{ list, index, onAdd }} />`}<${Step} ...${{ step: step ?? {}, pointer, editing, problems, last }} />
        ${step?.type === "loop" && html`<div class="loop"><${Steps} ...${inner(`${pointer}/steps`, step.steps)} /></div>`}
        ${step?.type === "branch" && html`<div class="branches">
          ${(step.branches ?? []).map((branch, at) => html`<div class="branch" key=${at}>
            <button type="button" class="branch-head small" aria-pressed=${editing.selected.value === `${pointer}/branches/${at}`}
                onClick=${() => { editing.selected.value = `${pointer}/branches/${at}`; }}>
              ${branch.name ?? at + 1}: <code>${branch.when ?? ""}</code></button>
            <${Steps} ...${inner(`${pointer}/branches/${at}/steps`, branch.steps)} /></div>`)}
          <div class="branch"><p class="small quiet">${t("otherwise")}</p><${Steps} ...${inner(`${pointer}/otherwise`, step.otherwise)} /></div></div>`}</li>`;
    })}
    ${!locked && html`<li class="end-of-steps"><${Add} ...${{ list, index: (steps ?? []).length, onAdd }} /></li>`}</ol>`;
}
