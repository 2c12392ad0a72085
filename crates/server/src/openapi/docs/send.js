// A request: from what is filled in to what is sent, and its answer.

import { root } from './description.js';
import { isPlain, key } from './settings.js';

/** The run that was begun last, for the routes that ask for one. */
const remembered = new Map();

/** What is filled in before anybody has: required parameters with their examples, and the first example of a body. */
export function fresh(description, operation) {
  const values = {};
  for (const parameter of operation.parameters) {
    const [example] = description.examples(parameter);
    const known = example?.value ?? (parameter.in === 'path' ? remembered.get(parameter.name) : undefined);
    values[nameOf(parameter)] = parameter.required ? textOf(known) : '';
  }
  const contents = operation.body?.contents ?? [];
  const content = contents.find(one => description.examples(one).length) ?? contents[0];
  const state = { values, type: '', text: '', fields: [], file: null };
  if (content && (operation.body.required || description.examples(content).length)) fill(description, state, content);
  return state;
}

/** Puts an example of `content` into `state`. */
export function fill(description, state, content, name) {
  state.type = content.type;
  const examples = description.examples(content);
  const example = examples.find(one => one.name === name) ?? examples[0];
  state.example = example?.name ?? '';
  state.file = null;
  state.text = '';
  state.fields = [];
  if (content.type === 'multipart/form-data') {
    state.fields = Object.entries(example?.value ?? {}).map(([field, value]) => {
      const kind = content.encoding?.[field]?.contentType;
      return kind
        ? { name: field, file: new File([textOf(value)], FILE_NAMES[kind] ?? 'file.txt', { type: kind }) }
        : { name: field, value: textOf(value) };
    });
  } else if (isJson(content.type)) {
    state.text = example ? JSON.stringify(example.value, null, 2) : '';
  } else if (example) {
    state.file = new File([textOf(example.value)], 'example', { type: content.type });
  }
}

const FILE_NAMES = { 'text/html': 'index.html', 'text/markdown': 'text.md', 'text/csv': 'table.csv', 'text/plain': 'text.txt' };

export const isJson = type => /[/+]json$/.test(type);
export const nameOf = parameter => `${parameter.in}:${parameter.name}`;
const textOf = value => value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);

/** The request as it goes out: method, address, headers, body. */
export function plan(operation, state) {
  let path = operation.path;
  const query = new URLSearchParams();
  const headers = new Headers();
  const missing = [];
  for (const parameter of operation.parameters) {
    const value = state.values[nameOf(parameter)] ?? '';
    if (value === '') {
      if (parameter.required) missing.push(parameter.name);
      continue;
    }
    if (parameter.in === 'path') path = path.replace(`{${parameter.name}}`, encodeURIComponent(value));
    else if (parameter.in === 'query') query.append(parameter.name, value);
    else if (parameter.in === 'header' && isPlain(value)) headers.set(parameter.name, value);
    else missing.push(`${parameter.name} in plain letters`);
  }
  if (isPlain(key()) && key()) headers.set('X-Api-Key', key());
  const url = new URL(path.slice(1), root);
  url.search = query;
  let body = null;
  if (state.type === 'multipart/form-data') {
    body = new FormData();
    for (const field of state.fields.filter(one => one.name)) body.append(field.name, field.file ?? field.value);
  } else if (state.type && (state.file || state.text !== '')) {
    headers.set('Content-Type', state.type);
    body = isJson(state.type) ? state.text : state.file ?? state.text;
  }
  return { method: operation.method.toUpperCase(), url, headers, body, missing };
}

/** Sends; the answer with its bytes. `onText` hears what a stream of events says while it comes. */
export async function send(request, signal, onText) {
  const { method, url, headers, body } = request;
  const start = performance.now();
  const answer = await fetch(url, { method, headers, body, signal, cache: 'no-store', credentials: 'same-origin' });
  const head = { status: answer.status, words: answer.statusText, headers: answer.headers, url };
  const run = answer.headers.get('x-run-id') ?? /\/runs\/([^/]+)$/.exec(answer.headers.get('location') ?? '')?.[1];
  if (run) remembered.set('id', run);
  const type = (answer.headers.get('content-type') ?? '').split(';')[0].trim();
  const blob = type === 'text/event-stream' ? await follow(answer, type, onText) : await answer.blob();
  return { ...head, type, blob, milliseconds: performance.now() - start };
}

async function follow(answer, type, onText) {
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      text += value;
      onText?.(text);
    }
  } catch (error) {
    // What came before it was ended by hand is shown.
    if (error.name !== 'AbortError') throw error;
  }
  return new Blob([text], { type });
}
