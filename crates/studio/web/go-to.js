// Go to anything: templates, flows, runs and pages in one field.

/** @import { Ref } from "./vendor-hooks.js" */
/** @import { PageEvent } from "./vendor-htm.js" */
/** @import { DraftEntry, FlowEntry, TemplateEntry } from "./types.js" */
/** @typedef {{place: string, name: string, key: string, icon: string}} Entry */

import { html, useSignal, useEffect, useLayoutEffect, useRef, names } from "./base.js";
import { list } from "./api.js";
import { Dialog } from "./parts.js";
import { Icon } from "./icons.js";
import { t } from "./text.js";

/** Most entries that are shown. */
const MOST = 12;
/** What the ID of a run looks like. */
const RUN = /^[0-9a-z]{20,32}$/;

const pages = () => [
  ["templates", t("Templates"), "document"], ["assets", t("Assets"), "image"], ["flows", t("Flows"), "flow"], ["runs", t("Runs"), "runs"],
  ["runs?state=failed", t("Failed runs"), "error"], ["convert", t("Convert files"), "convert"], ["operations", t("Operations"), "chart"],
  ["audit", t("Audit log"), "history"], ["keys", t("API keys"), "key"], ["templates?new=1", t("New template"), "plus"],
].map(([place, name, icon]) => ({ place, name, key: "", icon }));

/**
 * Everything that can be gone to.
 * @returns {Promise<Entry[]>}
 */
async function load() {
  const [templates, drafts, flows] = await Promise.all([
    /** @type {Promise<TemplateEntry[]>} */ (list("templates", "templates")),
    /** @type {Promise<DraftEntry[]>} */ (list("drafts/templates", "drafts")),
    /** @type {Promise<FlowEntry[]>} */ (list("flows", "flows")),
  ]);
  const keys = new Set(templates.map((one) => one.key));
  const all = [...templates, ...drafts.filter((one) => !keys.has(one.key))];
  return [
    ...all.map((one) => ({ place: `templates/${one.key}`, name: one.name || one.key, key: one.key, icon: "document" })),
    ...flows.map((one) => ({ place: `flows/${one.key}`, name: one.name || one.key, key: one.key, icon: "flow" })),
  ];
}

/**
 * The dialog with the field.
 * @param {{onClose: () => void}} props
 */
export function GoTo({ onClose }) {
  const entries = useSignal(/** @type {Entry[]} */ ([]));
  const text = useSignal("");
  const marked = useSignal(0);
  /** @type {Ref<HTMLInputElement>} */
  const field = useRef(null);
  useLayoutEffect(() => field.current.focus(), []);
  useEffect(() => {
    load().then((found) => { entries.value = found; }, () => {});
  }, []);
  const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (/** @type {Entry} */ one) => words.every((word) => `${one.name} ${one.key}`.toLowerCase().includes(word));
  const run = RUN.test(text.value.trim()) ? [{ place: `runs/${text.value.trim()}`, name: t("Run"), key: text.value.trim(), icon: "runs" }] : [];
  const shown = [...run, ...entries.value.filter(fits), ...pages().filter(fits)].slice(0, MOST);
  const go = (/** @type {Entry} */ one) => {
    onClose();
    location.hash = `#/${one.place}`;
  };
  const keys = (/** @type {PageEvent} */ event) => {
    const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (by !== 0) {
      event.preventDefault();
      marked.value = Math.max(0, Math.min(shown.length - 1, marked.value + by));
    } else if (event.key === "Enter" && shown[marked.value]) {
      event.preventDefault();
      go(shown[marked.value]);
    }
  };
  return html`<${Dialog} title=${t("Go to")} onClose=${onClose}>
    <label class="search">
      <span class="away">${t("Template, flow, run or page")}</span><${Icon} name="search" />
      <input ref=${field} class="input" role="combobox" aria-expanded="true" aria-controls="go-to-list"
          aria-activedescendant=${shown.length ? `go-to-${marked.value}` : undefined} placeholder=${t("Template, flow, run or page")}
          value=${text.value} onInput=${(event) => { text.value = event.currentTarget.value; marked.value = 0; }} onKeyDown=${keys} /></label>
    <ul id="go-to-list" class="go-to" role="listbox" aria-label=${t("Go to")}>${shown.map((one, index) => html`<li key=${one.place}
        id=${`go-to-${index}`} role="option" aria-selected=${index === marked.value} class=${names("row", index === marked.value && "marked")}
        onClick=${() => go(one)}>
      <${Icon} name=${one.icon} /><span class="cut grow" dir="auto">${one.name}</span><code class="quiet cut">${one.key}</code></li>`)}</ul>
    ${shown.length === 0 && html`<p class="quiet">${t("Nothing is called that.")}</p>`}</${Dialog}>`;
}
