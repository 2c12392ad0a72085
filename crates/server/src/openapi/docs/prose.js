// Texts of the description: paragraphs, code between backticks.

import { make } from './element.js';

/** Text with code in it. */
export function inline(text = '') {
  return text.split(/(`[^`]+`)/).filter(Boolean).map(part =>
    part.length > 2 && part.startsWith('`') ? make('code', {}, part.slice(1, -1)) : part);
}

/** Paragraphs, parted by empty lines. */
export function paragraphs(text = '', properties = {}) {
  return text.split(/\n\s*\n/).filter(Boolean).map(part => make('p', properties, inline(part)));
}

/** An address with its parameters set apart; lines break after slashes only. */
export function address(path) {
  const parts = path.split(/(\{[^}]+\})/).filter(Boolean);
  const broken = part => part.split(/(?<=\/)/).flatMap((piece, index) => index ? [make('wbr'), piece] : [piece]);
  return make('code', { class: 'path' }, parts.map(part =>
    part.startsWith('{') ? make('i', {}, part) : broken(part)));
}

/** The name of a method. */
export const method = name => make('span', { class: `method ${name}` }, name.toUpperCase());

/** A size for people. */
export function size(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  const units = ['kB', 'MB', 'GB'];
  let value = bytes / 1000;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}
