// What Studio uses of Preact's hooks.

export interface Ref<T> {
  current: T;
}
type Effect = () => void | (() => void);

/** An element is there once effects run, so that its type says nothing of null. */
export function useRef<T>(initial: null): Ref<T>;
export function useRef<T>(initial: T): Ref<T>;
export function useEffect(effect: Effect, inputs?: readonly unknown[]): void;
export function useLayoutEffect(effect: Effect, inputs?: readonly unknown[]): void;
export function useMemo<T>(make: () => T, inputs: readonly unknown[]): T;
