// The JSON Schemas of templates and flows: which form a value has, and what its properties mean.

/** @import { Fields, Json, Schema } from "./types.js" */

import { json } from "./api.js";
import { get, tokens } from "./pointer.js";

/** @type {Map<string, Promise<Schema>>} */
const loaded = new Map();

/**
 * The schema of templates or of flows, `template` or `flow`.
 * @param {"template" | "flow"} kind
 * @returns {Promise<Schema>}
 */
export function schemaOfKind(kind) {
  const known = loaded.get(kind);
  if (known) return known;
  const asked = /** @type {Promise<Schema>} */ (json("GET", `schema/${kind}.json`));
  loaded.set(kind, asked);
  asked.catch(() => loaded.delete(kind));
  return asked;
}

/**
 * Name of the definition that a schema refers to.
 * @param {Schema | null | undefined} schema
 */
export const nameOf = (schema) => schema?.$ref?.split("/").pop() ?? "";

/**
 * A schema with what another adds to it.
 * @param {Schema} base
 * @param {Schema} more
 * @returns {Schema}
 */
function joined(base, more) {
  const found = { ...base, ...more };
  if (base.properties && more.properties) found.properties = { ...base.properties, ...more.properties };
  if (base.required && more.required) found.required = [...new Set([...more.required, ...base.required])];
  return found;
}

/**
 * The schema that a reference leads to.
 * @param {Schema} root
 * @param {Schema | null | undefined} schema
 * @returns {Schema}
 */
export function resolve(root, schema) {
  let found = schema ?? {};
  for (let depth = 0; found.$ref && depth < 20; depth += 1) {
    const { $ref, ...rest } = found;
    found = joined(/** @type {Schema | undefined} */ (get(root, $ref.slice(1))) ?? {}, rest);
  }
  return found;
}

/** @param {Schema} schema */
const isNull = (schema) => schema.type === "null" || schema.const === null;

/**
 * Whether an alternative is a text with expressions, which most properties may be.
 * @param {Schema} schema
 */
const isDynamic = (schema) => schema.pattern === "\\{\\{";

/**
 * Names of the definitions that a schema refers to, itself or as alternatives.
 * @param {Schema | null | undefined} schema
 * @param {string[]} [found]
 */
export function namesIn(schema, found = []) {
  if (schema?.$ref) found.push(nameOf(schema));
  for (const one of schema?.anyOf ?? schema?.oneOf ?? []) namesIn(one, found);
  return found;
}

/**
 * The alternatives of a schema, without null; a schema without alternatives is the only one.
 * @param {Schema} root
 * @param {Schema | null | undefined} schema
 * @returns {Schema[]}
 */
export function options(root, schema) {
  const whole = resolve(root, schema);
  const all = whole.anyOf ?? whole.oneOf;
  if (!all) return [schema ?? {}];
  // Alternatives beside properties have these, too.
  const { properties, required } = whole;
  const parts = properties ? all.map((one) => joined({ properties, required }, resolve(root, one))) : all;
  return parts.filter((one) => !isNull(one)).flatMap((one) => {
    const inner = resolve(root, one);
    return (inner.anyOf ?? inner.oneOf) && choices(root, one).length === 0 ? options(root, one) : [one];
  });
}

/**
 * The constants of a choice with their descriptions.
 * @param {Schema} root
 * @param {Schema} schema
 * @returns {{value: Json, about?: string}[]}
 */
export function choices(root, schema) {
  const whole = resolve(root, schema);
  if (Array.isArray(whole.enum)) return whole.enum.filter((one) => one !== null).map((value) => ({ value }));
  const all = (whole.oneOf ?? whole.anyOf ?? []).filter((one) => !isNull(one) && !isDynamic(one));
  const inner = all.map((one) => resolve(root, one));
  if (all.length === 1) return choices(root, all[0]);
  if (!inner.every((one) => one.const !== undefined || Array.isArray(one.enum))) return [];
  return inner.flatMap((one) => (one.const !== undefined ? [{ value: one.const, about: one.description }] : (one.enum ?? []).map((value) => ({ value }))));
}

/** The `type` of an object. */
export const typeOf = (/** @type {unknown} */ value) => (value !== null && typeof value === "object" && "type" in value ? value.type : undefined);

/**
 * @param {Schema} root
 * @param {Schema} schema
 * @param {unknown} value
 */
function fits(root, schema, value) {
  const whole = resolve(root, schema);
  const type = typeOf(value);
  if (whole.properties?.type?.const !== undefined && typeof type === "string") return whole.properties.type.const === type;
  const kinds = [whole.type].flat().filter(Boolean);
  const kind = Array.isArray(value) ? "array" : value === null ? "null" : typeof value;
  return kinds.length === 0 || kinds.includes(kind) || (kind === "number" && kinds.includes("integer"));
}

/**
 * The alternative of a schema that fits a value; the first one for no value.
 * @param {Schema} root
 * @param {Schema | null | undefined} schema
 * @param {unknown} value
 * @returns {Schema}
 */
export function chosen(root, schema, value) {
  const all = options(root, schema);
  if (value === undefined || value === null) return all[0];
  const exact = all.filter((one) => fits(root, one, value));
  const objects = exact.filter((one) => resolve(root, one).properties?.type?.const !== undefined);
  return (typeOf(value) !== undefined && objects[0]) || exact[0] || all[0];
}

/** The schema of the elements of a list. */
export const itemOf = (/** @type {Schema} */ schema) => (Array.isArray(schema.items) ? schema.items[0] : schema.items);

/**
 * The schema of the value at a pointer.
 * @param {Schema} root
 * @param {string} pointer
 * @param {unknown} document
 */
export function schemaAt(root, pointer, document) {
  let schema = /** @type {Schema} */ (root);
  let value = document;
  for (const token of tokens(pointer)) {
    const whole = resolve(root, chosen(root, schema, value));
    value = value !== null && typeof value === "object" ? /** @type {Fields} */ (value)[token] : undefined;
    schema = whole.properties?.[token] ?? itemOf(whole)
      ?? (typeof whole.additionalProperties === "object" ? whole.additionalProperties : {});
  }
  return schema;
}

/**
 * The constants that the value at a pointer may be, with their descriptions: those of its schema, or,
 * for a property such as `type`, those by which alternatives are told apart.
 * @param {Schema} root
 * @param {string} pointer
 * @param {unknown} document
 * @returns {{value: Json, about?: string}[]}
 */
export function choicesAt(root, pointer, document) {
  const found = choices(root, schemaAt(root, pointer, document));
  if (found.length > 0) return found;
  const name = tokens(pointer).at(-1);
  if (name === undefined) return [];
  const outer = schemaAt(root, pointer.slice(0, pointer.lastIndexOf("/")), document);
  return options(root, outer).map((one) => resolve(root, one)).flatMap(({ properties, description }) => {
    const value = properties?.[name]?.const;
    return value === undefined ? [] : [{ value, about: description }];
  });
}

/**
 * The types of nodes, or of steps, with their schemas.
 * @param {Schema} root
 * @param {string} name
 */
export function typesOf(root, name) {
  return options(root, { $ref: `#/$defs/${name}` }).map((one) => resolve(root, one))
    .map((schema) => ({ type: String(schema.properties?.type?.const ?? ""), about: schema.description ?? "" }));
}

/**
 * Whether a schema is a list of nodes, or of the steps of a flow.
 * @param {Schema} root
 * @param {Schema} schema
 */
export function isNodeList(root, schema) {
  return options(root, schema).some((one) => ["Node", "Step"].includes(nameOf(itemOf(resolve(root, one)))));
}

/**
 * Whether a schema is a list of objects.
 * @param {Schema} root
 * @param {Schema} schema
 */
export function isObjectList(root, schema) {
  const list = resolve(root, options(root, schema).find((one) => resolve(root, one).items) ?? {});
  if (!list.items || isNodeList(root, schema)) return false;
  return options(root, itemOf(list)).some((one) => resolve(root, one).properties);
}
