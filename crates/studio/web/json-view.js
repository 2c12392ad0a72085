// The document as JSON, with completion by the schema. It edits the same document as the form.

/** @import { CompletionContext, EditorState, EditorView, KeyBinding, Mark, SyntaxNode, ViewUpdate } from "./vendor-codemirror.js" */
/** @import { Ref } from "./vendor-hooks.js" */
/** @import { EditedDocument } from "./edited-document.js" */
/** @import { Definition, Diagnostic, Schema } from "./types.js" */
/** @typedef {typeof import("./vendor-codemirror.js")} Library */

import { html, useRef, useEffect } from "./base.js";
import { escape, get, tokens } from "./pointer.js";
import { asError } from "./api.js";
import { described } from "./descriptions.js";
import { resolve, chosen, choicesAt, schemaAt } from "./schema.js";
import { nearest } from "./nodes.js";
import { say } from "./parts.js";
import { t } from "./text.js";

/** @type {Promise<Library> | null} */
let library = null;
/** The editor's library, which is loaded when a code view opens first. */
export const load = () => (library ??= import("./vendor-codemirror.js"));

/**
 * The keys of undo in an editor of code: it goes over the whole document.
 * @param {EditedDocument} editing
 * @returns {KeyBinding[]}
 */
export const undoKeys = (editing) => [
  { key: "Mod-z", run: () => { editing.undo(); return true; }, shift: () => { editing.redo(); return true; } },
  { key: "Mod-y", run: () => { editing.redo(); return true; } },
];

/**
 * Whether what is written as JSON is none yet, and says so: with its view, or by a change from elsewhere, it would be lost.
 * @param {EditedDocument} editing
 */
export function isUnfinished(editing) {
  const broken = editing.broken.value;
  if (broken) say(t("No JSON yet: {message}", { message: broken.message }), true);
  return broken !== null;
}

/** @param {string} text */
const unquoted = (text) => {
  try { return String(JSON.parse(text)); } catch { return text.replaceAll('"', ""); }
};

/** The name of a property. */
const nameOf = (/** @type {EditorState} */ state, /** @type {SyntaxNode} */ property) => {
  const name = property.firstChild;
  return name ? unquoted(state.sliceDoc(name.from, name.to)) : "";
};

/** What stands in an array besides its elements. */
const SIGNS = ["[", "]", ",", "⚠"];

/** Longest time that the text is read at once, in milliseconds. */
const PATIENCE = 300;

/**
 * The syntax tree of the text up to a position.
 * @param {Library} cm
 * @param {EditorState} state
 * @param {number} [upTo]
 */
const treeOf = (cm, state, upTo = state.doc.length) => cm.ensureSyntaxTree(state, upTo, PATIENCE) ?? cm.syntaxTree(state);

/**
 * The JSON pointer of the value of which a node of the syntax is a part.
 * @param {EditorState} state
 * @param {SyntaxNode | null} part
 */
function pointerOf(state, part) {
  const path = [];
  for (let node = part; node?.parent; node = node.parent) {
    if (node.name === "Property") path.unshift(escape(nameOf(state, node)));
    else if (node.parent.name === "Array" && !SIGNS.includes(node.name)) {
      let index = 0;
      for (let before = node.prevSibling; before; before = before.prevSibling) if (!SIGNS.includes(before.name)) index += 1;
      path.unshift(String(index));
    }
  }
  return path.map((token) => `/${token}`).join("");
}

/**
 * The JSON pointer of the value at a position of the text.
 * @param {Library} cm
 * @param {EditorState} state
 * @param {number} position
 */
const pointerAt = (cm, state, position) => pointerOf(state, treeOf(cm, state, position).resolveInner(position, -1));

/**
 * The range of the value at a pointer.
 * @param {Library} cm
 * @param {EditorState} state
 * @param {string} pointer
 */
function rangeOf(cm, state, pointer) {
  let node = treeOf(cm, state).topNode.firstChild;
  for (const token of tokens(pointer)) {
    if (!node) return null;
    let found = /** @type {SyntaxNode | null} */ (null);
    let index = 0;
    for (let child = node.firstChild; child; child = child.nextSibling) {
      if (child.name === "Property" && nameOf(state, child) === token) found = child.lastChild;
      else if (node.name === "Array" && !SIGNS.includes(child.name)) {
        if (String(index) === token) found = child;
        index += 1;
      }
    }
    node = found;
  }
  return node && { from: node.from, to: node.to };
}

/**
 * Names of properties and values that the schema allows at the caret.
 * @param {Library} cm
 * @param {Schema} root
 * @param {EditedDocument} editing
 */
function completions(cm, root, editing) {
  return (/** @type {CompletionContext} */ context) => {
    const { state, pos } = context;
    const node = cm.syntaxTree(state).resolveInner(pos, -1);
    const inName = node.name === "PropertyName";
    const inString = inName || node.name === "String";
    if (!inString && !context.explicit) return null;
    const from = inString ? node.from : pos;
    const to = inString ? node.to : pos;
    if (inName || node.name === "Object") {
      const pointer = pointerOf(state, inName ? node.parent?.parent ?? null : node);
      const value = editing.document.value;
      const schema = resolve(root, chosen(root, schemaAt(root, pointer, value), get(value, pointer)));
      // A name that stands alone gets the colon, too.
      const colon = inName && node.parent?.lastChild?.name !== "⚠" ? "" : ": ";
      const options = Object.entries(schema.properties ?? {}).map(([name, of]) => ({
        label: `"${name}"`, apply: `"${name}"${colon}`, type: "property", info: described(of.description ?? resolve(root, of).description),
      }));
      return { from, to, options, filter: true };
    }
    const pointer = pointerOf(state, node);
    const options = choicesAt(root, pointer, editing.document.value).map((one) => ({ label: JSON.stringify(one.value), type: "constant", info: described(one.about) }));
    return options.length > 0 ? { from, to, options } : null;
  };
}

/**
 * The look of code, by the colors of the page.
 * @param {Library} cm
 * @param {{[property: string]: string}} [size]
 */
export function look(cm, size = { height: "100%" }) {
  const theme = cm.EditorView.theme({
    "&": { ...size, backgroundColor: "var(--bg)", color: "var(--text)", fontSize: "0.75rem" },
    ".cm-content, .cm-gutters": { fontFamily: "var(--mono)", lineHeight: "1.25rem" },
    ".cm-gutters": { backgroundColor: "var(--side)", color: "var(--text3)", borderRight: "1px solid var(--line)" },
    "&.cm-focused": { outline: "none" }, ".cm-activeLine": { backgroundColor: "var(--hover)" }, ".cm-activeLineGutter": { backgroundColor: "var(--press)" },
    "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--soft2) !important" },
    ".cm-cursor": { borderLeftColor: "var(--text)" },
    ".cm-tooltip": { backgroundColor: "var(--raise)", border: "1px solid var(--line2)", borderRadius: "8px", color: "var(--text)" },
    ".cm-tooltip-autocomplete > ul > li": { fontFamily: "var(--mono)" },
    ".cm-tooltip-autocomplete > ul > li[aria-selected]": { backgroundColor: "var(--soft2)", color: "var(--text)" },
    ".cm-scroller": { overflow: "auto" }, ".cm-completionDetail": { color: "var(--text2)", fontStyle: "normal" },
    ".cm-completionInfo": { maxWidth: "320px", fontFamily: "var(--sans)", whiteSpace: "pre-line" },
    ".cm-panels": { backgroundColor: "var(--side)", color: "var(--text)" },
  });
  const { tags } = cm;
  const colors = cm.HighlightStyle.define([
    { tag: tags.propertyName, color: "var(--code-name)" }, { tag: tags.string, color: "var(--code-string)" },
    { tag: [tags.number, tags.bool, tags.null, tags.keyword], color: "var(--code-number)" }, { tag: tags.comment, color: "var(--text3)" },
  ]);
  return [theme, cm.syntaxHighlighting(colors)];
}

/**
 * Problems as marks in the text.
 * @param {Library} cm
 * @param {EditorState} state
 * @param {Diagnostic[]} problems
 * @returns {Mark[]}
 */
function marks(cm, state, problems) {
  return problems.flatMap((one) => {
    const range = rangeOf(cm, state, one.path);
    return range ? [{ ...range, severity: one.severity, message: one.hint ? `${one.message} – ${one.hint}` : one.message }] : [];
  });
}

/**
 * The code view of the document.
 * @param {{editing: EditedDocument, root: Schema, problems: Diagnostic[], locked: boolean}} props
 */
export function JsonView({ editing, root, problems, locked }) {
  /** @type {Ref<HTMLDivElement>} */
  const host = useRef(null);
  const view = useRef(/** @type {{cm: Library, editor: EditorView} | undefined} */ (undefined));
  const own = useRef(/** @type {Definition | undefined} */ (undefined));
  const moved = useRef(false);

  useEffect(() => {
    let gone = false;
    load().then((cm) => {
      // The node goes before the clean-up runs.
      if (gone || !host.current) return;
      const changed = (/** @type {ViewUpdate} */ update) => {
        if (update.selectionSet && update.view.hasFocus) moved.current = true;
        if (!update.docChanged || update.transactions.some((one) => one.isUserEvent("outside"))) return;
        const text = update.state.doc.toString();
        try {
          const value = JSON.parse(text);
          if (value === null || typeof value !== "object" || Array.isArray(value)) throw new Error(t("a template is an object"));
          own.current = value;
          editing.broken.value = null;
          editing.change(value, "json");
        } catch (error) {
          editing.broken.value = { text, message: asError(error).message };
        }
      };
      // In a shadow root, the library's styles are constructed, which the page's policy allows.
      const shadow = host.current.shadowRoot ?? host.current.attachShadow({ mode: "open" });
      const state = cm.EditorState.create({
        doc: editing.broken.value?.text ?? JSON.stringify(editing.document.value, null, 2),
        extensions: [
          cm.lineNumbers(), cm.foldGutter(), cm.highlightActiveLine(), cm.highlightActiveLineGutter(), cm.drawSelection(), cm.bracketMatching(), cm.closeBrackets(), cm.lintGutter(),
          cm.json(), cm.search(), cm.highlightSelectionMatches(), cm.autocompletion({ override: [completions(cm, root, editing)] }),
          cm.keymap.of([...undoKeys(editing), ...cm.closeBracketsKeymap, ...cm.defaultKeymap, ...cm.searchKeymap, ...cm.completionKeymap, ...cm.foldKeymap]),
          cm.EditorView.updateListener.of(changed), cm.EditorView.lineWrapping, cm.EditorState.readOnly.of(locked),
          cm.EditorView.contentAttributes.of({ "aria-label": t("Template as JSON"), tabindex: "0" }), cm.EditorState.tabSize.of(2), look(cm),
        ],
      });
      own.current = editing.document.value;
      const editor = new cm.EditorView({ state, parent: shadow, root: shadow });
      view.current = { cm, editor };
      const range = rangeOf(cm, editor.state, editing.selected.value);
      if (range) editor.dispatch({ selection: { anchor: range.from }, effects: cm.EditorView.scrollIntoView(range.from, { y: "center" }) });
    });
    return () => {
      gone = true;
      if (!view.current) return;
      const { cm, editor } = view.current;
      const at = pointerAt(cm, editor.state, editor.state.selection.main.head);
      if (moved.current) editing.selected.value = nearest(editing.document.value, at);
      editor.destroy();
    };
  }, []);
  // Text that is no JSON, and is taken back, is not the document.
  useEffect(() => { own.current = undefined; }, [editing.resets.value]);
  useEffect(() => {
    // A change from elsewhere, such as undo.
    if (!view.current || own.current === editing.document.value) return;
    own.current = editing.document.value;
    const { editor } = view.current;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: JSON.stringify(editing.document.value, null, 2) }, userEvent: "outside" });
  }, [editing.document.value, editing.resets.value]);
  useEffect(() => {
    if (!view.current) return;
    const { cm, editor } = view.current;
    editor.dispatch(cm.setDiagnostics(editor.state, marks(cm, editor.state, problems)));
  }, [problems]);
  return html`<div class="json-view">
    <div class="json-host" ref=${host}></div>
    ${editing.broken.value && html`<p class="stale" role="status">${t("No JSON yet: {message}", { message: editing.broken.value.message })}</p>`}</div>`;
}
