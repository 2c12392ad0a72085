// What Studio uses of htm.

import type { VNode } from "./vendor-preact.js";

/** The element on which a handler stands. Markup does not say which one it is: these are its members. */
export interface PageElement extends HTMLElement {
  value: string;
  valueAsNumber: number;
  readonly validity: ValidityState;
  files: FileList;
  disabled: boolean;
  selectionStart: number;
  selectionEnd: number;
  setRangeText(text: string, start: number, end: number, mode?: "end"): void;
}

/** An event of the keyboard, the pointer or a control, as handlers in markup get it. */
export interface PageEvent extends UIEvent {
  readonly currentTarget: PageElement;
  readonly target: PageElement;
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly shiftKey: boolean;
  readonly altKey: boolean;
  readonly button: number;
  readonly pointerType: string;
  readonly clientX: number;
  readonly clientY: number;
  readonly dataTransfer: DataTransfer;
}

type Handler = (event: PageEvent) => unknown;
type Attributes = object;

/** What stands in a place of markup: a child, an attribute, a component, or a handler. */
export type Part = string | number | boolean | null | undefined | VNode | readonly Part[] | Attributes | Handler | Function;

interface Htm {
  bind(h: (type: unknown, props: object | null, ...children: unknown[]) => VNode): (strings: TemplateStringsArray, ...parts: Part[]) => VNode;
}
declare const htm: Htm;
export default htm;
