// JSON pointers (RFC 6901), and changes of immutable JSON values at them.

export const escape = (token) => String(token).replaceAll("~", "~0").replaceAll("/", "~1");
const unescape = (token) => token.replaceAll("~1", "/").replaceAll("~0", "~");

/** The tokens of a pointer. */
export const tokens = (pointer) => pointer.split("/").slice(1).map(unescape);

/** The pointer of what contains the value at `pointer`. */
export const parent = (pointer) => pointer.slice(0, Math.max(0, pointer.lastIndexOf("/")));

/** The last token. */
export const last = (pointer) => unescape(pointer.slice(pointer.lastIndexOf("/") + 1));

/** Whether `inner` is at `outer` or below it. */
export const within = (inner, outer) => inner === outer || inner.startsWith(`${outer}/`);

/** The value at a pointer; `undefined` if there is none. */
export function get(value, pointer) {
  for (const token of tokens(pointer)) {
    if (value === null || typeof value !== "object" || !Object.hasOwn(value, token)) return undefined;
    value = value[token];
  }
  return value;
}

function changed(value, path, change) {
  if (path.length === 0) return change(value);
  const [token, ...rest] = path;
  if (Array.isArray(value)) {
    const copy = value.slice();
    copy[Number(token)] = changed(value[Number(token)], rest, change);
    return copy;
  }
  const container = value === null || typeof value !== "object" ? {} : value;
  return { ...container, [token]: changed(container[token], rest, change) };
}

/** The document with another value at a pointer; `undefined` removes it. */
export function set(value, pointer, next) {
  if (next === undefined) return remove(value, pointer);
  return changed(value, tokens(pointer), () => next);
}

/** The document without the value at a pointer. */
export function remove(value, pointer) {
  const path = tokens(pointer);
  const token = path.pop();
  if (get(value, parent(pointer)) === undefined) return value;
  return changed(value, path, (container) => {
    if (Array.isArray(container)) return container.filter((_, index) => index !== Number(token));
    const { [token]: _, ...rest } = container;
    return rest;
  });
}

/** The document with `item` inserted into the array at `list`, made if there is none. */
export function insert(value, list, index, item) {
  return changed(value, tokens(list), (array) => {
    const copy = Array.isArray(array) ? array.slice() : [];
    copy.splice(index, 0, item);
    return copy;
  });
}

/**
 * Moves the array element at `from` to `index` of the array at `list`, counted before the move.
 * @returns {[unknown, string] | null} the document and the new pointer; null if it cannot move there
 */
export function move(value, from, list, index) {
  if (within(list, from)) return null;
  const item = get(value, from);
  const source = parent(from);
  const at = Number(last(from));
  if (source === list) {
    const target = at < index ? index - 1 : index;
    if (target === at) return null;
    return [insert(remove(value, from), list, target, item), `${list}/${target}`];
  }
  // Removing it first shifts the elements after it, through which the way to the list may lead.
  const after = insert(value, list, index, item);
  const moved = shifted(from, list, index, 1);
  const result = remove(after, moved);
  return [result, shifted(`${list}/${index}`, source, at, -1)];
}

/** A pointer after the array at `list` has gained or lost an element at `index`. */
function shifted(pointer, list, index, by) {
  if (!pointer.startsWith(`${list}/`)) return pointer;
  const rest = pointer.slice(list.length + 1).split("/");
  const at = Number(rest[0]);
  if (at < index) return pointer;
  rest[0] = String(at + by);
  return `${list}/${rest.join("/")}`;
}

/** The places where two values differ, as `{path, before, after}`, at most `most`. */
export function differences(before, after, most = 200, path = "", found = []) {
  if (found.length >= most || before === after) return found;
  const both = before !== null && after !== null && typeof before === "object" && typeof after === "object";
  if (!both || Array.isArray(before) !== Array.isArray(after)) {
    if (JSON.stringify(before) !== JSON.stringify(after)) found.push({ path, before, after });
    return found;
  }
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    differences(before[key], after[key], most, `${path}/${escape(key)}`, found);
  }
  return found;
}
