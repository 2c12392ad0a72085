// What Studio uses of Preact.

/** A part of the page. */
export interface VNode {
  readonly type: unknown;
}
/** What may stand where a part of the page is expected. */
export type Shown = VNode | VNode[] | string | number | boolean | null | undefined;

export function h(type: unknown, props: object | null, ...children: unknown[]): VNode;
export function render(shown: Shown, parent: Element | null): void;
