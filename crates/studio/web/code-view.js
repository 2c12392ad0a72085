// The source of a code step, with completion of `ctx`, of its input, and of what it makes of them.

/** @import { Ref } from "./vendor-hooks.js" */
/** @import { CompletionContext, CompletionResult, EditorView, ViewUpdate } from "./vendor-codemirror.js" */
/** @import { Shape } from "./code-types.js" */
/** @import { EditedDocument } from "./edited-document.js" */
/** @import { Library } from "./json-view.js" */
/** @import { Json } from "./types.js" */

import { html, useRef, useEffect } from "./base.js";
import { get, parent } from "./pointer.js";
import { CodeScope } from "./code-scope.js";
import { context, shapeOf } from "./code-types.js";
import { look, load, undoKeys } from "./json-view.js";
import { inputOf } from "./captured.js";
import { t } from "./text.js";

/** Places where nothing is completed. */
const PLAIN = new Set(["String", "LineComment", "BlockComment", "RegExp", "TemplateString"]);

/** Longest type beside a name; longer ones stand with the help. */
const MOST_DETAIL = 26;

/**
 * Members as what may be completed.
 * @param {{[name: string]: Shape}} members
 */
const options = (members) => Object.entries(members).filter(([name]) => /^[\w$]+$/.test(name)).map(([label, of]) => ({
  label, detail: of.type.length <= MOST_DETAIL ? of.type : undefined, info: [of.type.length > MOST_DETAIL && of.type, of.about].filter(Boolean).join("\n") || undefined, type: of.result ? "method" : "property",
}));

/**
 * Members of what stands before a point, at the caret.
 * @param {Library} cm
 * @param {() => Shape[]} given
 */
const members = (cm, given) => (/** @type {CompletionContext} */ at) => {
  const tree = cm.ensureSyntaxTree(at.state, at.pos, 200) ?? cm.syntaxTree(at.state);
  const node = tree.resolveInner(at.pos, -1);
  if (PLAIN.has(node.name)) return null;
  const from = at.matchBefore(/[\w$]*/)?.from ?? at.pos;
  const point = tree.resolveInner(from, -1);
  if (![".", "?."].includes(point.name) || !point.parent) return null;
  const found = new CodeScope(at.state, given()).shape(point.parent.firstChild).members?.();
  return found ? /** @type {CompletionResult} */ ({ from, options: options(found), validFor: /^[\w$]*$/ }) : null;
};

/**
 * The source of a code step.
 * @param {{id: string, label: string, value: string | undefined, locked: boolean, editing: EditedDocument, pointer: string, onChange: (value: string) => void}} props
 */
export function CodeControl({ id, label, value, locked, editing, pointer, onChange }) {
  /** @type {Ref<HTMLDivElement>} */
  const host = useRef(null);
  const editor = useRef(/** @type {EditorView | null} */ (null));
  const own = useRef(value ?? "");
  const change = useRef(onChange);
  change.current = onChange;
  useEffect(() => {
    let gone = false;
    load().then((cm) => {
      // The node goes before the clean-up runs.
      if (gone || !host.current) return;
      const given = () => {
        const flow = editing.document.value;
        const step = /** @type {{[name: string]: Json}} */ (get(flow, parent(pointer)));
        return [shapeOf(inputOf(editing, step)), context(flow)];
      };
      const changed = (/** @type {ViewUpdate} */ update) => {
        if (!update.docChanged || update.transactions.some((one) => one.isUserEvent("outside"))) return;
        own.current = update.state.doc.toString();
        change.current(own.current);
      };
      const shadow = host.current.shadowRoot ?? host.current.attachShadow({ mode: "open" });
      const state = cm.EditorState.create({
        doc: own.current,
        extensions: [
          cm.highlightActiveLine(), cm.drawSelection(), cm.bracketMatching(), cm.closeBrackets(), cm.indentOnInput(), cm.typescriptLanguage,
          cm.autocompletion({ override: [members(cm, given), cm.localCompletionSource] }),
          cm.keymap.of([...undoKeys(editing), ...cm.closeBracketsKeymap, ...cm.defaultKeymap, ...cm.completionKeymap]),
          cm.EditorView.updateListener.of(changed), cm.EditorState.readOnly.of(locked), cm.EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
          cm.EditorState.tabSize.of(2), look(cm, { minHeight: "160px", maxHeight: "460px" }),
        ],
      });
      editor.current = new cm.EditorView({ state, parent: shadow, root: shadow });
    });
    return () => { gone = true; editor.current?.destroy(); };
  }, []);
  useEffect(() => {
    // A change from elsewhere, such as undo. What was drawn may be older than what was typed.
    const now = String(get(editing.document.value, pointer) ?? "");
    if (!editor.current || own.current === now) return;
    own.current = now;
    editor.current.dispatch({ changes: { from: 0, to: editor.current.state.doc.length, insert: now }, userEvent: "outside" });
  }, [value]);
  return html`<div>
    <div id=${id} class="code-host" ref=${host}></div>
    <p class="small quiet">${t("export default (input, ctx) => …: a point completes ctx, the input, and what comes of them.")}</p></div>`;
}
