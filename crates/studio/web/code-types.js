// What code in flows has: `ctx` as the sandbox makes it, and the shapes of known values.

/** @import { FlowDefinition, Json } from "./types.js" */
/**
 * What is known of a value: how its type is written, its members, its elements, and what a call or `await` gives.
 * @typedef {{type: string, about?: string, members?: () => {[name: string]: Shape}, item?: Shape, result?: Shape, awaited?: Shape}} Shape
 */

import { brief } from "./sample.js";
import { t } from "./text.js";

/** @type {Shape} */
export const UNKNOWN = { type: "any" };

/**
 * Methods that every value of a kind has, as this browser knows them.
 * @param {object} prototype
 * @param {Shape} [item]
 * @returns {{[name: string]: Shape}}
 */
function methods(prototype, item) {
  const names = Object.getOwnPropertyNames(prototype).filter((name) => name !== "constructor" && /^[a-z]\w*$/.test(name) && name !== "length");
  const list = /** @type {Shape | undefined} */ (item && { type: `${item.type}[]`, item });
  const kept = new Set(["filter", "slice", "sort", "reverse", "concat", "toSorted", "toReversed"]);
  const one = new Set(["find", "findLast", "at", "pop", "shift"]);
  return Object.fromEntries(names.map((name) => [name, { type: "(…) => …", result: kept.has(name) && list ? listOf(/** @type {Shape} */ (item)) : one.has(name) ? item : undefined }]));
}

/**
 * A list of elements of a shape.
 * @param {Shape} item
 * @returns {Shape}
 */
const listOf = (item) => ({
  type: `${item.type}[]`, item, members: () => ({ length: { type: "number" }, ...methods(Array.prototype, item) }),
});

/** @type {Shape} */
const STRING = { type: "string", members: () => ({ length: { type: "number" }, ...methods(String.prototype) }) };

/**
 * The shape of a value that is known, such as one of the last run.
 * @param {Json | undefined} value
 * @returns {Shape}
 */
export function shapeOf(value) {
  const about = value === undefined || value === null ? undefined : t("In the last run: {value}", { value: brief(value) });
  if (Array.isArray(value)) return { ...listOf(shapeOf(value[0])), about };
  if (typeof value === "string") return { ...STRING, about };
  if (typeof value === "number") return { type: "number", about, members: () => methods(Number.prototype) };
  if (typeof value === "boolean") return { type: "boolean", about };
  if (value === null || value === undefined) return { ...UNKNOWN, about };
  return { type: "object", about, members: () => Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shapeOf(inner)])) };
}

/** @type {(type: string, about: string, result?: Shape) => Shape} */
const call = (type, about, result = UNKNOWN) => ({ type, about, result });

/** @type {(awaited: Shape) => Shape} */
const promise = (awaited) => ({ type: `Promise<${awaited.type}>`, awaited });

/** @returns {Shape} */
const answer = () => ({
  type: "Response", members: () => ({
    status: { type: "number", about: t("The status, such as 200.") },
    ok: { type: "boolean", about: t("Whether the status is 200 to 299.") },
    headers: { type: "Map<string, string>", about: t("Headers by their names in lower case."), members: () => methods(Map.prototype) },
    text: call("() => Promise<string>", t("The body as a text."), promise(STRING)),
    json: call("() => Promise<any>", t("The body, read as JSON."), promise(UNKNOWN)),
  }),
});

/** @returns {Shape} */
const file = () => ({
  type: "File", members: () => ({
    $file: {
      type: "object", about: t("The file itself."), members: () => ({
        name: STRING, mediaType: STRING, sizeBytes: { type: "number" }, base64: { ...STRING, about: t("Its bytes as base64.") },
      }),
    },
    pages: { type: "number", about: t("How many pages it has.") },
    warnings: { ...listOf({ type: "object", members: () => ({ code: STRING, message: STRING, path: STRING }) }), about: t("What the format could not carry.") },
  }),
});

/** @returns {Shape} */
const logs = () => ({
  ...call("(...parts: any[]) => void", t("Writes a line to the log of the step.")),
  members: () => Object.fromEntries(["debug", "info", "warn", "error"].map((level) => [level, call("(...parts: any[]) => void", t("Writes a line of the level {level}.", { level }))])),
});

/**
 * `ctx` of the steps of a flow.
 * @param {FlowDefinition} flow
 * @returns {Shape}
 */
export const context = (flow) => ({
  type: "Context", members: () => ({
    log: logs(),
    fetch: call("(url: string, init?: { method, headers, body }) => Promise<Response>", t("Sends a request, by the rules of steps of the type http. Sixteen run at a time."), promise(answer())),
    render: call("(request: { template | definition, data, format, options }) => Promise<File>", t("Makes a document. The flow's `templates` must list the template."), promise(file())),
    store: {
      type: "object", about: t("Values that last from one run to the next."), members: () => ({
        get: call("(key: string, options?: { scope: 'shared' }) => Promise<any>", t("The value of a key, or null."), promise(UNKNOWN)),
        put: call("(key: string, value: any, options?: { scope: 'shared' }) => Promise<any>", t("Stores a value under a key."), promise(UNKNOWN)),
        delete: call("(key: string, options?: { scope: 'shared' }) => Promise<null>", t("Deletes a key."), promise(UNKNOWN)),
      }),
    },
    secrets: {
      type: "object", about: t("The secrets that the flow's `secrets` lists."), members: () => Object.fromEntries((Array.isArray(flow.secrets) ? flow.secrets : [])
        .map((name) => [String(name), { ...STRING, about: t("A secret of the service; views of runs mask it.") }])),
    },
    run: {
      type: "object", about: t("This run."), members: () => ({
        id: { ...STRING, about: t("The ID of the run.") }, flow: { ...STRING, about: t("The key of the flow.") },
        callback: { ...STRING, about: t("The path that ends a wait for a callback.") },
      }),
    },
  }),
});

/**
 * What code may name besides its own variables.
 * @returns {{[name: string]: Shape}}
 */
export const globals = () => ({ console: { type: "object", members: () => ({ log: logs(), .../** @type {() => {[name: string]: Shape}} */ (logs().members)() }) } });

/** The shapes of texts, and of lists of a shape. */
export { STRING, listOf };
