// Operations: what works, what waits, and how much, from the metrics of the service.

/**
 * @typedef {{sums: Map<string, number>, all: {name: string, labels: {[name: string]: string}, value: number}[]}} Samples
 * @typedef {Samples & {at: number}} Look
 * @typedef {(now: Look, before?: Look) => number | null} Measure
 */

import { html, useSignal, useEffect } from "./base.js";
import { asError, json, request, statusOf } from "./api.js";
import { Failure, Loading } from "./parts.js";
import { bytes, duration, number, t } from "./text.js";

/** Time between looks, in milliseconds. */
const PERIOD = 5000;
/** @type {{[backend: string]: string}} */
const NAMES = { chromium: "Chromium", libreoffice: "LibreOffice" };
/** How many looks a plot shows: five minutes. */
const LOOKS = 60;

/**
 * The samples of the text format of Prometheus: sums by name, and all of them with their labels.
 * @param {string} text
 * @returns {Samples}
 */
function parse(text) {
  const sums = /** @type {Samples["sums"]} */ (new Map());
  const all = /** @type {Samples["all"]} */ ([]);
  for (const line of text.split("\n")) {
    const found = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? ([^ ]+)$/.exec(line);
    if (!found) continue;
    const [, name, labels = "", value] = found;
    const amount = Number(value);
    sums.set(name, (sums.get(name) ?? 0) + amount);
    all.push({ name, labels: Object.fromEntries([...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key, one]) => [key, one])), value: amount });
  }
  return { sums, all };
}

/**
 * Rate of a counter between two looks, for each second.
 * @param {string} name
 */
const rate = (name) => (/** @type {Look} */ now, /** @type {Look | undefined} */ before) => {
  if (!before) return null;
  const more = (now.sums.get(name) ?? 0) - (before.sums.get(name) ?? 0);
  return Math.max(0, more / ((now.at - before.at) / 1000));
};
/** @param {string} name */
const gauge = (name) => (/** @type {Look} */ now) => now.sums.get(name) ?? 0;
/**
 * Mean of what a summary counted between two looks, in milliseconds.
 * @param {string} name
 */
const mean = (name) => (/** @type {Look} */ now, /** @type {Look | undefined} */ before) => {
  const count = rate(`${name}_count`)(now, before);
  return count ? ((rate(`${name}_sum`)(now, before) ?? 0) / count) * 1000 : null;
};

/** @type {() => {title: string, of: Measure, show: (value: number) => string}[]} */
const plots = () => [
  { title: t("Requests a second"), of: rate("platen_http_requests_total"), show: (value) => number(Math.round(value * 10) / 10) },
  { title: t("Pages a second"), of: rate("platen_render_pages_total"), show: (value) => number(Math.round(value * 10) / 10) },
  { title: t("Mean time of a request"), of: mean("platen_http_request_duration_seconds"), show: duration },
  { title: t("Renderings waiting"), of: gauge("platen_render_queue_depth"), show: number },
  { title: t("Runs waiting"), of: gauge("platen_runs_waiting"), show: number },
  { title: t("Processor"), of: rate("process_cpu_seconds_total"), show: (value) => t("{value} % of a core", { value: number(Math.round(value * 100)) }) },
];

/** @param {{title: string, values: (number | null)[], show: (value: number) => string}} props */
function Plot({ title, values, show }) {
  const known = values.flatMap((value) => value ?? []);
  const most = Math.max(1e-9, ...known);
  const points = values.map((value, index) => (value === null ? null : `${(index / (LOOKS - 1)) * 300},${46 - (value / most) * 42}`)).filter(Boolean);
  const last = values.at(-1) ?? null;
  const said = known.length === 0 ? t("no data yet") : t("now {now}, at most {most}", { now: last === null ? "–" : show(last), most: show(most === 1e-9 ? 0 : most) });
  return html`<figure class="plot">
    <figcaption class="row"><span class="small quiet grow">${title}</span><b class="num">${last === null ? "–" : show(last)}</b></figcaption>
    <svg viewBox="0 0 300 48" preserveAspectRatio="none" role="img" aria-label=${`${title}: ${said}`}>
      <path d="M0 46.500H300" class="axis" />${points.length > 1 && html`<polyline points=${points.join(" ")} />`}</svg>
    <p class="small quiet num">${said}</p></figure>`;
}

/**
 * How full something is; a full one names the setting that makes it larger.
 * @param {{title: string, used: number, total: number, setting: string}} props
 */
function Room({ title, used, total, setting }) {
  const part = total > 0 ? Math.min(1, used / total) : 0;
  return html`<div class="room">
    <div class="row"><span class="grow">${title}</span><b class="num">${number(used)} / ${number(total)}</b></div>
    <div class="meter" role="meter" aria-label=${title} aria-valuenow=${used} aria-valuemin="0" aria-valuemax=${total}>
      <i class=${part >= 1 ? "full" : ""} style=${{ width: `${part * 100}%` }}></i></div>
    ${part >= 1 && total > 0 && html`<p class="small warn-text">${t("All in use: {setting} sets how many there are.", { setting })}</p>`}</div>`;
}

/** The page of operations. */
export function Operations() {
  const looks = useSignal(/** @type {Look[]} */ ([]));
  const failure = useSignal(/** @type {Error | null} */ (null));
  const health = useSignal(/** @type {{details?: {[name: string]: {status: string}}} | null} */ (null));
  useEffect(() => {
    let timer = 0;
    let gone = false;
    const look = async () => {
      if (!document.hidden) {
        try {
          const text = await (await request("GET", "metrics")).text();
          if (gone) return;
          looks.value = [...looks.value, { ...parse(text), at: Date.now() }].slice(-LOOKS);
          failure.value = null;
        } catch (error) {
          failure.value = statusOf(error) === 401 ? new Error(t("The metrics need METRICS_TOKEN, which a session does not have: read them with Prometheus.")) : asError(error);
        }
        health.value = await /** @type {Promise<{details?: {[name: string]: {status: string}}} | null>} */ (json("GET", "health").catch(() => null));
      }
      if (!gone) timer = setTimeout(look, PERIOD);
    };
    look();
    return () => { gone = true; clearTimeout(timer); };
  }, []);
  const all = looks.value;
  const now = all.at(-1);
  const value = (/** @type {string} */ name) => now?.sums.get(name) ?? 0;
  const labelled = (/** @type {string} */ name) => (now?.all ?? []).filter((one) => one.name === name && one.value > 0);
  return html`<main class="content">
    <header class="head"><h1>${t("Operations")}</h1><span class="small quiet">${t("every 5 seconds")}</span></header>
    ${failure.value && html`<${Failure} error=${failure.value} />`}${!now && !failure.value && html`<${Loading} />`}
    ${now && html`<div class="plots">${plots().map((plot) => html`<${Plot} key=${plot.title} title=${plot.title} show=${plot.show}
        values=${all.map((one, index) => plot.of(one, all[index - 1]))} />`)}</div>
      <div class="two">
        <section>
          <h2>${t("In use")}</h2>
          <${Room} title=${t("Slots of renderings")} used=${value("platen_render_slots_in_use")} total=${value("platen_render_slots")}
              setting="MAX_CONCURRENT_PAGES" />
          <${Room} title=${t("Slots of runs")} used=${value("platen_runs_held")} total=${value("platen_run_slots")} setting="FLOW_SLOTS" />
          <dl class="facts">
            <div><dt class="small quiet">${t("Memory")}</dt><dd class="num">${bytes(value("process_resident_memory_bytes"))}</dd></div>
            <div><dt class="small quiet">${t("Connections")}</dt><dd class="num">${number(value("platen_connections"))}</dd></div>
            <div>
              <dt class="small quiet">${t("Stored results")}</dt>
              <dd class="num">${number(value("platen_results_files"))}, ${bytes(value("platen_results_bytes"))}</dd></div></dl></section>
        <section>
          <h2>${t("Backends")}</h2>
          <ul class="backends">${Object.entries(health.value?.details ?? {}).map(([name, one]) => html`<li class="row" key=${name}>
            <span class="grow">${NAMES[name] ?? name}</span>
            <span class=${`badge ${one.status === "up" ? "ok" : "bad"}`}>${one.status === "up" ? t("works") : t("does not work")}</span></li>`)}</ul>
          <h2 class="field-box">${t("Runs that ended")}</h2>
          <ul class="backends">
            ${labelled("platen_runs_ended_total").map((one) => html`<li class="row" key=${one.labels.state}>
              <a class="grow" href=${`#/runs?state=${one.labels.state}`}>${t(one.labels.state.replace("-", " "))}</a>
              <b class="num">${number(one.value)}</b></li>`)}
            ${labelled("platen_runs_ended_total").length === 0 && html`<li class="quiet">${t("none since the start")}</li>`}</ul>
          <h2 class="field-box">${t("Errors")}</h2>
          <ul class="backends">
            ${errors(now).map(([name, count]) => html`<li class="row" key=${name}>
              <code class="grow">${name}</code><b class="num">${number(count)}</b></li>`)}
            ${errors(now).length === 0 && html`<li class="quiet">${t("none since the start")}</li>`}</ul></section></div>`}</main>`;
}

/**
 * Answers of the statuses from 500, by route.
 * @param {Samples} now
 * @returns {[string, number][]}
 */
function errors(now) {
  const found = /** @type {Map<string, number>} */ (new Map());
  for (const one of now.all) {
    if (one.name !== "platen_http_requests_total" || !/^5/.test(one.labels.status ?? "")) continue;
    const name = `${one.labels.status} ${one.labels.method} ${one.labels.route}`;
    found.set(name, (found.get(name) ?? 0) + one.value);
  }
  return [...found].sort((one, other) => other[1] - one[1]).slice(0, 8);
}
