// Executes one step of a flow with what the steps before it gave in a run, and shows what it gives.

/** @import { FlowStep, RunEntry, StepReport } from "./types.js" */

import { html, useEffect, useRef, useSignal } from "./base.js";
import { asError, json } from "./api.js";
import { ENDED, shownJson } from "./run.js";
import { State } from "./runs.js";
import { Failure } from "./parts.js";
import { Icon } from "./icons.js";
import { t, tn, when, duration } from "./text.js";

/** Time between two looks at the run, in milliseconds. */
const PAUSE = 250;
/** Most executions of a step in a loop that are shown. */
const MOST = 5;

/**
 * The run whose outputs a test begins with: the last whole one that is over.
 * @param {RunEntry[]} runs newest first
 */
export function baseOf(runs) {
  const over = runs.filter((run) => ENDED.has(run.state));
  return over.find((run) => !run.retryOf) ?? over[0] ?? null;
}

/** @param {{report: StepReport}} props */
function Execution({ report }) {
  const log = report.log ?? [];
  return html`<div class="field-box">
    <p class="small quiet">${report.path} · ${duration((report.durationUs ?? 0) / 1000)}</p>
    ${report.error && html`<p class="bad-text">${report.error.message}</p>`}
    ${report.input !== undefined && html`<details><summary>${t("Input")}</summary><pre tabindex="0">${shownJson(report.input)}</pre></details>`}
    ${log.length > 0 && html`<pre tabindex="0" aria-label=${t("Log")}>${log.map((line) => `${line.level}: ${line.text}`).join("\n")}</pre>`}
    ${report.output !== undefined && html`<pre tabindex="0" aria-label=${t("Output")}>${shownJson(report.output)}</pre>`}</div>`;
}

/** @param {{run: RunEntry, name: string}} props */
function Result({ run, name }) {
  const own = (run.steps ?? []).filter((one) => one.path.split(".").some((part) => part.replace(/\[\d+\]$/, "") === name));
  const rest = own.length - MOST;
  return html`<div role="status">
    <p class="row"><${State} name=${run.state} /><a class="mono" href=${`#/runs/${run.id}`}>${run.id}</a></p>
    ${own.slice(0, MOST).map((report, index) => html`<${Execution} key=${index} report=${report} />`)}
    ${rest > 0 && html`<p class="small quiet">${tn(rest, "and one more", "and {count} more")}</p>`}
    ${own.length === 0 && ENDED.has(run.state) && html`<p class="quiet">${run.error?.message ?? t("The step was not reached: what leads to it was skipped.")}</p>`}</div>`;
}

/**
 * The test of a step, below its form.
 * @param {{step: FlowStep, runs: RunEntry[], version: number, changed: boolean, mayRun: boolean}} props
 */
export function StepTest({ step, runs, version, changed, mayRun }) {
  const run = useSignal(/** @type {RunEntry | null} */ (null));
  const failure = useSignal(/** @type {Error | null} */ (null));
  const busy = useSignal(false);
  const gone = useRef(false);
  useEffect(() => () => { gone.current = true; }, []);
  const base = baseOf(runs);
  const start = async () => {
    busy.value = true;
    failure.value = null;
    try {
      const started = /** @type {{run: string}} */ (await json("POST", `runs/${base?.id}/retry`, { body: { only: step.name, version } }));
      do {
        run.value = /** @type {RunEntry} */ (await json("GET", `runs/${started.run}`));
        if (ENDED.has(run.value.state)) break;
        await new Promise((done) => { setTimeout(done, PAUSE); });
      } while (!gone.current);
    } catch (error) {
      failure.value = asError(error);
    }
    busy.value = false;
  };
  return html`<section class="step-test" aria-label=${t("Test this step")}>
    <h3>${t("Test this step")}</h3>
    ${base ? html`<p class="small quiet">${t("With what the steps before it gave in the run of {when}.", { when: when(base.createdAt) })}</p>
      <button type="button" class="button" disabled=${!mayRun || changed || busy.value} title=${changed ? t("Save first") : ""} onClick=${start}>
        <${Icon} name="play" />${t("Execute this step")}</button>` : html`<p class="small quiet">
      ${t("Run the flow once under Test: its outputs are what this step begins with.")}</p>`}
    ${failure.value && html`<${Failure} error=${failure.value} />`}
    ${run.value && html`<${Result} run=${run.value} name=${step.name} />`}</section>`;
}
