// The dialog for two people who have changed one thing: each difference is decided, and nothing is lost.

/** @import { Difference, Stored } from "./types.js" */

import { html, useSignal, useEffect } from "./base.js";
import { differences, set, remove } from "./pointer.js";
import { plain } from "./nodes.js";
import { Dialog, Failure, Loading } from "./parts.js";
import { t, tn } from "./text.js";

/** Most differences that are decided one by one. */
const MOST = 200;

/** @param {unknown} value */
const shown = (value) => (value === undefined ? t("removed") : (plain(value) || JSON.stringify(value)).slice(0, 120));

/** @param {{one: Difference, index: number, isTheirs: boolean, onChoose: (isTheirs: boolean) => void}} props */
function Choice({ one, index, isTheirs, onChoose }) {
  const radio = (/** @type {boolean} */ theirs, /** @type {string} */ label, /** @type {unknown} */ value) => html`<label>
    <input type="radio" name=${`clash-${index}`} checked=${isTheirs === theirs} onChange=${() => onChoose(theirs)} />
    <span><b>${label}</b> <span dir="auto">${shown(value)}</span></span></label>`;
  return html`<li><code class="small quiet">${one.path}</code><div class="clash-pair" role="radiogroup" aria-label=${one.path}>
    ${radio(false, t("Yours"), one.after)}${radio(true, t("Theirs"), one.before)}</div></li>`;
}

/**
 * `mine` is what is edited here, `load` reads what the service has, `onSettle` takes what stays.
 * @template T
 * @param {{title: string, mine: T, load: () => Promise<Stored<T>>, onSettle: (value: T, theirs: Stored<T>) => void, onClose: () => void}} props
 */
export function Clash({ title, mine, load, onSettle, onClose }) {
  const loaded = useSignal(/** @type {Stored<T> | null} */ (null));
  const failure = useSignal(/** @type {Error | null} */ (null));
  const taken = useSignal(/** @type {Set<number>} */ (new Set()));
  useEffect(() => {
    load().then((found) => { loaded.value = found; }, (error) => { failure.value = error; });
  }, []);
  const theirs = loaded.value;
  if (!theirs) return html`<${Dialog} title=${title} onClose=${onClose}>${failure.value ? html`<${Failure} error=${failure.value} />` : html`<${Loading} />`}</${Dialog}>`;
  const all = differences(theirs.value, mine, MOST);
  const end = (/** @type {T} */ value) => {
    onSettle(value, theirs);
    onClose();
  };
  const save = () => {
    // Later places first, so that the places of the earlier ones stay.
    const chosen = all.filter((_, index) => taken.value.has(index)).reverse();
    end(chosen.reduce((value, one) => (one.before === undefined ? remove(value, one.path) : set(value, one.path, one.before)), mine));
  };
  const choose = (/** @type {number} */ index, /** @type {boolean} */ isTheirs) => {
    const next = new Set(taken.value);
    if (isTheirs) next.add(index); else next.delete(index);
    taken.value = next;
  };
  return html`<${Dialog} wide title=${title} onClose=${onClose}>
    <p>${t("Choose for each place what stays. Yours is chosen; nothing is saved before you decide.")}</p>
    ${all.length === MOST && html`<p class="small warn-text">${tn(MOST, "Only the first difference is shown: in other places yours stays.", "Only the first {count} differences are shown: in other places yours stays.")}</p>`}
    <ul class="clash">${all.map((one, index) => html`<${Choice} key=${one.path} ...${{ one, index }} isTheirs=${taken.value.has(index)}
        onChoose=${(/** @type {boolean} */ isTheirs) => choose(index, isTheirs)} />`)}</ul>
    ${all.length === 0 && html`<p>${t("Both are the same by now.")}</p>`}
    <div class="ends">
      <button type="button" class="button" onClick=${onClose}>${t("Later")}</button>
      <button type="button" class="button" onClick=${() => end(theirs.value)}>${t("Take all of theirs")}</button>
      <button type="button" class="button primary" onClick=${save}>${t("Save this choice")}</button></div></${Dialog}>`;
}
