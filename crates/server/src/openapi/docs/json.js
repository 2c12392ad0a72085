// JSON, coloured. Long texts stay plain, and very long ones are cut: the whole is for saving.

import { make } from './element.js';

const COLOURED = 200_000;
const SHOWN = 1_000_000;
const LONG_STRING = 4_000;
const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** `text` of JSON, laid out over lines; as it is where it is none. */
export function tidy(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** Where and why `text` is no JSON; nothing where it is. */
export function mistake(text) {
  try {
    JSON.parse(text);
    return '';
  } catch (error) {
    return error.message.replace(/^JSON\.parse: /, '');
  }
}

/** Coloured. */
export function coloured(text) {
  const pre = make('pre', { class: 'json', tabindex: 0 });
  if (text.length > COLOURED) {
    pre.append(text.slice(0, SHOWN));
    if (text.length > SHOWN) pre.append(`\n… and ${text.length - SHOWN} characters more`);
    return pre;
  }
  let end = 0;
  for (const match of text.matchAll(TOKEN)) {
    const [all, string, colon, word] = match;
    pre.append(text.slice(end, match.index));
    const kind = string ? (colon ? 'name' : 'string') : word ? 'word' : 'number';
    pre.append(make('span', { class: kind }, shortened(string ?? all)), colon ?? '');
    end = match.index + all.length;
  }
  pre.append(text.slice(end));
  return pre;
}

function shortened(text) {
  if (text.length <= LONG_STRING) return text;
  return `${text.slice(0, LONG_STRING / 2)}… ${text.length - LONG_STRING / 2} characters more"`;
}
