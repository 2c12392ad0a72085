// Executes one step of a flow with what the steps before it gave in a run, and shows what it gives.

/** @import { FlowStep, RunEntry, StepReport } from "./types.js" */

import { html, useEffect, useRef, useSignal } from "./base.js";
import { asError, json } from "./api.js";
import { ENDED, shownJson } from "./run.js";
import { State } from "./runs.js";
import { Failure } from "./parts.js";
import { Icon } from "./icons.js";
import { t, tn, when, duration } from "./text.js";

/** Times between two looks at the run, in milliseconds: the first, and the longest. */
const SOON = 150;
const LATE = 3_000;
/** Longest pause between attempts that is waited for here, in milliseconds. */
const PAUSE_MS = 60_000;
/** Most executions of a step in a loop that are shown. */
const MOST = 5;

/**
 * The run whose outputs a test begins with: the last whole one that succeeded, or else that is over.
 * @param {RunEntry[]} runs newest first
 */
export function baseOf(runs) {
  const whole = runs.filter((run) => ENDED.has(run.state) && !run.isPartial);
  return whole.find((run) => run.state === "succeeded") ?? whole[0] ?? null;
}

/** @param {{report: StepReport}} props */
function Execution({ report }) {
  const log = report.log ?? [];
  return html`<div class="field-box">
    <p class="small quiet">${report.path} · ${duration((report.durationUs ?? 0) / 1000)}</p>
    ${report.error && html`<p class="bad-text">${report.error.message}</p>`}
    ${report.input !== undefined && html`<details><summary>${t("Input")}</summary><pre class="program" tabindex="0">${shownJson(report.input)}</pre></details>`}
    ${log.length > 0 && html`<pre class="program" tabindex="0" aria-label=${t("Log")}>${log.map((line) => `${line.level}: ${line.text}`).join("\n")}</pre>`}
    ${report.output !== undefined && html`<pre class="program" tabindex="0" aria-label=${t("Output")}>${shownJson(report.output)}</pre>`}</div>`;
}

/** @param {{run: RunEntry, name: string}} props */
function Result({ run, name }) {
  const own = (run.steps ?? []).filter((one) => one.path.split(".").some((part) => part.replace(/\[\d+\]$/, "") === name));
  const rest = own.length - MOST;
  // Steps that only wait or answer have no report of their own.
  const given = run.answer?.body ?? run.output;
  const without = run.error?.message ?? (given === undefined || given === null ? t("It gave nothing: it was skipped, or is not reached with this data.") : null);
  return html`<div>
    ${own.slice(0, MOST).map((report, index) => html`<${Execution} key=${index} report=${report} />`)}
    ${rest > 0 && html`<p class="small quiet">${tn(rest, "and one more", "and {count} more")}</p>`}
    ${own.length === 0 && ENDED.has(run.state) && (without ? html`<p class="quiet">${without}</p>` : html`<pre class="program" tabindex="0"
      aria-label=${t("Output")}>${shownJson(given)}</pre>`)}</div>`;
}

/**
 * The test of a step, below its form. Only who publishes executes a version that no run has executed.
 * @param {{step: FlowStep, runs: RunEntry[], version: number, changed: boolean, mayPublish: boolean}} props
 */
export function StepTest({ step, runs, version, changed, mayPublish }) {
  const run = useSignal(/** @type {RunEntry | null} */ (null));
  const failure = useSignal(/** @type {Error | null} */ (null));
  const busy = useSignal(false);
  const gone = useRef(false);
  useEffect(() => () => { gone.current = true; }, []);
  const base = baseOf(runs);
  const isSame = base?.version === version;
  const reason = changed ? t("Save first") : isSame || mayPublish ? "" : t("Only those who publish execute a version that is not published.");
  const start = async () => {
    busy.value = true;
    failure.value = null;
    try {
      const body = { only: step.name, ...(isSame ? {} : { version }) };
      const started = /** @type {{run: string}} */ (await json("POST", `runs/${base?.id}/retry`, { body }));
      for (let pause = SOON; !gone.current; pause = Math.min(LATE, pause * 1.5)) {
        run.value = /** @type {RunEntry} */ (await json("GET", `runs/${started.run}`));
        const { state, wakesAt } = run.value;
        // What waits may do so for days: its page shows how it goes on. Pauses between attempts are short.
        const isLong = !(wakesAt && Date.parse(wakesAt) - Date.now() < PAUSE_MS);
        if (ENDED.has(state) || (state === "waiting" && isLong)) break;
        await new Promise((done) => { setTimeout(done, pause); });
      }
    } catch (error) {
      failure.value = asError(error);
    }
    busy.value = false;
  };
  return html`<section class="step-test" aria-label=${t("Test this step")}>
    <h3>${t("Test this step")}</h3>
    ${base ? html`<p class="small quiet">${t("With what the steps before it gave in the run of {when}; no other step is executed.", { when: when(base.createdAt) })}</p>
      <button type="button" class="button" disabled=${reason !== "" || busy.value} title=${reason} onClick=${start}>
        <${Icon} name="play" />${t("Execute this step")}</button>` : html`<p class="small quiet">
      ${t("Run the flow once under Test: its outputs are what this step begins with.")}</p>`}
    ${reason && base && html`<p class="small quiet">${reason}</p>`}
    ${failure.value && html`<${Failure} error=${failure.value} />`}
    <p class="row" role="status">${run.value && html`<${State} name=${run.value.state} /><a class="mono" href=${`#/runs/${run.value.id}`}>${run.value.id}</a>`}</p>
    ${run.value && html`<${Result} run=${run.value} name=${step.name} />`}</section>`;
}
