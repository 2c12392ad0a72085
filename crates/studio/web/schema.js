// The JSON Schemas of templates and flows: which form a value has, and what its properties mean.

import { json } from "./api.js";
import { tokens } from "./pointer.js";

const loaded = new Map();

/** The schema of templates or of flows, `template` or `flow`. */
export function schemaOfKind(kind) {
  if (!loaded.has(kind)) {
    loaded.set(kind, json("GET", `schema/${kind}.json`).catch((error) => {
      loaded.delete(kind);
      throw error;
    }));
  }
  return loaded.get(kind);
}

/** Name of the definition that a schema refers to. */
export const nameOf = (schema) => schema?.$ref?.split("/").pop() ?? "";

/** A schema with what another adds to it. */
function joined(base, more) {
  const found = { ...base, ...more };
  if (base.properties && more.properties) found.properties = { ...base.properties, ...more.properties };
  if (base.required && more.required) found.required = [...new Set([...more.required, ...base.required])];
  return found;
}

/** The schema that a reference leads to. */
export function resolve(root, schema) {
  let found = schema ?? {};
  for (let depth = 0; found.$ref && depth < 20; depth += 1) {
    let target = root;
    for (const token of found.$ref.slice(2).split("/")) target = target?.[token];
    const { $ref, ...rest } = found;
    found = joined(target ?? {}, rest);
  }
  return found;
}

const isNull = (schema) => schema.type === "null" || schema.const === null;

/** Whether an alternative is a text with expressions, which most properties may be. */
const isDynamic = (schema) => schema.pattern === "\\{\\{";

/** Names of the definitions that a schema refers to, itself or as alternatives. */
export function namesIn(schema, found = []) {
  if (schema?.$ref) found.push(nameOf(schema));
  for (const one of schema?.anyOf ?? schema?.oneOf ?? []) namesIn(one, found);
  return found;
}

/** The alternatives of a schema, without null; a schema without alternatives is the only one. */
export function options(root, schema) {
  const whole = resolve(root, schema);
  const all = whole.anyOf ?? whole.oneOf;
  if (!all) return [schema];
  // Alternatives beside properties have these, too.
  const { properties, required } = whole;
  const parts = properties ? all.map((one) => joined({ properties, required }, resolve(root, one))) : all;
  return parts.filter((one) => !isNull(one)).flatMap((one) => {
    const inner = resolve(root, one);
    return (inner.anyOf ?? inner.oneOf) && !isChoice(root, one) ? options(root, one) : [one];
  });
}

/** Whether a schema is a choice of constants. */
export function isChoice(root, schema) {
  return choices(root, schema).length > 0;
}

/** The constants of a choice with their descriptions. */
export function choices(root, schema) {
  const whole = resolve(root, schema);
  if (Array.isArray(whole.enum)) return whole.enum.filter((one) => one !== null).map((value) => ({ value }));
  const all = (whole.oneOf ?? whole.anyOf ?? []).filter((one) => !isNull(one) && !isDynamic(one));
  const inner = all.map((one) => resolve(root, one));
  if (all.length === 1) return choices(root, all[0]);
  const constants = inner.flatMap((one) => (one.const !== undefined ? [{ value: one.const, about: one.description }]
    : Array.isArray(one.enum) ? one.enum.map((value) => ({ value })) : [null]));
  return constants.length > 0 && constants.every(Boolean) ? constants : [];
}

function fits(root, schema, value) {
  const whole = resolve(root, schema);
  const type = value?.type;
  if (whole.properties?.type?.const !== undefined && typeof type === "string") return whole.properties.type.const === type;
  const kinds = [whole.type].flat().filter(Boolean);
  const kind = Array.isArray(value) ? "array" : value === null ? "null" : typeof value;
  return kinds.length === 0 || kinds.includes(kind) || (kind === "number" && kinds.includes("integer"));
}

/** The alternative of a schema that fits a value; the first one for no value. */
export function chosen(root, schema, value) {
  const all = options(root, schema);
  if (value === undefined || value === null) return all[0];
  const exact = all.filter((one) => fits(root, one, value));
  const objects = exact.filter((one) => resolve(root, one).properties?.type?.const !== undefined);
  return (value?.type !== undefined && objects[0]) || exact[0] || all[0];
}

/** The schema of the value at a pointer. */
export function schemaAt(root, pointer, document) {
  let schema = root;
  let value = document;
  for (const token of tokens(pointer)) {
    const whole = resolve(root, chosen(root, schema, value));
    value = value?.[token];
    schema = whole.properties?.[token]
      ?? (Array.isArray(whole.items) ? whole.items[0] : whole.items)
      ?? (typeof whole.additionalProperties === "object" ? whole.additionalProperties : {});
  }
  return schema;
}

/** The types of nodes, or of steps, with their schemas. */
export function typesOf(root, name) {
  return options(root, { $ref: `#/$defs/${name}` }).map((one) => resolve(root, one))
    .map((schema) => ({ type: schema.properties?.type?.const, schema, about: schema.description }));
}

/** Whether a schema is a list of nodes, or of the steps of a flow. */
export function isNodeList(root, schema) {
  return options(root, schema).some((one) => ["Node", "Step"].includes(nameOf(resolve(root, one).items)));
}

/** Whether a schema is a list of objects. */
export function isObjectList(root, schema) {
  const list = resolve(root, options(root, schema).find((one) => resolve(root, one).items) ?? {});
  if (!list.items || isNodeList(root, schema)) return false;
  return options(root, list.items).some((one) => resolve(root, one).properties);
}
