// What Studio uses of signals.

export interface ReadonlySignal<T> {
  readonly value: T;
  peek(): T;
}
export interface Signal<T> extends ReadonlySignal<T> {
  value: T;
}

export function signal<T>(value: T): Signal<T>;
export function computed<T>(compute: () => T): ReadonlySignal<T>;
/** Calls `work` at once, and again, before anything is drawn, with each change of a signal that it reads; ends with what it returns. */
export function effect(work: () => void | (() => void)): () => void;
export function batch<T>(work: () => T): T;
export function untracked<T>(work: () => T): T;
export function useSignal<T>(value: T): Signal<T>;
export function useComputed<T>(compute: () => T): ReadonlySignal<T>;
export function useSignalEffect(effect: () => void | (() => void)): void;
