// The JSON Schema of templates: which form a value has, and what its properties mean.

import { json } from "./api.js";
import { tokens } from "./pointer.js";

let loaded = null;

/** The schema of templates. */
export function templateSchema() {
  loaded ??= json("GET", "schema/template.json").catch((error) => {
    loaded = null;
    throw error;
  });
  return loaded;
}

/** Name of the definition that a schema refers to. */
export const nameOf = (schema) => schema?.$ref?.split("/").pop() ?? "";

/** The schema that a reference leads to. */
export function resolve(root, schema) {
  let found = schema ?? {};
  for (let depth = 0; found.$ref && depth < 20; depth += 1) {
    let target = root;
    for (const token of found.$ref.slice(2).split("/")) target = target?.[token];
    const { $ref, ...rest } = found;
    found = { ...target, ...rest };
  }
  return found;
}

const isNull = (schema) => schema.type === "null" || schema.const === null;

/** The alternatives of a schema, without null; a schema without alternatives is the only one. */
export function options(root, schema) {
  const whole = resolve(root, schema);
  const all = whole.anyOf ?? whole.oneOf;
  if (!all) return [schema];
  return all.filter((one) => !isNull(one)).flatMap((one) => {
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
  const all = (whole.oneOf ?? whole.anyOf ?? []).filter((one) => !isNull(one));
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

/** The node types with their schemas. */
export function nodeTypes(root) {
  const node = root.$defs?.Node ?? root.definitions?.Node ?? {};
  return (node.oneOf ?? node.anyOf ?? []).map((one) => resolve(root, one))
    .map((schema) => ({ type: schema.properties?.type?.const, schema, about: schema.description }));
}

/** Whether a schema is a list of nodes. */
export function isNodeList(root, schema) {
  return options(root, schema).some((one) => nameOf(resolve(root, one).items) === "Node");
}

/** Whether a schema is a list of objects. */
export function isObjectList(root, schema) {
  const list = resolve(root, options(root, schema).find((one) => resolve(root, one).items) ?? {});
  if (!list.items || isNodeList(root, schema)) return false;
  return options(root, list.items).some((one) => resolve(root, one).properties);
}
