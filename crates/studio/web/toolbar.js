// The bar above the pages: the view, the problems, the zoom.

/** @import { Signal } from "./vendor-signals.js" */
/** @import { Preview } from "./preview.js" */

import { html, names } from "./base.js";
import { grouped } from "./drawer.js";
import { Icon } from "./icons.js";
import { t, tn, duration } from "./text.js";

/** One step of the zoom, and its ends. */
const STEP = 0.15;
const [SMALLEST, LARGEST] = [0.25, 4];

/**
 * The bar.
 * @param {{preview: Preview, view: string, onView: (name: string) => void, zoom: Signal<"fit" | number>, drawer: Signal<boolean>, tab: Signal<string>, strip: Signal<boolean>}} props
 */
export function Toolbar({ preview, view, onView, zoom, drawer, tab, strip }) {
  const problems = preview.problems.value;
  const change = (/** @type {number} */ by) => {
    const now = zoom.value === "fit" ? 1 : zoom.value;
    zoom.value = Math.min(LARGEST, Math.max(SMALLEST, Math.round((now + by) * 100) / 100));
  };
  return html`<div class="row toolbar">
    <div class="segments" role="tablist" aria-label=${t("View")}>${[["design", t("Design")], ["json", "JSON"]].map(([name, label]) => html`<button
        type="button" role="tab" aria-selected=${view === name} onClick=${() => onView(name)}>${label}</button>`)}</div>
    ${view === "design" && preview.pageCount.value > 1 && html`<button type="button" class="button plain num" aria-pressed=${strip.value}
        onClick=${() => { strip.value = !strip.value; }}><${Icon} name="page" />${t("Page {page} of {count}", { page: preview.inView.value[0], count: preview.pageCount.value })}</button>`}
    <span class="grow"></span>
    ${problems.length > 0 && html`<button type="button"
        class=${names("badge", problems.some((one) => one.severity === "error") ? "bad" : "warn", "as-button")}
        onClick=${() => { drawer.value = true; tab.value = "problems"; }}>${tn(grouped(problems).length, "{count} problem", "{count} problems")}</button>`}
    <span class="small quiet num" title=${t("Time of the last preview")}>${preview.time.value !== null && duration(preview.time.value)}</span>
    <button type="button" class="button plain icon" aria-label=${t("Smaller")} onClick=${() => change(-STEP)}>
      <${Icon} name="minus" /></button>
    <button type="button" class="button plain num" title=${t("Fit to the width")} onClick=${() => { zoom.value = "fit"; }}>${zoom.value === "fit" ? t("Fit") : `${Math.round(zoom.value * 100)} %`}</button>
    <button type="button" class="button plain icon" aria-label=${t("Larger")} onClick=${() => change(STEP)}>
      <${Icon} name="plus" /></button>
    ${!drawer.value && html`<button type="button" class="button plain" onClick=${() => { drawer.value = true; }}>
      <${Icon} name="data" />${t("Data")}</button>`}</div>`;
}
