// The list of runs, live, with filters.

/** @import { FlowEntry, RunEntry } from "./types.js" */
/** @typedef {{runs: RunEntry[], next?: string | null}} RunList */

import { html, useSignal, useEffect } from "./base.js";
import { asError, json, list } from "./api.js";
import { Failure, Loading } from "./parts.js";
import { RunBars } from "./run-bars.js";
import { t, when, duration } from "./text.js";

/** Time between looks at the list, in milliseconds. */
const PERIOD = 3000;
/** Hours back that the list may be limited to. */
const SPANS = [1, 24, 168, 720];
const STATES = ["queued", "running", "waiting", "succeeded", "failed", "cancelled", "timed-out", "dead"];

/** @type {{[state: string]: string}} */
const classes = { succeeded: "ok", failed: "bad", dead: "bad", "timed-out": "bad", running: "on", waiting: "warn" };
/**
 * Words for the states of runs.
 * @returns {{[state: string]: string}}
 */
const words = () => ({
  queued: t("queued"), running: t("running"), waiting: t("waiting"), succeeded: t("succeeded"), failed: t("failed"),
  cancelled: t("cancelled"), "timed-out": t("timed out"), dead: t("dead letter"),
});

/**
 * The state of a run as a badge.
 * @param {{name: string}} props
 */
export const State = ({ name }) => html`<span class=${`badge ${classes[name] ?? ""}`}>${words()[name] ?? name}</span>`;

/**
 * Milliseconds from the start of a run to its end.
 * @param {RunEntry} run
 */
export const lasted = (run) => (run.endedAt ? Date.parse(run.endedAt) - Date.parse(run.createdAt) : null);

/**
 * What a list says of a run besides its state.
 * @param {RunEntry} run
 */
function happened({ error, retryOf }) {
  if (error?.message) return `${error.step ? `${error.step}: ` : ""}${error.message}`.slice(0, 120);
  return retryOf ? t("retry of {id}", { id: retryOf }) : "";
}

/**
 * Words for the last hours.
 * @param {number} hours
 */
const span = (hours) => (hours === 1 ? t("Last hour") : hours === 24 ? t("Last day") : t("Last {n} days", { n: hours / 24 }));

/** @param {{runs: RunEntry[]}} props */
function RunTable({ runs }) {
  return html`<table class="table of-runs">
  <thead>
    <tr>
      <th>${t("State")}</th><th>${t("Run")}</th><th>${t("Flow")}</th><th>${t("What happened")}</th><th class="end">${t("Time")}</th>
      <th class="end">${t("Started")}</th></tr></thead>
  <tbody>${runs.map((run) => html`<tr key=${run.id}>
    <td class="state"><${State} name=${run.state} /></td><td class="id"><a class="whole mono" href=${`#/runs/${run.id}`}>${run.id}</a></td>
    <td class="flow-of">${run.flow}${run.version ? html` <span class="small quiet">v${run.version}</span>` : ""}</td>
    <td class="what quiet">${happened(run)}</td>
    <td class="time end num">${lasted(run) !== null ? duration(lasted(run) ?? 0) : "–"}</td>
    <td class="when end num">${when(run.createdAt)}</td></tr>`)}</tbody></table>`;
}

/** The page of runs. */
export function Runs() {
  const query = new URLSearchParams(location.hash.split("?")[1] ?? "");
  const flow = query.get("flow") ?? "";
  const state = query.get("state") ?? "";
  const hours = Number(query.get("hours") ?? 0);
  const runs = useSignal(/** @type {RunEntry[] | null} */ (null));
  const next = useSignal(/** @type {string | null} */ (null));
  const more = useSignal(/** @type {RunEntry[]} */ ([]));
  const failure = useSignal(/** @type {Error | null} */ (null));
  const flows = useSignal(/** @type {FlowEntry[]} */ ([]));
  const address = (/** @type {string | null} */ after = null) => {
    const since = hours > 0 && new Date(Date.now() - hours * 3_600_000).toISOString();
    const all = new URLSearchParams({
      limit: "50", ...(flow && { flow }), ...(state && { state }), ...(since && { since }), ...(after && { after }),
    });
    return `runs?${all}`;
  };
  useEffect(() => {
    let timer = 0;
    let gone = false;
    const look = async () => {
      try {
        if (!document.hidden) {
          const found = /** @type {RunList} */ (await json("GET", address()));
          if (gone) return;
          runs.value = found.runs;
          if (more.value.length === 0) next.value = found.next ?? null;
          failure.value = null;
        }
      } catch (error) {
        failure.value = asError(error);
      }
      if (!gone) timer = setTimeout(look, PERIOD);
    };
    look();
    list("flows", "flows").then((found) => { flows.value = /** @type {FlowEntry[]} */ (found); }, () => {});
    return () => { gone = true; clearTimeout(timer); };
  }, []);
  const filter = (/** @type {string} */ name, /** @type {string} */ value) => {
    const all = new URLSearchParams(query);
    if (value) all.set(name, value); else all.delete(name);
    location.hash = all.size ? `#/runs?${all}` : "#/runs";
  };
  const older = async () => {
    const found = /** @type {RunList} */ (await json("GET", address(next.value)));
    more.value = [...more.value, ...found.runs];
    next.value = found.next ?? null;
  };
  const known = new Set((runs.value ?? []).map((one) => one.id));
  const all = [...(runs.value ?? []), ...more.value.filter((one) => !known.has(one.id))];
  return html`<main class="content">
    <header class="head"><h1>${t("Runs")}</h1><span class="small quiet">${t("live")}</span></header>
    <div class="filters">
      <select class="select" aria-label=${t("Flow")} value=${flow} onChange=${(event) => filter("flow", event.currentTarget.value)}>
        <option value="">${t("All flows")}</option>
        ${flows.value.map((one) => html`<option value=${one.key} selected=${one.key === flow}>${one.name || one.key}</option>`)}</select>
      <select class="select" aria-label=${t("State")} value=${state} onChange=${(event) => filter("state", event.currentTarget.value)}>
        <option value="">${t("All states")}</option>
        ${STATES.map((one) => html`<option value=${one} selected=${one === state}>${words()[one]}</option>`)}</select>
      <select class="select" aria-label=${t("Time")} value=${hours > 0 ? String(hours) : ""} onChange=${(event) => filter("hours", event.currentTarget.value)}>
        <option value="">${t("Any time")}</option>
        ${SPANS.map((one) => html`<option value=${one} selected=${one === hours}>${span(one)}</option>`)}</select></div>
    ${failure.value && html`<${Failure} error=${failure.value} />`}${!runs.value && !failure.value && html`<${Loading} />`}
    ${runs.value && all.length === 0 && html`<div class="empty">
      <h2>${flow || state || hours ? t("No run matches the filter") : t("No runs yet")}</h2>
      <p>${t("A run appears here when a flow is started, by a webhook or by hand.")}</p>
      ${(flow || state || hours > 0) && html`<a class="button" href="#/runs">${t("Show all")}</a>`}</div>`}
    ${all.length > 0 && html`<${RunBars} runs=${all} />`}
    ${all.length > 0 && html`<${RunTable} runs=${all} />`}
    ${next.value && html`<p class="field-box"><button type="button" class="button" onClick=${older}>${t("Show older runs")}</button></p>`}</main>`;
}
