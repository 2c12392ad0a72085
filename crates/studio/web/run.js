// A run: where its time went, what its steps gave, and what can be done about it.

/** @import { RunEntry, StepReport } from "./types.js" */
/**
 * A row of the timeline: its parts have a start, a length, and whether they failed.
 * @typedef {{name: string, kind: "wait" | "work", parts: [number, number, boolean][], about?: string, level: number, reports: StepReport[]}} Bar
 */

import { html, useSignal, useEffect, names } from "./base.js";
import { asError, json, request, root } from "./api.js";
import { Failure, Loading, say, useLoaded } from "./parts.js";
import { Icon } from "./icons.js";
import { State, lasted } from "./runs.js";
import { t, tn, when, duration } from "./text.js";

/** Most characters of a value that are shown. */
const MOST = 20_000;
/** States of runs that are over. */
export const ENDED = new Set(["succeeded", "failed", "cancelled", "timed-out", "dead"]);

/**
 * Bars of the timeline, in microseconds from the arrival of the request.
 * @param {RunEntry} run
 */
function bars(run) {
  const times = run.times ?? {};
  const ingress = times.ingressUs ?? 0;
  const queue = times.queueUs ?? 0;
  const provision = times.provisionUs ?? 0;
  const begin = ingress + queue + provision;
  /** @type {(name: string, at: number, length: number, about: string) => Bar} */
  const wait = (name, at, length, about) => ({ name, kind: "wait", parts: [[at, length, false]], about, level: 0, reports: [] });
  const phases = run.times ? [
    wait(t("Ingress"), 0, ingress, t("until the run was durable")),
    wait(t("Queue"), ingress, queue, t("until a slot took it")),
    wait(t("Provision"), ingress + queue, provision, t("until the slot could start")),
  ] : [];
  /** @type {Map<string, Bar>} */
  const steps = new Map();
  for (const report of run.steps ?? []) {
    /** @type {Bar} */
    const found = steps.get(report.path) ?? { name: report.path, kind: "work", parts: [], reports: [], level: (report.path.match(/\./g) ?? []).length };
    found.parts.push([begin + (report.startedUs ?? 0), report.durationUs ?? 0, Boolean(report.error)]);
    found.reports.push(report);
    steps.set(report.path, found);
  }
  const ordered = [...steps.values()].sort((one, other) => one.parts[0][0] - other.parts[0][0]);
  const total = Math.max(1, begin + (times.runUs ?? 0), ...ordered.flatMap((one) => one.parts.map(([at, length]) => at + length)));
  return { rows: [...phases, ...ordered], total };
}

/**
 * Distances of grid lines: 1, 2 or 5 of a power of ten.
 * @param {number} total
 */
function grid(total) {
  const raw = total / 4;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= raw) ?? 10 * power;
  return Array.from({ length: Math.floor(total / step) + 1 }, (_, index) => index * step);
}

/**
 * A value as JSON, cut.
 * @param {unknown} value
 */
export const shownJson = (value) => {
  const text = JSON.stringify(value, null, 2) ?? "";
  return text.length > MOST ? `${text.slice(0, MOST)}\n… ${t("{count} more characters", { count: text.length - MOST })}` : text;
};

/** @param {{rows: Bar[], total: number, picked: Bar | null, onPick: (name: string) => void}} props */
function Timeline({ rows, total, picked, onPick }) {
  return html`<section aria-label=${t("Timeline")}>
    <div class="time-head" aria-hidden="true">
      <span></span>
      <span class="time-scale">${grid(total).map((at) => html`<i style=${{ left: `${(at / total) * 100}%` }}>${duration(at / 1000)}</i>`)}</span>
      <span></span></div>
    <ul class="timeline">${rows.map((row) => {
      const length = row.parts.reduce((sum, [, one]) => sum + one, 0);
      const isBad = row.parts.some(([, , bad]) => bad);
      return html`<li key=${row.name}>
        <button type="button" class="time-row" aria-pressed=${picked?.name === row.name} onClick=${() => { onPick(row.name); }}>
          <span class="cut" style=${{ paddingLeft: `${row.level * 14}px` }}>${row.kind === "wait" ? html`<span class="quiet">${row.name}</span>` : html`<b>${row.name}</b>`}</span>
          <span class="time-track">${row.parts.map(([at, one, bad], index) => html`<i key=${index} class=${bad ? "bar bad" : `bar ${row.kind}`}
              style=${{ left: `${(at / total) * 100}%`, width: `max(3px, ${(one / total) * 100}%)` }}></i>`)}</span>
          <span class="num end">
            ${duration(length / 1000)}${row.parts.length > 1 ? ` · ${tn(row.parts.length, "{count} try", "{count} tries")}` : ""}
            ${isBad ? html`<span class="away"> ${t("failed")}</span>` : ""}</span></button></li>`;
    })}</ul>
    <p class="legend small">
      <i class="bar wait"></i>${t("Waiting")}<i class="bar work"></i>${t("Step")}<i class="bar bad"></i>${t("Failed try")}</p></section>`;
}

/**
 * The page of a run.
 * @param {{id: string}} props
 */
export function Run({ id }) {
  const { value: run, error, again } = useLoaded(() => /** @type {Promise<RunEntry>} */ (json("GET", `runs/${id}`)), [id]);
  const chosen = useSignal(/** @type {string | null} */ (null));
  const isOpen = run && !ENDED.has(run.state);
  useEffect(() => {
    if (!isOpen) return undefined;
    const events = new EventSource(new URL(`runs/${id}/events`, root));
    let timer = 0;
    const changed = () => { clearTimeout(timer); timer = setTimeout(again, 150); };
    events.addEventListener("step", changed);
    events.addEventListener("state", changed);
    return () => { clearTimeout(timer); events.close(); };
  }, [isOpen, run?.state]);
  const act = async (/** @type {string} */ path, /** @type {object | undefined} */ body, /** @type {string} */ done) => {
    try {
      const answer = await request("POST", `runs/${id}/${path}`, body === undefined ? {} : { body });
      const found = /** @type {{run?: string}} */ (await answer.json().catch(() => ({})));
      say(done);
      if (found.run) location.hash = `#/runs/${found.run}`; else again();
    } catch (failure) {
      say(asError(failure).message, true);
    }
  };
  if (error) return html`<main class="content"><${Failure} error=${error} onRetry=${again} /><p><a href="#/runs">${t("All runs")}</a></p></main>`;
  if (!run) return html`<main class="content"><${Loading} /></main>`;
  const timeline = bars(run);
  const failed = run.error?.step;
  const topStep = failed?.split(/[.[]/)[0];
  const picked = timeline.rows.find((one) => one.name === chosen.value) ?? timeline.rows.find((one) => one.name === failed) ?? null;
  // From the step that is chosen, or the one that failed.
  const from = picked?.kind === "work" ? picked.name.split(/[.[]/)[0] : topStep;
  const total = lasted(run);
  const facts = [
    [t("Started"), when(run.createdAt)], [t("Total"), total === null ? t("running") : duration(total)],
    [t("Started by"), run.lane === "sync" ? t("a caller that waits") : t("a request that does not wait")], [t("Worker"), run.worker ?? "–"],
    ...(run.retryOf ? [[t("Retry of"), html`<a href=${`#/runs/${run.retryOf}`}>${run.retryOf}</a>`]] : []),
  ];
  return html`<main class="content">
    <header class="head">
      <div class="grow">
        <p class="small crumbs row"><a href="#/runs">${t("Runs")}</a><${Icon} name="chevron" /><code>${run.id}</code></p>
        <h1 class="row">${run.flow} <${State} name=${run.state} />${run.version > 0 && html`<span class="small quiet">v${run.version}</span>`}</h1></div>
      <a class="button" href=${`#/flows/${run.flow}`}><${Icon} name="flow" />${t("Open the flow")}</a>
      ${isOpen && html`<button type="button" class="button danger" onClick=${() => act("cancel", undefined, t("The run was cancelled."))}>
        <${Icon} name="stop" />${t("Cancel")}</button>`}
      ${!isOpen && html`<button type="button" class="button"
          onClick=${() => act("retry", { from: (run.steps ?? [])[0]?.path.split(/[.[]/)[0] }, t("Started again from the first step."))}>
        <${Icon} name="retry" />${t("Retry all")}</button>`}
      ${!isOpen && from && html`<button type="button" class=${names("button", topStep && "primary")}
          onClick=${() => act("retry", { from }, t("Started again from {step}.", { step: from }))}>
        <${Icon} name="retry" />${t("Retry from {step}", { step: from })}</button>`}</header>
    <dl class="facts">${facts.map(([name, value]) => html`<div><dt class="small quiet">${name}</dt><dd>${value}</dd></div>`)}</dl>
    ${run.error?.message && html`<div class="notice bad" role="alert">
      <h3>${failed ? t("Failed at {step}", { step: failed }) : t("Failed")}</h3><p>${run.error.message}</p>
      <p class="small">
        <code>${run.error.code}</code>
        ${topStep && topStep !== (run.steps ?? [])[0]?.path ? ` · ${t("The steps before it are not executed again by a retry from here.")}` : ""}</p></div>`}
    <div class="run">
      <${Timeline} ...${{ ...timeline, picked }} onPick=${(/** @type {string} */ name) => { chosen.value = name; }} />
      <section class="step-card" aria-label=${t("Step")}>${picked ? html`<${Step} row=${picked} />` : html`<${Result} run=${run} />`}</section></div></main>`;
}

/** @param {{row: Bar}} props */
function Step({ row }) {
  const log = row.reports.flatMap((one) => one.log ?? []);
  const last = row.reports.at(-1);
  return html`<h2>${row.name}</h2>
    ${row.about && html`<p class="quiet">${row.about}</p>`}
    ${last && html`<p class="small quiet">
      ${t("Sandbox {time}", { time: duration((last.sandboxUs ?? 0) / 1000) })} · ${t("try {count}", { count: last.attempt ?? 1 })}</p>`}
    ${last?.error && html`<div class="notice bad"><h3><code>${last.error.code}</code></h3><p>${last.error.message}</p></div>`}
    ${log.length > 0 && html`<h3 class="field-box">${t("Log")}</h3>
      <pre class="program">${log.map((one) => `${one.level}  ${one.text}`).join("\n")}</pre>`}
    ${last && !last.error && log.length === 0 && last.output === undefined && html`<p class="quiet field-box">${t("It logged nothing.")}</p>`}
    ${last?.input !== undefined && html`<h3 class="field-box">${t("Input")}</h3><pre class="program" tabindex="0">${shownJson(last.input)}</pre>`}
    ${last?.output !== undefined && html`<h3 class="field-box">${t("Output")}</h3><pre class="program" tabindex="0">${shownJson(last.output)}</pre>`}`;
}

/** @param {{run: RunEntry}} props */
function Result({ run }) {
  return html`<h2>${t("Answer")}</h2>
    ${run.answer ? html`<p class="small quiet">${t("Status {status}", { status: run.answer.status })}</p>
      <pre class="program" tabindex="0">${shownJson(run.answer.body)}</pre>` : html`<p class="quiet">${ENDED.has(run.state) ? t("The flow has given no answer.") : t("The run has not answered yet.")}</p>`}
    ${run.output !== undefined && html`<h3 class="field-box">${t("Output of the last step")}</h3>
      <pre class="program" tabindex="0">${shownJson(run.output)}</pre>`}
    ${run.trigger !== undefined && html`<h3 class="field-box">${t("Trigger")}</h3><pre class="program" tabindex="0">${shownJson(run.trigger)}</pre>`}
    <p class="field-box">
      <a class="button" href=${new URL(`runs/${run.id}/output`, root).href} download=${`${run.id}`}>
        <${Icon} name="download" />${t("Download the answer")}</a></p>`;
}
