// What properties and filters mean, in the language of the page.

import { signal } from "./base.js";
import { language } from "./text.js";

/**
 * How the descriptions of each language are loaded; those of the schemas are in English.
 * @type {{[language: string]: () => Promise<{[english: string]: string}>}}
 */
const loaders = { de: async () => (await import("./schema-de.js")).german };
const loaded = signal(/** @type {{[language: string]: {[english: string]: string}}} */ ({}));
const asked = new Set();

/** @param {string} tag */
async function load(tag) {
  asked.add(tag);
  try {
    loaded.value = { ...loaded.value, [tag]: await loaders[tag]() };
  } catch {
    asked.delete(tag);
  }
}

/**
 * A description; in English until the words of the language are there.
 * @param {string | undefined} english
 */
export function described(english) {
  const tag = language.value;
  if (!english || !(tag in loaders)) return english ?? "";
  if (!asked.has(tag)) load(tag);
  return loaded.value[tag]?.[english] ?? english;
}
