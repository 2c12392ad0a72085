// Expressions while they are typed: what they give with the sample data, and how they may go on.

/** @import { Signal } from "./vendor-signals.js" */
/** @import { EditedDocument } from "./edited-document.js" */
/** @import { Fields, Node, Template } from "./types.js" */
/**
 * @typedef {{label: string, insert: string, replaces: number, about: string, whole?: string, value?: string}} Suggestion
 *   `whole` is the expression with the suggestion, where its value is asked for
 */

import { html, useSignal, useEffect, names } from "./base.js";
import { isAbort, request, Problem } from "./api.js";
import { escape, get, tokens } from "./pointer.js";
import { filters } from "./filters.js";
import { described } from "./descriptions.js";
import { brief } from "./sample.js";
import { t } from "./text.js";

/** Time without a key before an expression is evaluated, in milliseconds. */
const PAUSE = 120;
/** Sample data above this length is too much to send with each key. */
const MOST_SAMPLE = 1_000_000;
/** Most suggestions at once. */
const MOST = 8;

/**
 * The expression at the caret: all of the text, or what is between braces.
 * @param {string} text
 * @param {number} caret
 * @param {string} kind
 */
export function expressionAt(text, caret, kind) {
  if (kind === "expression") return { from: 0, to: text.length, text };
  const from = text.lastIndexOf("{{", Math.max(0, caret - 1));
  if (from < 0) return null;
  const end = text.indexOf("}}", from);
  const to = end < 0 ? text.length : end;
  if (caret < from + 2 || caret > to) return null;
  return { from: from + 2, to, text: text.slice(from + 2, to) };
}

/**
 * The list that a node repeats its property `name` for.
 * @param {Node} node
 * @param {string} type
 * @param {string} name
 */
function loopOf(node, type, name) {
  if (type === "loop" && name === "steps") return node.items;
  if (type === "repeat" && name !== "each") return node.each;
  if (type === "table" && ["columns", "rowStyles", "groups"].includes(name)) return node.rows;
  if (type === "list" && name === "item") return node.each;
  if (type === "chart" && ["category", "series"].includes(name)) return node.rows;
  return null;
}

/**
 * The loops around a place of the template, outer ones first.
 * @param {unknown} document
 * @param {string} pointer
 */
export function scopes(document, pointer) {
  const found = [];
  let at = "";
  for (const token of tokens(pointer)) {
    const value = /** @type {Node | undefined} */ (get(document, at));
    const rows = value?.type && loopOf(value, value.type, token);
    if (typeof rows === "string" && rows) found.push({ each: rows, as: String(value?.as ?? "item") });
    at += `/${escape(token)}`;
  }
  return found;
}

/**
 * The fields of the first record of a CSV after its header.
 * @param {string} csv
 */
function firstRecord(csv) {
  const records = [[""]];
  let quoted = false;
  for (let at = 0; at < csv.length; at += 1) {
    const letter = csv[at];
    const record = records[records.length - 1];
    if (quoted && letter === '"' && csv[at + 1] === '"') { record[record.length - 1] += '"'; at += 1; }
    else if (letter === '"') quoted = !quoted;
    else if (!quoted && letter === ",") record.push("");
    else if (!quoted && letter === "\n") { if (records.length > 2) break; records.push([""]); }
    else if (quoted || letter !== "\r") record[record.length - 1] += letter;
  }
  return records[1] ?? [];
}

/**
 * What expressions give at a place of the template, for the first element of each loop around it.
 * The engine evaluates them: a table of them becomes CSV.
 * @param {EditedDocument} editing
 * @param {string} pointer
 * @param {string[]} expressions
 * @param {AbortSignal} stop
 * @returns {Promise<string[]>}
 */
export async function evaluate(editing, pointer, expressions, stop) {
  const document = editing.document.value;
  const around = scopes(document, pointer);
  const inner = around.pop();
  const columns = expressions.map((one, index) => ({ header: `c${index}`, value: `{{ ${one} }}` }));
  const table = { type: "table", columns, ...(inner ? { rows: `[(${inner.each})|first]`, as: inner.as } : { rows: "[1]" }) };
  const body = around.reduceRight((/** @type {Node[]} */ nodes, scope) => [{ type: "repeat", each: `[(${scope.each})|first]`, as: scope.as, body: nodes }], [table]);
  const { key, locale, timeZone, currency, messages, helpers } = /** @type {Template} */ (document);
  const definition = { key, locale, timeZone, currency, messages, helpers, body };
  const response = await request("POST", "render/csv", { body: { definition, data: editing.sample?.value, options: { csv: { values: "formatted" } } }, signal: stop });
  return firstRecord(await response.text());
}

/**
 * The sample that a path of names leads to.
 * @param {unknown} value
 * @param {string[]} path
 */
function follow(value, path) {
  return path.reduce((found, name) => {
    const inner = Array.isArray(found) ? found[0] : found;
    return inner !== null && typeof inner === "object" ? /** @type {Fields} */ (inner)[name] : undefined;
  }, value);
}

/**
 * How an expression may go on at its end: fields of the data, or filters.
 * @param {EditedDocument} editing
 * @param {string} pointer
 * @param {string} text
 * @returns {Suggestion[]}
 */
export function suggestions(editing, pointer, text) {
  const filter = /\|\s*(\w*)$/.exec(text);
  if (filter) {
    const found = filters.filter(([name]) => name.toLowerCase().startsWith(filter[1].toLowerCase()) && name !== filter[1]);
    const before = text.slice(0, text.length - filter[1].length);
    return found.slice(0, MOST).map(([name, use, about]) => ({ label: name, insert: use, about: described(about), replaces: filter[1].length, whole: before + use }));
  }
  const word = /([A-Za-z_][\w.]*)?$/.exec(text)?.[0] ?? "";
  // After a value only an operator can follow.
  if (word === "" && /[\w)'"\]]\s*$/.test(text)) return [];
  const path = word.split(".");
  const begun = path.pop() ?? "";
  const variables = Object.fromEntries(scopes(editing.document.value, pointer).map((scope) => {
    const source = /^[\w.]+$/.test(scope.each) ? follow(editing.sample?.value, scope.each.split(".")) : undefined;
    return [scope.as, Array.isArray(source) ? source[0] : undefined];
  }));
  const root = { .../** @type {Fields} */ (editing.sample?.value), ...variables };
  const at = follow(root, path);
  const inner = Array.isArray(at) ? at[0] : at;
  if (inner === null || typeof inner !== "object") return [];
  const fields = Object.entries(inner).filter(([name]) => /^[A-Za-z_]\w*$/.test(name) && name.toLowerCase().startsWith(begun.toLowerCase()) && name !== begun);
  return fields.slice(0, MOST).map(([name, value]) => ({
    label: name, insert: name, replaces: begun.length, about: "", value: brief(value),
  }));
}

/**
 * What a suggestion would give; what it does, where it gives nothing here.
 * @param {unknown} value
 * @param {Suggestion} one
 */
const shownFor = (value, one) => (typeof value === "string" && value !== "" ? value : one.about);

/**
 * The value of the expression at the caret, and how it may go on.
 * @param {{editing: EditedDocument, pointer: string, expression: string, before: string, marked: number, onTake: (one: Suggestion) => void}} props
 */
export function ExpressionCard({ editing, pointer, expression, before, marked, onTake }) {
  /** @type {Signal<{value: string | null, error: string | null, each: unknown[]}>} */
  const state = useSignal({ value: null, error: null, each: [] });
  const all = suggestions(editing, pointer, before);
  const text = expression.trim();
  useEffect(() => {
    const stop = new AbortController();
    const timer = setTimeout(async () => {
      if (editing.sampleSize > MOST_SAMPLE) return;
      const wanted = all.flatMap((one) => (one.whole ? [one.whole.trim()] : []));
      const complete = text && !/[|.]\s*$/.test(text);
      try {
        const asked = [...(complete ? [text] : []), ...wanted];
        if (asked.length === 0) { state.value = { value: null, error: null, each: [] }; return; }
        const found = await evaluate(editing, pointer, asked, stop.signal);
        state.value = { value: complete ? found[0] : null, error: null, each: complete ? found.slice(1) : found };
      } catch (error) {
        if (isAbort(error)) return;
        // One that does not fit must not hide the others.
        const alone = (/** @type {string} */ one) => evaluate(editing, pointer, [one], stop.signal).then(([found]) => found, (problem) => problem);
        const [value, ...each] = await Promise.all([complete ? alone(text) : null, ...(wanted.length > 1 || complete ? wanted.map(alone) : [error])]);
        if (stop.signal.aborted) return;
        state.value = { value: typeof value === "string" ? value : null, error: value instanceof Problem ? value.diagnostics[0]?.message ?? value.message : null, each };
      }
    }, PAUSE);
    return () => { clearTimeout(timer); stop.abort(); };
  }, [text, before, pointer, editing.sample?.value]);
  const { value, error, each } = state.value;
  if (value === null && !error && all.length === 0) return null;
  return html`<div class="expression" role="status">
    <p class=${names("small", error ? "bad-text" : "quiet")}>${error ?? (value !== null ? html`= <b class="value" dir="auto">${value === "" ? t("nothing") : value}</b>` : t("Expression"))}</p>
    ${all.length > 0 && html`<ul>${all.map((one, index) => html`<li key=${one.label}>
      <button type="button" tabindex="-1" class=${names("suggestion", index === marked && "marked")} title=${one.about}
          onPointerDown=${(event) => { event.preventDefault(); onTake(one); }}>
        <code>${one.label}</code>
        <span class="cut quiet">${one.whole ? shownFor(each[all.filter((other) => other.whole).indexOf(one)], one) : one.value}</span></button></li>`)}</ul>`}</div>`;
}
