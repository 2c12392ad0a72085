// JSON pointers (RFC 6901), and changes of immutable JSON values at them.

/** @import { Difference, Fields } from "./types.js" */

/**
 * A token as pointers write it.
 * @param {string | number} token
 */
export const escape = (token) => String(token).replaceAll("~", "~0").replaceAll("/", "~1");
/** @param {string} token */
const unescape = (token) => token.replaceAll("~1", "/").replaceAll("~0", "~");

/**
 * The tokens of a pointer.
 * @param {string} pointer
 */
export const tokens = (pointer) => pointer.split("/").slice(1).map(unescape);

/**
 * The pointer of what contains the value at `pointer`.
 * @param {string} pointer
 */
export const parent = (pointer) => pointer.slice(0, Math.max(0, pointer.lastIndexOf("/")));

/**
 * The last token.
 * @param {string} pointer
 */
export const last = (pointer) => unescape(pointer.slice(pointer.lastIndexOf("/") + 1));

/**
 * Whether `inner` is at `outer` or below it.
 * @param {string} inner
 * @param {string} outer
 */
export const within = (inner, outer) => inner === outer || inner.startsWith(`${outer}/`);

/**
 * The value at a pointer; `undefined` if there is none.
 * @param {unknown} value
 * @param {string} pointer
 * @returns {unknown}
 */
export function get(value, pointer) {
  let found = value;
  for (const token of tokens(pointer)) {
    if (found === null || typeof found !== "object" || !Object.hasOwn(found, token)) return undefined;
    found = /** @type {Fields} */ (found)[token];
  }
  return found;
}

/**
 * @param {unknown} value
 * @param {string[]} path
 * @param {(value: unknown) => unknown} change
 * @returns {unknown}
 */
function changed(value, path, change) {
  if (path.length === 0) return change(value);
  const [token, ...rest] = path;
  if (Array.isArray(value)) {
    const copy = value.slice();
    copy[Number(token)] = changed(value[Number(token)], rest, change);
    return copy;
  }
  const container = /** @type {Fields} */ (value === null || typeof value !== "object" ? {} : value);
  return { ...container, [token]: changed(container[token], rest, change) };
}

/**
 * The document with another value at a pointer; `undefined` removes it.
 * @template T
 * @param {T} value
 * @param {string} pointer
 * @param {unknown} next
 * @returns {T}
 */
export function set(value, pointer, next) {
  if (next === undefined) return remove(value, pointer);
  return /** @type {T} */ (changed(value, tokens(pointer), () => next));
}

/**
 * The document without the value at a pointer.
 * @template T
 * @param {T} value
 * @param {string} pointer
 * @returns {T}
 */
export function remove(value, pointer) {
  const path = tokens(pointer);
  const token = path.pop();
  if (token === undefined || get(value, parent(pointer)) === undefined) return value;
  return /** @type {T} */ (changed(value, path, (container) => {
    if (Array.isArray(container)) return container.filter((_, index) => index !== Number(token));
    const { [token]: _, ...rest } = /** @type {Fields} */ (container);
    return rest;
  }));
}

/**
 * The document with `item` inserted into the array at `list`, made if there is none.
 * @template T
 * @param {T} value
 * @param {string} list
 * @param {number} index
 * @param {unknown} item
 * @returns {T}
 */
export function insert(value, list, index, item) {
  return /** @type {T} */ (changed(value, tokens(list), (array) => {
    const copy = Array.isArray(array) ? array.slice() : [];
    copy.splice(index, 0, item);
    return copy;
  }));
}

/**
 * Moves the array element at `from` to `index` of the array at `list`, counted before the move.
 * @template T
 * @param {T} value
 * @param {string} from
 * @param {string} list
 * @param {number} index
 * @returns {[T, string] | null} the document and the new pointer; null if it cannot move there
 */
export function move(value, from, list, index) {
  if (within(list, from)) return null;
  const item = get(value, from);
  const source = parent(from);
  const at = Number(last(from));
  if (source === list) {
    const array = get(value, list);
    // Before the first and behind the last element is no place.
    const end = Array.isArray(array) ? array.length - 1 : 0;
    const target = Math.min(end, Math.max(0, at < index ? index - 1 : index));
    if (target === at) return null;
    return [insert(remove(value, from), list, target, item), `${list}/${target}`];
  }
  // Removing it first shifts the elements after it, through which the way to the list may lead.
  const after = insert(value, list, index, item);
  const moved = shifted(from, list, index, 1);
  const result = remove(after, moved);
  return [result, shifted(`${list}/${index}`, source, at, -1)];
}

/**
 * A pointer after the array at `list` has gained or lost an element at `index`.
 * @param {string} pointer
 * @param {string} list
 * @param {number} index
 * @param {number} by
 */
function shifted(pointer, list, index, by) {
  if (!pointer.startsWith(`${list}/`)) return pointer;
  const rest = pointer.slice(list.length + 1).split("/");
  const at = Number(rest[0]);
  if (at < index) return pointer;
  rest[0] = String(at + by);
  return `${list}/${rest.join("/")}`;
}

/**
 * The places where two values differ, as `{path, before, after}`, at most `most`.
 * @param {unknown} before
 * @param {unknown} after
 * @param {number} [most]
 * @param {string} [path]
 * @param {Difference[]} [found]
 */
export function differences(before, after, most = 200, path = "", found = []) {
  if (found.length >= most || before === after) return found;
  const both = before !== null && after !== null && typeof before === "object" && typeof after === "object";
  if (!both || Array.isArray(before) !== Array.isArray(after)) {
    if (JSON.stringify(before) !== JSON.stringify(after)) found.push({ path, before, after });
    return found;
  }
  const [old, now] = /** @type {[Fields, Fields]} */ ([before, after]);
  for (const key of new Set([...Object.keys(old), ...Object.keys(now)])) {
    differences(old[key], now[key], most, `${path}/${escape(key)}`, found);
  }
  return found;
}
