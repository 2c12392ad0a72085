// The dialog that adds a node: after the chosen one, or inside a chosen list.

/** @import { Ref } from "./vendor-hooks.js" */
/** @import { PageEvent } from "./vendor-htm.js" */
/** @import { Editing } from "./editing.js" */
/** @import { Node, Place, Schema, Template } from "./types.js" */

import { html, useSignal, useRef, useLayoutEffect } from "./base.js";
import { described } from "./descriptions.js";
import { get, parent, last } from "./pointer.js";
import { newNode, firstList, tableOf, words } from "./nodes.js";
import { typesOf, isNodeList, schemaAt } from "./schema.js";
import { Dialog } from "./parts.js";
import { Icon } from "./icons.js";
import { t } from "./text.js";

/**
 * The list and the index where a node goes.
 * @param {Schema} root
 * @param {Template} document
 * @param {string} selected
 * @returns {Place}
 */
export function place(root, document, selected) {
  let at = selected;
  while (at) {
    const value = get(document, at);
    if (Array.isArray(value) && isNodeList(root, schemaAt(root, at, document))) return { list: at, index: value.length };
    const list = parent(at);
    if (/^\d+$/.test(last(at)) && isNodeList(root, schemaAt(root, list, document))) return { list, index: Number(last(at)) + 1 };
    const inner = /** @type {Node | undefined} */ (value);
    if (inner?.body && at === selected && !inner.type) return { list: `${at}/body`, index: inner.body.length };
    at = parent(at);
  }
  return { list: "/body", index: (document.body ?? []).length };
}

/**
 * Ready-made pieces.
 * @type {() => {name: string, node: Node}[]}
 */
const blocks = () => [
  { name: t("Address window"), node: { type: "panel", style: { padding: "0pt" }, body: [{ type: "text", style: { fontSize: 8 }, content: "Company · Street 1 · 12345 City" }, { type: "text", content: "{{ customer.name }}\n{{ customer.street }}\n{{ customer.city }}" }] } },
  { name: t("Totals"), node: { type: "columns", columns: [{ width: "1fr", body: [] }, { width: "70mm", body: [{ type: "keyValue", items: [{ key: t("Net"), value: "{{ net }}" }, { key: t("Tax"), value: "{{ tax }}" }, { key: t("Total"), value: "{{ total }}" }] }] }] } },
  { name: t("Payment panel"), node: { type: "panel", title: t("Payment"), style: { background: "#f3f5f9", padding: "8pt" }, body: [{ type: "text", content: t("Please pay by {date}.", { date: "{{ due }}" }) }] } },
  { name: t("Signature row"), node: { type: "columns", gap: "20mm", columns: [t("Place, date"), t("Signature")].map((label) => ({ body: [{ type: "spacer", height: "14mm" }, { type: "divider" }, { type: "text", style: { fontSize: 8 }, content: label }] })) } },
];

/**
 * The dialog with all types of nodes.
 * @param {{editing: Editing, root: Schema, onClose: () => void}} props
 */
export function Palette({ editing, root, onClose }) {
  const filter = useSignal("");
  /** @type {Ref<HTMLInputElement>} */
  const field = useRef(null);
  useLayoutEffect(() => field.current.focus(), []);
  const where = place(root, editing.document.value, editing.selected.value);
  const add = (/** @type {Node} */ node) => {
    editing.insert(where.list, where.index, node);
    onClose();
  };
  const types = typesOf(root, "Node").filter((one) => `${one.type} ${words(one.type)} ${described(one.about)}`.toLowerCase().includes(filter.value.toLowerCase()));
  const list = firstList(editing.sample.value);
  const shown = blocks().filter((one) => one.name.toLowerCase().includes(filter.value.toLowerCase()));
  const keys = (/** @type {PageEvent} */ event) => {
    if (event.key === "Enter" && types[0]) { event.preventDefault(); add(newNode(types[0].type, editing.sample.value)); }
  };
  const before = /** @type {Node | undefined} */ (get(editing.document.value, `${where.list}/${where.index - 1}`));
  return html`<${Dialog} title=${before ? t("Add after {name}", { name: t(words(before.type ?? "item")) }) : t("Add a node")} wide onClose=${onClose}>
    <label class="search">
      <span class="away">${t("Search the nodes")}</span><${Icon} name="search" />
      <input ref=${field} class="input" placeholder=${t("Search the nodes")} value=${filter.value}
          onInput=${(event) => { filter.value = event.currentTarget.value; }} onKeyDown=${keys} /></label>
    <div class="palette">${types.map((one) => html`<button type="button" key=${one.type} class="palette-item"
        onClick=${() => add(newNode(one.type, editing.sample.value))}>
      <${Icon} name=${one.type === "conditional" ? "if" : one.type} /><span><b>${t(words(one.type))}</b><small>${described(one.about)}</small></span></button>`)}</div>
    ${(shown.length > 0 || list) && html`<h3 class="palette-title">${t("Ready-made")}</h3>
      <div class="palette">
        ${list && html`<button type="button" class="palette-item" onClick=${() => add(tableOf(list.path, list.rows))}>
          <${Icon} name="table" />
          <span><b>${t("Table of {path}", { path: list.path })}</b><small>${t("A column for each field of the sample data")}</small></span></button>`}
        ${shown.map((one) => html`<button type="button" key=${one.name} class="palette-item" onClick=${() => add(one.node)}>
          <${Icon} name=${one.node.type ?? ""} /><span><b>${one.name}</b></span></button>`)}</div>`}
    <div class="ends"><button type="button" class="button" onClick=${onClose}>${t("Cancel")}</button></div></${Dialog}>`;
}
