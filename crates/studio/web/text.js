// Words of the page. Modules name them in English; other languages have a catalogue.

import { signal, memory } from "./base.js";

/**
 * How the words of each language are loaded; English is what modules write.
 * @type {{[language: string]: () => Promise<{[english: string]: string}>}}
 */
const loaders = { en: async () => ({}), de: async () => (await import("./text-de.js")).german };
const wanted = /** @type {string | null} */ (memory.get("language")) ?? navigator.language.slice(0, 2);

/** Language of the page. */
export const language = signal(wanted in loaders ? wanted : "en");
let words = await loaders[language.value]();

/**
 * Changes the language.
 * @param {string} tag
 */
export async function speak(tag) {
  words = await loaders[tag]();
  memory.set("language", tag);
  document.documentElement.lang = tag;
  language.value = tag;
}

/**
 * A text in the language of the page; `{name}` stands for values of `fill`.
 * @param {string} english
 * @param {{[name: string]: unknown}} [fill]
 * @returns {string}
 */
export function t(english, fill = {}) {
  // The language is read, so that what is shown follows it.
  const text = (language.value && words[english]) ?? english;
  return text.replace(/\{(\w+)\}/g, (whole, name) => (name in fill ? String(fill[name]) : whole));
}

/**
 * A text about a count: one form for 1, another for the rest.
 * @param {number} count
 * @param {string} one
 * @param {string} many
 * @param {{[name: string]: unknown}} [fill]
 */
export const tn = (count, one, many, fill = {}) => t(count === 1 ? one : many, { count: number(count), ...fill });

/**
 * A name inside of a sentence: German nouns keep their capital.
 * @param {string} label
 */
export const within = (label) => (language.value === "de" ? label : label.toLowerCase());

/**
 * A number.
 * @param {number} value
 */
export const number = (value) => new Intl.NumberFormat(language.value).format(value);

/**
 * A size in bytes.
 * @param {number} size
 */
export function bytes(size) {
  const [by, unit] = size < 1000 ? [1, "B"] : size < 1e6 ? [1e3, "kB"] : [1e6, "MB"];
  return `${new Intl.NumberFormat(language.value, { maximumFractionDigits: 1 }).format(size / Number(by))} ${unit}`;
}

/**
 * A duration.
 * @param {number} ms
 */
export function duration(ms) {
  const format = (/** @type {number} */ value, /** @type {number} */ digits) => new Intl.NumberFormat(language.value, { maximumFractionDigits: digits }).format(value);
  if (ms < 1000) return `${format(ms, ms < 10 ? 1 : 0)} ms`;
  if (ms < 60_000) return `${format(ms / 1000, 2)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}

/**
 * A time: how long ago, up to a day.
 * @param {string | number} at
 */
export function when(at) {
  const date = new Date(at);
  const seconds = (Date.now() - date.getTime()) / 1000;
  const relative = new Intl.RelativeTimeFormat(language.value, { numeric: "auto", style: "short" });
  if (seconds < 5) return t("just now");
  if (seconds < 60) return relative.format(-Math.round(seconds), "second");
  if (seconds < 3600) return relative.format(-Math.round(seconds / 60), "minute");
  if (seconds < 86_400) return relative.format(-Math.round(seconds / 3600), "hour");
  return date.toLocaleDateString(language.value, { day: "numeric", month: "short", year: date.getFullYear() === new Date().getFullYear() ? undefined : "numeric" });
}
