// Sample data from a JSON Schema, a JSON Schema from sample data, and what a value of it is in short.

/** @import { Json, Schema } from "./types.js" */

import { get } from "./pointer.js";
import { itemOf } from "./schema.js";
import { tn } from "./text.js";

/** Deepest nesting of made data. */
const DEPTH = 8;

/**
 * Data that a schema allows.
 * @param {Schema | boolean | null | undefined} schema
 * @param {Schema} [root] whose definitions references name
 * @param {string} [name]
 * @param {number} [depth]
 * @returns {Json}
 */
export function sampleOf(schema, root = /** @type {Schema} */ (schema), name = "", depth = 0) {
  if (depth > DEPTH || !schema || typeof schema !== "object") return null;
  if (schema.$ref?.startsWith("#/")) {
    return sampleOf(/** @type {Schema | undefined} */ (get(root, schema.$ref.slice(1))), root, name, depth + 1);
  }
  if (schema.examples?.length) return schema.examples[0];
  if (schema.default !== undefined) return schema.default;
  if (schema.const !== undefined) return schema.const;
  if (schema.enum?.length) return schema.enum[0];
  const part = schema.oneOf?.[0] ?? schema.anyOf?.[0];
  if (part && !schema.properties) return sampleOf(part, root, name, depth + 1);
  const type = [schema.type ?? (schema.properties ? "object" : schema.items ? "array" : "string")].flat().find((one) => one !== "null");
  if (type === "object") {
    const all = Object.entries(/** @type {{[name: string]: Schema}} */ ({ ...Object.assign({}, ...(schema.allOf ?? []).map((one) => one.properties)), ...schema.properties }));
    return Object.fromEntries(all.map(([key, of]) => [key, sampleOf(of, root, key, depth + 1)]));
  }
  if (type === "array") {
    const count = Math.min(Math.max(schema.minItems ?? 3, 1), schema.maxItems ?? 3, 5);
    return Array.from({ length: count }, () => sampleOf(itemOf(schema) ?? {}, root, name, depth + 1));
  }
  if (type === "integer") return Math.max(schema.minimum ?? 1, 1);
  if (type === "number") return Math.max(schema.minimum ?? 0, 19.9);
  if (type === "boolean") return true;
  if (schema.format === "date") return "2026-01-31";
  if (schema.format === "date-time") return "2026-01-31T12:00:00Z";
  if (schema.format === "email") return "name@company.example";
  const text = name ? name.charAt(0).toUpperCase() + name.slice(1) : "Text";
  return text.slice(0, schema.maxLength ?? 200).padEnd(schema.minLength ?? 0, "x");
}

/**
 * A schema that data fulfils: its fields with their types.
 * @param {Json} value
 * @param {number} [depth]
 * @returns {Schema}
 */
export function schemaOf(value, depth = 0) {
  if (depth > DEPTH || value === null) return {};
  if (Array.isArray(value)) return { type: "array", items: value.slice(0, 100).map((one) => schemaOf(one, depth + 1)).reduce(merged, /** @type {Schema | null} */ (null)) ?? {} };
  if (typeof value === "object") {
    const all = Object.entries(value);
    return { type: "object", properties: Object.fromEntries(all.map(([key, one]) => [key, schemaOf(one, depth + 1)])), required: all.filter(([, one]) => one !== null).map(([key]) => key) };
  }
  if (typeof value === "number") return { type: Number.isInteger(value) ? "integer" : "number" };
  if (typeof value === "string" && /^\d{4}-\d\d-\d\d$/.test(value)) return { type: "string", format: "date" };
  return { type: typeof value };
}

/**
 * What both of two schemas allow.
 * @param {Schema | null} one
 * @param {Schema} other
 * @returns {Schema}
 */
function merged(one, other) {
  if (!one) return other;
  if (one.type !== other.type) return [one.type, other.type].sort().join() === "integer,number" ? { type: "number" } : {};
  if (one.type === "object") {
    const properties = { ...one.properties };
    for (const [key, of] of Object.entries(other.properties ?? {})) properties[key] = merged(properties[key] ?? null, of);
    return { type: "object", properties, required: one.required?.filter((key) => other.required?.includes(key)) };
  }
  if (one.type === "array") return { type: "array", items: merged(itemOf(one) ?? null, itemOf(other) ?? {}) };
  return one.format === other.format ? one : { type: one.type };
}

/** Longest text of a value in short. */
const MOST_BRIEF = 80;

/**
 * A value in short: its text, or how much is in it.
 * @param {unknown} value
 */
export function brief(value) {
  if (Array.isArray(value)) return tn(value.length, "{count} row", "{count} rows");
  const isObject = value !== null && typeof value === "object";
  return isObject ? tn(Object.keys(value).length, "{count} field", "{count} fields") : String(value).slice(0, MOST_BRIEF);
}
