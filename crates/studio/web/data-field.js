// A field of the sample data: how expressions name it at a place of the template, and the node that
// shows it there.

/** @import { Editing } from "./editing.js" */
/** @import { DataField, Node, Place, Schema } from "./types.js" */
/** @typedef {DataField["path"]} Path */

import { get, parent, tokens } from "./pointer.js";
import { scopes } from "./expression.js";
import { tableOf, words } from "./nodes.js";
import { place } from "./palette.js";

/**
 * The loops at a place, with the path of their elements; null where an expression makes the list.
 * @param {unknown} document
 * @param {string} pointer
 */
function loops(document, pointer) {
  const found = /** @type {{as: string, path: Path | null}[]} */ ([]);
  for (const { each, as } of scopes(document, pointer)) {
    const text = each.split("|")[0].trim();
    const steps = /^\w+(\.\w+)*$/.test(text) ? text.split(".") : null;
    const outer = steps && found.findLast((one) => one.as === steps[0]);
    const path = outer && steps ? outer.path && [...outer.path, ...steps.slice(1)] : steps;
    found.push({ as, path: path && [...path, null] });
  }
  return found;
}

/**
 * @param {Path} path
 * @param {Path | null} start
 */
const begins = (path, start) => start !== null && start.length <= path.length && start.every((step, index) => step === path[index]);

/**
 * The steps of a path as an expression: an element that no loop names is the first one.
 * @param {Path} path
 */
const joined = (path) => path.map((step, index) => {
  if (step === null) return "[0]";
  if (!/^[A-Za-z_]\w*$/.test(step)) return `['${step.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}']`;
  return index === 0 ? step : `.${step}`;
}).join("");

/**
 * The expression for a field at a place of the template.
 * @param {unknown} document
 * @param {string} pointer
 * @param {Path} path
 */
export function expressionFor(document, pointer, path) {
  const loop = loops(document, pointer).findLast((one) => begins(path, one.path));
  return joined(loop?.path ? [loop.as, ...path.slice(loop.path.length)] : path);
}

/**
 * The list of columns at a place, if a field belongs to the rows of its table.
 * @param {unknown} document
 * @param {string} pointer
 * @param {DataField} field
 */
export function columnsFor(document, pointer, field) {
  const steps = tokens(pointer);
  for (let at = pointer; steps.length > 0; at = parent(at), steps.pop()) {
    const node = /** @type {Node | undefined} */ (get(document, at));
    if (node?.type !== "table" || !Array.isArray(node.columns)) continue;
    const rows = loops(document, `${at}/columns/0`).at(-1)?.path ?? null;
    return rows && field.path.length > rows.length && begins(field.path, rows) ? `${at}/columns` : null;
  }
  return null;
}

/**
 * The column that shows a field.
 * @param {unknown} document
 * @param {string} list
 * @param {DataField} field
 * @returns {Node}
 */
function columnOf(document, list, { path, value }) {
  const text = `{{ ${expressionFor(document, `${list}/0`, path)} }}`;
  return { header: words(String(path.at(-1))), value: text, ...(typeof value === "number" ? { align: "end", format: "number" } : {}) };
}

/**
 * The node that shows a field: a table for a list of objects, pairs for an object, a text for anything else.
 * @param {unknown} document
 * @param {string} pointer
 * @param {DataField} field
 * @returns {Node}
 */
function nodeOf(document, pointer, { path, value }) {
  const expression = expressionFor(document, pointer, path);
  if (Array.isArray(value)) {
    const isTable = value[0] !== null && typeof value[0] === "object";
    return isTable ? tableOf(expression, value) : { type: "text", content: `{{ ${expression}|join(', ') }}` };
  }
  if (value === null || typeof value !== "object") return { type: "text", content: `{{ ${expression} }}` };
  const plain = Object.entries(value).filter(([, one]) => one === null || typeof one !== "object");
  const items = plain.map(([name]) => ({ key: words(name), value: `{{ ${expressionFor(document, pointer, [...path, name])} }}` }));
  return items.length > 0 ? { type: "keyValue", items } : { type: "text", content: `{{ ${expression} }}` };
}

/**
 * Puts what shows a field into the template: a column of a table of its rows, or a node.
 * @param {Editing} editing
 * @param {Schema} root
 * @param {DataField} field
 * @param {Place} [where] after what is chosen, if it is not given
 */
export function addField(editing, root, field, where) {
  const document = editing.document.value;
  const columns = columnsFor(document, where?.list ?? editing.selected.value, field);
  if (columns) {
    const last = /** @type {unknown[]} */ (get(document, columns)).length;
    editing.insert(columns, where?.list === columns ? where.index : last, columnOf(document, columns, field));
    return;
  }
  const { list, index } = where ?? place(root, document, editing.selected.value);
  editing.insert(list, index, nodeOf(document, `${list}/${index}`, field));
}
