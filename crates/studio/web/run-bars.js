// How many runs of the list there were over time, by how they ended.

/** @import { RunEntry } from "./types.js" */

import { html } from "./base.js";
import { number, t, when } from "./text.js";

/** Most bars. */
const MOST = 48;
/** Shortest time of a bar, in milliseconds. */
const LEAST = 60_000;
/** Groups of states, from below. */
const GROUPS = /** @type {const} */ (["ok", "on", "bad"]);

/** @param {RunEntry} run */
const groupOf = ({ state }) => (state === "succeeded" ? "ok" : ["failed", "dead", "timed-out"].includes(state) ? "bad" : "on");

/**
 * Runs by time: from the oldest to now.
 * @param {RunEntry[]} runs
 */
function counted(runs) {
  const end = Date.now();
  const begin = Math.min(...runs.map((run) => Date.parse(run.createdAt)));
  const each = Math.max(LEAST, (end - begin + 1) / MOST);
  const bars = Array.from({ length: Math.ceil((end - begin + 1) / each) }, (_, index) => ({ at: begin + index * each, ok: 0, on: 0, bad: 0 }));
  for (const run of runs) bars[Math.min(bars.length - 1, Math.max(0, Math.floor((Date.parse(run.createdAt) - begin) / each)))][groupOf(run)] += 1;
  return bars;
}

/**
 * The bars.
 * @param {{runs: RunEntry[]}} props
 */
export function RunBars({ runs }) {
  const bars = counted(runs);
  const most = Math.max(1, ...bars.map((bar) => bar.ok + bar.on + bar.bad));
  const sum = (/** @type {typeof GROUPS[number]} */ group) => number(bars.reduce((all, bar) => all + bar[group], 0));
  const text = t("{ok} succeeded, {on} open or cancelled, {bad} failed, since {when}", { ok: sum("ok"), on: sum("on"), bad: sum("bad"), when: when(bars[0].at) });
  return html`<figure class="run-bars">
    <div class="run-bars-plot" role="img" aria-label=${text}>${bars.map((bar) => html`<span key=${bar.at}
        title=${`${when(bar.at)}: ${bar.ok + bar.on + bar.bad}`}>${GROUPS.map((group) => bar[group] > 0 && html`<i class=${group}
            style=${{ height: `max(3px, ${(bar[group] / most) * 100}%)` }}></i>`)}</span>`)}</div>
    <figcaption class="small quiet num">${text}</figcaption></figure>`;
}
