// Fonts, colors and styles of a theme, with what the engine takes where a theme says nothing.

/** @import { Signal } from "./vendor-signals.js" */
/** @import { Schema, Style, Template } from "./types.js" */
/**
 * @typedef {keyof typeof COLORS} ColorName
 * @typedef {{name: string, on: "page" | "surface" | "style", text: unknown, ground: unknown, isLarge: boolean, path: string,
 *   ratio: number | null, passes: boolean | null}} Pair
 */

import { signal } from "./base.js";
import { bearer, json } from "./api.js";
import { get, set, remove, escape, tokens } from "./pointer.js";
import { contrast, needed } from "./contrast.js";
import { namesIn, schemaAt } from "./schema.js";

/** Colors of the engine, as in crates/document/src/style_sheet/builtin.rs. */
export const COLORS = { text: "#1f2933", primary: "#1f4e79", muted: "#616e7c", border: "#c5cdd6", surface: "#f3f6f9" };

/** Families that every service has, for those who may not ask which others it has. */
const FAMILIES = ["Liberation Sans", "Liberation Serif", "Liberation Mono", "Noto Sans Arabic", "Noto Sans JP"];

/**
 * Families of the service, once they are known.
 * @type {Signal<string[]>}
 */
const known = signal(FAMILIES);
let isAsked = false;

/** Asks the service which families it has, once. An editor in a frame may not ask. */
function ask() {
  if (isAsked || bearer.value) return;
  isAsked = true;
  /** @type {Promise<{families: {name: string}[]}>} */ (json("GET", "fonts")).then(
    (answer) => { known.value = answer.families.map((one) => one.name); },
    // Other names are typed then.
    () => {},
  );
}

/** @type {{color: ColorName}} */
const primary = { color: "primary" };
/** @type {{color: ColorName}} */
const muted = { color: "muted" };

/**
 * The engine's own styles: which colors of the theme they take, and whether their text is large.
 * @type {{[name: string]: {color?: ColorName, background?: ColorName, isLarge?: boolean}}}
 */
export const OWN = {
  body: {}, title: { ...primary, isLarge: true }, heading1: { ...primary, isLarge: true }, heading2: { ...primary, isLarge: true },
  heading3: {}, heading4: {}, heading5: {}, heading6: muted, caption: muted, code: {}, link: primary,
  tableHeader: { ...primary, background: "surface" }, tableCell: {}, tableTotal: {}, groupHeader: {}, subtotal: {}, footnote: {},
  tocEntry: {}, label: muted, small: {}, panel: { background: "surface" }, header: muted, footer: muted, muted,
};

/**
 * The colors of a document's theme.
 * @param {Template} document
 * @returns {{[name: string]: unknown}}
 */
export const colorsOf = (document) => ({ ...COLORS, ...document.theme?.colors });

/**
 * What is behind the text of a page.
 * @param {Template} document
 */
export const groundOf = (document) => document.page?.background?.color ?? "#ffffff";

/**
 * Families to choose from: those of the service, and those that the document names.
 * @param {Template} document
 */
export function families(document) {
  ask();
  const found = new Set(known.value);
  const all = [...Object.values(document.theme?.fonts ?? {}), ...Object.values(document.theme?.styles ?? {}).map((one) => one?.fontFamily)];
  for (const one of all.flat()) if (typeof one === "string") found.add(one);
  return [...found].sort((one, other) => one.localeCompare(other));
}

/**
 * Points of a length.
 * @param {unknown} length
 */
function points(length) {
  const [, amount, unit] = /^([0-9.]+) ?(pt|mm|cm|in|px)?$/.exec(String(length ?? "")) ?? [];
  const factors = new Map([["mm", 72 / 25.4], ["cm", 72 / 2.54], ["in", 72], ["px", 0.75]]);
  const factor = factors.get(unit) ?? 1;
  return amount === undefined ? null : Number(amount) * factor;
}

/**
 * The properties of a style, with those of the styles that it extends.
 * @param {Template} document
 * @param {string} name
 * @param {string[]} [seen]
 * @returns {Style & {isLarge?: boolean}}
 */
function propertiesOf(document, name, seen = []) {
  const styles = document.theme?.styles ?? {};
  const style = styles[name] ?? {};
  if (seen.includes(name)) return style;
  const base = /** @type {Style} */ (style.extends ? propertiesOf(document, style.extends, [...seen, name]) : {});
  const own = OWN[name] ?? {};
  const colors = colorsOf(document);
  return /** @type {Style} */ ({
    ...base, ...(own.color ? { color: colors[own.color] } : {}), ...(own.background ? { background: colors[own.background] } : {}),
    ...(own.isLarge ? { isLarge: true } : {}), ...style,
  });
}

/**
 * Whether text of a style counts as large: from 18 pt, bold from 14 pt.
 * @param {Style & {isLarge?: boolean}} properties
 */
function isLarge(properties) {
  const size = points(properties.fontSize);
  if (size === null) return Boolean(properties.isLarge);
  const isBold = properties.bold ?? (properties.fontWeight ? properties.fontWeight >= 700 : Boolean(properties.isLarge));
  return size >= (isBold ? 14 : 18);
}

/**
 * The pairs of text and ground that a theme makes, with their contrast; null where an expression decides.
 * Styles are those that the theme changes.
 * @param {Template} document
 * @returns {Pair[]}
 */
export function pairs(document) {
  const colors = colorsOf(document);
  const page = groundOf(document);
  const checked = (/** @type {Omit<Pair, "ratio" | "passes">} */ one) => {
    const ratio = contrast(one.text, one.ground);
    return { ...one, ratio, passes: ratio === null ? null : ratio >= needed(one.isLarge) };
  };
  /** @type {Omit<Pair, "ratio" | "passes">[]} */
  const basic = ["text", "primary", "muted"].flatMap((name) => [
    { name, on: "page", text: colors[name], ground: page, isLarge: false, path: `/theme/colors/${name}` },
    { name, on: "surface", text: colors[name], ground: colors.surface, isLarge: false, path: `/theme/colors/${name}` },
  ]);
  /** @type {Omit<Pair, "ratio" | "passes">[]} */
  const styles = Object.keys(document.theme?.styles ?? {}).map((name) => {
    const properties = propertiesOf(document, name);
    return {
      name, on: "style", text: properties.color ?? colors.text, ground: properties.background ?? page,
      isLarge: isLarge(properties), path: `/theme/styles/${escape(name)}`,
    };
  });
  return [...basic, ...styles].map(checked);
}

/**
 * Where a document names a style: pointers of names, and of lists of names.
 * @param {Schema} root
 * @param {Template} document
 * @param {string} name
 */
export function usesOf(root, document, name) {
  const found = /** @type {string[]} */ ([]);
  const walk = (/** @type {unknown} */ value, /** @type {string} */ pointer) => {
    if (value === null || typeof value !== "object") return;
    for (const [key, inner] of Object.entries(value)) {
      const at = `${pointer}/${escape(key)}`;
      const isNamed = inner === name || (Array.isArray(inner) && inner.includes(name));
      if (key === "extends" && isNamed && pointer.startsWith("/theme/styles/")) found.push(at);
      else if (/^(style|headerStyle)$/.test(key) && isNamed && namesIn(schemaAt(root, at, document)).includes("StyleRef")) found.push(at);
      else walk(inner, at);
    }
  };
  walk(document, "");
  return found;
}

/**
 * The document with a style under another name, also where it is used.
 * @param {Schema} root
 * @param {Template} document
 * @param {string} from
 * @param {string} to
 */
export function renamed(root, document, from, to) {
  const uses = usesOf(root, document, from);
  const styles = Object.fromEntries(Object.entries(document.theme?.styles ?? {}).map(([name, style]) => [name === from ? to : name, style]));
  const moved = set(document, "/theme/styles", styles);
  const before = `/theme/styles/${escape(from)}/`;
  return uses.reduce((found, use) => {
    const at = use.startsWith(before) ? `/theme/styles/${escape(to)}/${use.slice(before.length)}` : use;
    const value = get(found, at);
    return set(found, at, Array.isArray(value) ? value.map((one) => (one === from ? to : one)) : to);
  }, moved);
}

/**
 * The document without a value, and without what is empty after that, up to the theme.
 * @param {Template} document
 * @param {string} pointer
 */
export function cleared(document, pointer) {
  const next = remove(document, pointer);
  const outer = `/${tokens(pointer).slice(0, -1).map(escape).join("/")}`;
  const isEmpty = outer.startsWith("/theme/") && Object.keys(get(next, outer) ?? { some: 1 }).length === 0;
  return isEmpty ? remove(next, outer) : next;
}
