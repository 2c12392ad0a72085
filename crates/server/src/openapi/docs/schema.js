// Schemas as trees. A branch is made when it is opened, so that recursion and large schemas cost nothing.

import { fold, make } from './element.js';
import { inline, paragraphs } from './prose.js';

const nameOf = reference => decodeURIComponent(reference.split('/').pop());
const isNull = schema => schema?.type === 'null' || schema?.const === null;
const anything = schema => schema === true || !schema || typeof schema !== 'object' || Object.keys(schema).length === 0;

/** `schema` without the null beside it, and whether there was one. */
function notNull(schema) {
  const choices = schema?.anyOf ?? schema?.oneOf;
  const left = choices?.filter(one => !isNull(one));
  if (left && left.length === 1 && left.length < choices.length) {
    const { anyOf, oneOf, ...beside } = schema;
    return { ...left[0], ...beside };
  }
  return schema;
}

/** The type of `schema` in words, with links to the schemas that it names. */
export function typeOf(description, schema) {
  const it = notNull(schema);
  if (anything(it)) return ['anything'];
  if (it.$ref) {
    const name = nameOf(it.$ref);
    return [make('a', { href: `#/schemas/${encodeURIComponent(name)}` }, name)];
  }
  if ('const' in it) return [make('code', {}, JSON.stringify(it.const))];
  if (it.enum) return it.enum.length > 12 ? [`one of ${it.enum.length}`] : between(it.enum.map(one => [make('code', {}, JSON.stringify(one))]));
  const choices = it.oneOf ?? it.anyOf;
  if (choices) {
    const list = choices.filter(one => !isNull(one));
    if (list.length > 4) return [`one of ${list.length}`];
    return between(list.map(one => typeOf(description, one)));
  }
  if (it.allOf) return between(it.allOf.map(one => typeOf(description, one)), ' and ');
  const types = [].concat(it.type ?? (it.properties ? 'object' : [])).filter(type => type !== 'null');
  if (types.includes('array') && it.items?.format === 'binary') return ['files'];
  if (types.includes('array')) return ['list of ', typeOf(description, it.items)];
  const values = it.additionalProperties;
  if (types.includes('object') && values && values !== true && !it.properties) return ['map of ', typeOf(description, values)];
  if (it.format === 'binary') return ['file'];
  const format = it.format && !/^u?int|^float$|^double$/.test(it.format) ? ` (${it.format})` : '';
  return types.length ? [types.join(' or ') + format] : ['anything'];
}

const between = (lists, word = ' or ') => lists.flatMap((list, index) => index ? [word, list] : [list]);

/** What `schema` allows beyond its type. */
function bounds(schema) {
  const it = schema ?? {};
  const found = [];
  if ('default' in it && JSON.stringify(it.default).length < 60) found.push(`default ${JSON.stringify(it.default)}`);
  if (it.minimum !== undefined && it.maximum !== undefined) found.push(`${it.minimum} to ${it.maximum}`);
  else if (it.minimum !== undefined && it.minimum !== 0) found.push(`at least ${it.minimum}`);
  else if (it.maximum !== undefined) found.push(`at most ${it.maximum}`);
  if (it.minLength) found.push(`at least ${it.minLength} characters`);
  if (it.maxLength !== undefined) found.push(`at most ${it.maxLength} characters`);
  if (it.maxItems !== undefined) found.push(`at most ${it.maxItems} items`);
  if (it.pattern) found.push(`matches ${it.pattern}`);
  return found.join(', ');
}

/** Whether there is more to say of `schema` than its type. */
function hasMore(description, schema, depth = 0) {
  const it = description.resolve(notNull(schema));
  if (anything(it) || depth > 3) return false;
  if (it.properties && Object.keys(it.properties).length) return true;
  if (it.enum) return it.enum.length > 12 || schema.$ref !== undefined;
  if (it.oneOf ?? it.anyOf ?? it.allOf) return (it.oneOf ?? it.anyOf ?? it.allOf).some(one => !isNull(one) && !('type' in one && Object.keys(one).length === 1));
  if (it.items) return hasMore(description, it.items, depth + 1);
  return typeof it.additionalProperties === 'object' && hasMore(description, it.additionalProperties, depth + 1);
}

/** A row: name, type, and what is known; a fold where there is more. */
function row(description, name, schema, required = false) {
  const it = notNull(schema);
  const text = it?.description ?? '';
  const limits = bounds(it);
  const head = [
    make('span', { class: 'field-name' }, name),
    required && make('abbr', { class: 'required', title: 'required' }, '*'),
    make('span', { class: 'type' }, typeOf(description, schema)),
    limits && make('span', { class: 'bounds' }, limits),
    text && make('span', { class: 'about' }, inline(text)),
  ];
  if (!hasMore(description, schema)) return make('div', { class: 'field' }, head);
  return fold(head, () => make('div', { class: 'inside' }, children(description, schema)), { class: 'field' });
}

/** What tells a choice apart: the constant of a member, its title, its name. */
function choiceName(description, choice) {
  const it = description.resolve(choice);
  if (it && 'const' in it) return JSON.stringify(it.const);
  for (const [name, property] of Object.entries(it?.properties ?? {})) {
    if (property?.const !== undefined) return `${name}: ${JSON.stringify(property.const)}`;
  }
  if (it?.title) return it.title;
  if (choice.$ref) return nameOf(choice.$ref);
  const required = it?.required?.length === 1 ? `with ${it.required[0]}` : '';
  return required || [].concat(it?.type ?? 'anything').join(' or ');
}

/** The rows of a schema. */
function children(description, schema) {
  const it = description.resolve(notNull(schema));
  if (anything(it)) return [];
  const rows = [];
  const needed = it.required ?? [];
  for (const [name, property] of Object.entries(it.properties ?? {})) {
    rows.push(row(description, name, property, needed.includes(name)));
  }
  if (it.enum) rows.push(make('p', { class: 'values' }, it.enum.map(one => [make('code', {}, JSON.stringify(one)), ' '])));
  for (const choice of (it.oneOf ?? it.anyOf ?? []).filter(one => !isNull(one))) {
    rows.push(variant(description, choice));
  }
  for (const part of it.allOf ?? []) rows.push(...children(description, part));
  if (it.items && hasMore(description, it.items)) {
    rows.push(row(description, 'each', it.items));
  } else if (typeof it.additionalProperties === 'object' && it.additionalProperties) {
    rows.push(row(description, 'any name', it.additionalProperties));
  }
  return rows;
}

/** One of several choices. */
function variant(description, choice) {
  const it = description.resolve(choice);
  const head = [
    make('span', { class: 'field-name choice' }, choiceName(description, choice)),
    !('const' in (it ?? {})) && make('span', { class: 'type' }, typeOf(description, choice)),
    it?.description && make('span', { class: 'about' }, inline(it.description)),
  ];
  if (!hasMore(description, choice)) return make('div', { class: 'field' }, head);
  return fold(head, () => make('div', { class: 'inside' }, children(description, choice)), { class: 'field' });
}

/** A schema in place: its first level is open. */
export function schemaView(description, schema) {
  const rows = children(description, schema);
  if (rows.length) return make('div', { class: 'schema' }, rows);
  return make('p', { class: 'type' }, typeOf(description, schema));
}

/** The page of a named schema. */
export function schemaPage(description, name) {
  const schema = description.schemas.get(name);
  if (schema === undefined) return null;
  const users = description.operations.filter(operation =>
    JSON.stringify([operation.body?.contents.map(one => one.schema), operation.answers.map(one => one.content)])
      .includes(`"#/components/schemas/${name}"`));
  return [
    make('p', { class: 'eyebrow' }, 'Schema'),
    make('h1', { tabindex: -1 }, name),
    paragraphs(schema.description, { class: 'lead' }),
    users.length > 0 && make('p', { class: 'quiet-text' }, 'Used by ', between(users.map(operation =>
      [make('a', { href: `#${operation.name}` }, operation.name)]), ', ')),
    schemaView(description, schema),
    fold('As JSON Schema', () => make('pre', { tabindex: 0 }, JSON.stringify(schema, null, 2)), { class: 'plain' }),
  ];
}
