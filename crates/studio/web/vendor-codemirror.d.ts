// What Studio uses of CodeMirror.

/** Something that an editor is made of. */
export type Extension = { readonly extension: Extension } | readonly Extension[];
export interface SyntaxNode {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly parent: SyntaxNode | null;
  readonly firstChild: SyntaxNode | null;
  readonly lastChild: SyntaxNode | null;
  readonly nextSibling: SyntaxNode | null;
  readonly prevSibling: SyntaxNode | null;
}
export interface Tree {
  readonly topNode: SyntaxNode;
  resolveInner(position: number, side?: -1 | 0 | 1): SyntaxNode;
}
export interface Text {
  readonly length: number;
  toString(): string;
}
export interface Transaction {
  isUserEvent(name: string): boolean;
}
export interface StateEffect {
  readonly value: unknown;
}
export interface TransactionSpec {
  selection?: { anchor: number };
  changes?: { from: number; to: number; insert: string };
  effects?: StateEffect;
  userEvent?: string;
}
export interface EditorState {
  readonly doc: Text;
  readonly selection: { readonly main: { readonly head: number } };
  sliceDoc(from: number, to: number): string;
}
export const EditorState: {
  create(config: { doc: string; extensions: Extension[] }): EditorState;
  readOnly: Facet<boolean>;
  tabSize: Facet<number>;
};
export interface ViewUpdate {
  readonly state: EditorState;
  readonly view: EditorView;
  readonly docChanged: boolean;
  readonly selectionSet: boolean;
  readonly transactions: readonly Transaction[];
}
interface Facet<T> {
  of(value: T): Extension;
}
export declare class EditorView {
  constructor(config: { state: EditorState; parent: ParentNode; root: ShadowRoot });
  readonly state: EditorState;
  readonly hasFocus: boolean;
  dispatch(change: TransactionSpec): void;
  destroy(): void;
  static theme(rules: { [selector: string]: { [property: string]: string } }): Extension;
  static updateListener: Facet<(update: ViewUpdate) => void>;
  static contentAttributes: Facet<{ [name: string]: string }>;
  static lineWrapping: Extension;
  static scrollIntoView(position: number, options: { y: "center" }): StateEffect;
}
export interface KeyBinding {
  key?: string;
  run?: () => boolean;
  shift?: () => boolean;
}
export interface Completion {
  label: string;
  detail?: string;
  apply?: string;
  type?: string;
  info?: string;
}
export interface CompletionContext {
  readonly state: EditorState;
  readonly pos: number;
  readonly explicit: boolean;
  matchBefore(pattern: RegExp): { from: number; to: number; text: string } | null;
}
export interface CompletionResult {
  from: number;
  to?: number;
  options: Completion[];
  filter?: boolean;
  validFor?: RegExp;
}
export interface Mark {
  from: number;
  to: number;
  severity: "error" | "warning";
  message: string;
}
export interface Tag {
  readonly set: readonly Tag[];
}
export declare class HighlightStyle {
  static define(rules: { tag: Tag | readonly Tag[]; color: string }[]): HighlightStyle;
}
export const tags: { readonly [name in "propertyName" | "string" | "number" | "bool" | "null" | "keyword" | "comment"]: Tag };
export const keymap: Facet<readonly KeyBinding[]>;
export const closeBracketsKeymap: readonly KeyBinding[];
export const defaultKeymap: readonly KeyBinding[];
export const searchKeymap: readonly KeyBinding[];
export const completionKeymap: readonly KeyBinding[];
export const foldKeymap: readonly KeyBinding[];

export function autocompletion(config: { override: ((context: CompletionContext) => CompletionResult | null)[] }): Extension;
export function bracketMatching(): Extension;
export function closeBrackets(): Extension;
export function drawSelection(): Extension;
export function foldGutter(): Extension;
export function highlightActiveLine(): Extension;
export function highlightActiveLineGutter(): Extension;
export function highlightSelectionMatches(): Extension;
export function indentOnInput(): Extension;
export function json(): Extension;
export function localCompletionSource(context: CompletionContext): CompletionResult | null;
export const typescriptLanguage: Extension;
export function lineNumbers(): Extension;
export function lintGutter(): Extension;
export function search(): Extension;
export function syntaxHighlighting(style: HighlightStyle): Extension;
export function setDiagnostics(state: EditorState, marks: Mark[]): TransactionSpec;
export function syntaxTree(state: EditorState): Tree;
export function ensureSyntaxTree(state: EditorState, upTo: number, timeout: number): Tree | null;
