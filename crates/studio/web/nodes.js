// The nodes of a template as a tree, and new nodes.

/** @import { Fields, Json, Node, Page, Row, Schema, Template } from "./types.js" */
/** @typedef {{name: string, schema: Schema, isNodes: boolean, list: unknown[]}} Listed a list that the outline shows */

import { get, escape } from "./pointer.js";
import { resolve, chosen, isNodeList, itemOf, options, typeOf } from "./schema.js";
import { t, tn } from "./text.js";

/** Lists of objects, other than nodes, that the outline shows. */
const SHOWN = new Set(["columns", "series", "headerRows", "bodyRows", "footerRows", "groups"]);
/** Lists of nodes that need no row of their own. */
const PLAIN = new Set(["body"]);

/**
 * Text of inline content, shortened.
 * @param {unknown} content
 * @returns {string}
 */
export function plain(content) {
  if (typeof content === "string") return content;
  if (Array.isArray(content)) return content.map(plain).join("");
  if (content && typeof content === "object") {
    const { text, content: inner } = /** @type {Fields} */ (content);
    return plain(text ?? inner ?? "");
  }
  return content === undefined || content === null ? "" : String(content);
}

/**
 * What the outline says about a value besides its type.
 * @param {unknown} part
 */
function summary(part) {
  if (!part || typeof part !== "object") return plain(part);
  const value = /** @type {Fields} */ (part);
  const said = value.content ?? value.title ?? value.header ?? value.caption ?? value.source ?? value.rows ?? value.each
    ?? value.condition ?? value.value ?? value.macro ?? value.name ?? value.label ?? value.height;
  if (said !== undefined) return plain(said).slice(0, 80);
  if (Array.isArray(value.items)) return tn(value.items.length, "{count} entry", "{count} entries");
  if (Array.isArray(value.columns)) return tn(value.columns.length, "{count} column", "{count} columns");
  if (Array.isArray(value.cells)) return value.cells.map((cell) => plain(cell)).join(" · ").slice(0, 80);
  return "";
}

/**
 * One element of a list with this name.
 * @param {string} name
 */
const singular = (name) => (name === "series" ? name : name.replace(/s$/, ""));

/**
 * Words for a name in camel case.
 * @param {string} name
 */
export function words(name) {
  const text = name.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/**
 * Lists by the value they are in. Values never change, so that a key in one node costs nothing for the others.
 * @type {WeakMap<object, {schema: Schema, lists: Listed[]}>}
 */
const known = new WeakMap();

/**
 * The schema of an element of a list, and the lists in it.
 * @param {Schema} root
 * @param {Schema} schema
 * @param {unknown} child
 */
function inside(root, schema, child) {
  const isObject = child !== null && typeof child === "object";
  const before = isObject && known.get(child);
  if (before) return before;
  const inner = chosen(root, itemSchema(root, schema), child);
  const found = { schema: inner, lists: lists(root, inner, child) };
  if (isObject) known.set(child, found);
  return found;
}

/**
 * The lists inside a value that the outline shows: nodes, and objects such as columns.
 * @param {Schema} root
 * @param {Schema} schema
 * @param {unknown} value
 * @returns {Listed[]}
 */
function lists(root, schema, value) {
  const properties = resolve(root, chosen(root, schema, value)).properties ?? {};
  /** @type {Listed[]} */
  const found = [];
  for (const [name, of] of Object.entries(properties)) {
    const list = get(value, `/${escape(name)}`);
    if (!Array.isArray(list)) continue;
    const isNodes = isNodeList(root, of);
    if (isNodes || (SHOWN.has(name) && list.some((one) => typeof one === "object"))) found.push({ name, schema: of, isNodes, list });
  }
  return found;
}

/**
 * @param {Schema} root
 * @param {Schema} schema
 */
function itemSchema(root, schema) {
  return options(root, schema).map((one) => itemOf(resolve(root, one))).find(Boolean) ?? {};
}

/**
 * Rows of the outline below `pointer`; folded ones keep their children to themselves.
 * @param {Schema} root
 * @param {Listed[]} all lists of the value at `pointer`
 * @param {string} pointer
 * @param {number} level
 * @param {Set<string>} folded
 * @param {Row[]} rows
 */
function rowsOf(root, all, pointer, level, folded, rows) {
  for (const { name, schema: of, isNodes, list: children } of all) {
    const list = `${pointer}/${escape(name)}`;
    const labelled = !(isNodes && PLAIN.has(name)) && !(name === "columns" && !isNodes);
    let depth = level;
    if (labelled) {
      const open = !folded.has(list);
      rows.push({ pointer: list, level, icon: "list", label: t(words(name)), summary: "", isList: true, isNodes, list, index: -1, open, hasChildren: children.length > 0 });
      if (!open) continue;
      depth += 1;
    }
    children.forEach((child, index) => {
      const at = `${list}/${index}`;
      const inner = inside(root, of, child).lists;
      const type = String(typeOf(child) ?? (name === "columns" ? "column" : "item"));
      const hasChildren = inner.length > 0;
      const open = hasChildren && !folded.has(at);
      rows.push({
        pointer: at, level: depth, icon: type === "conditional" ? "if" : type, label: t(words(type === "item" ? singular(name) : type)),
        summary: summary(child), isNode: isNodes, list, index, open, hasChildren,
      });
      if (open) rowsOf(root, inner, at, depth + 1, folded, rows);
    });
  }
}

/**
 * All visible rows of the outline.
 * @param {Schema} root
 * @param {Template} document
 * @param {Set<string>} folded
 */
export function outline(root, document, folded) {
  /** Rows of what is in no list. */
  const outside = { level: 0, list: "", index: -1 };
  const ofPage = lists(root, root.properties?.page ?? {}, document.page);
  /** @type {Row[]} */
  const rows = [
    { ...outside, pointer: "", icon: "document", label: t("Document"), summary: document.name ?? document.key ?? "" },
    { ...outside, pointer: "/page", icon: "page", label: t("Page"), summary: pageSummary(document.page), hasChildren: ofPage.length > 0, open: !folded.has("/page") },
    { ...outside, pointer: "/theme", icon: "theme", label: t("Theme"), summary: Object.keys(document.theme?.styles ?? {}).slice(0, 4).join(", ") },
  ];
  const page = /** @type {Row[]} */ ([]);
  if (rows[1].open && document.page) rowsOf(root, ofPage, "/page", 1, folded, page);
  rows.splice(2, 0, ...page);
  if (document.macros && Object.keys(document.macros).length > 0) {
    for (const [name, macro] of Object.entries(document.macros)) {
      const pointer = `/macros/${escape(name)}`;
      const open = !folded.has(pointer);
      rows.push({ ...outside, pointer, icon: "use", label: t("Macro"), summary: name, hasChildren: true, open });
      if (open) rowsOf(root, lists(root, { $ref: "#/$defs/Macro" }, macro), pointer, 1, folded, rows);
    }
  }
  rowsOf(root, [{ name: "body", schema: root.properties?.body ?? {}, isNodes: true, list: document.body ?? [] }], "", 0, folded, rows);
  return rows;
}

/** @param {Page | undefined} page */
function pageSummary(page) {
  const size = typeof page?.size === "string" ? page.size : page?.size ? t("own size") : "A4";
  return [size, page?.header && t("header"), page?.footer && t("footer")].filter(Boolean).join(", ");
}

/**
 * The innermost pointer at or above `pointer` that the document has.
 * @param {unknown} document
 * @param {string} pointer
 */
export function existing(document, pointer) {
  let found = pointer;
  while (found && get(document, found) === undefined) found = found.slice(0, found.lastIndexOf("/"));
  return found;
}

/**
 * The node, or other element of a list, at or above a place.
 * @param {unknown} document
 * @param {string} pointer
 */
export function nearest(document, pointer) {
  let found = existing(document, pointer);
  while (found && !/\/\d+$/.test(found) && found !== "/page" && found !== "/theme") found = found.slice(0, found.lastIndexOf("/"));
  return found;
}

/**
 * The first list in the sample data, with its path.
 * @param {Json | undefined} sample
 * @param {string} [path]
 * @param {number} [depth]
 * @returns {{path: string, rows: Json[]} | null}
 */
export function firstList(sample, path = "", depth = 0) {
  if (depth > 3 || sample === null || typeof sample !== "object") return null;
  for (const [name, value] of Object.entries(sample)) {
    const at = path ? `${path}.${name}` : name;
    if (Array.isArray(value) && typeof value[0] === "object" && value[0] !== null) return { path: at, rows: value };
    const inner = Array.isArray(value) ? null : firstList(value, at, depth + 1);
    if (inner) return inner;
  }
  return null;
}

/**
 * A table of a list in the sample data: a column for each of its fields.
 * @param {string} path
 * @param {Json[]} rows
 * @returns {Node}
 */
export function tableOf(path, rows) {
  const fields = Object.entries(rows[0] ?? {}).filter(([, value]) => value === null || typeof value !== "object").slice(0, 6);
  const columns = fields.map(([name, value]) => ({
    header: words(name), value: `{{ item.${name} }}`, ...(typeof value === "number" ? { align: "end", format: "number" } : {}),
  }));
  return { type: "table", rows: path, columns: columns.length ? columns : [{ header: t("Column"), value: "{{ item }}" }] };
}

/**
 * A new node of a type, which is valid and can be seen.
 * @param {string} type
 * @param {Json} sample
 * @returns {Node}
 */
export function newNode(type, sample) {
  const list = firstList(sample) ?? { path: "[1, 2, 3]", rows: [] };
  const body = () => [{ type: "text", content: t("Text") }];
  /** @type {{[type: string]: Fields}} */
  const made = {
    heading: { level: 1, content: t("Heading") }, text: { content: t("Text") }, list: { items: [t("First"), t("Second")] },
    columns: { columns: [{ body: body() }, { body: body() }] }, panel: { body: body() }, keyValue: { items: [{ key: t("Label"), value: t("Value") }] },
    barcode: { symbology: "qr", value: "PLATEN" }, divider: {}, spacer: { height: "12pt" }, pageBreak: {},
    image: { source: "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==", alt: t("Picture"), width: "40mm", height: "25mm", fit: "stretch" },
    chart: { chart: "bar", rows: "[{'name': 'A', 'value': 3}, {'name': 'B', 'value': 5}]", category: "{{ item.name }}", series: [{ name: t("Series"), value: "item.value" }], alt: t("Chart") },
    section: { body: body() }, conditional: { condition: "true", then: body() }, repeat: { each: list.path, body: body() },
    use: { macro: "" }, tableOfContents: {}, positioned: { left: "20mm", top: "20mm", width: "60mm", body: body() }, footnote: { content: t("Footnote") },
    signatureField: { name: "signature" }, formField: { name: "field", kind: "text", label: t("Field") }, richText: { source: "**Markdown**", format: "markdown" },
  };
  if (type === "table") return tableOf(list.path, list.rows);
  return { type, ...made[type] };
}
