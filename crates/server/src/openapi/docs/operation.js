// The page of a route: what it takes, what it answers, and a panel to try it.

import { tryOut } from './form.js';
import { make } from './element.js';
import { address, inline, method, paragraphs } from './prose.js';
import { schemaView, typeOf } from './schema.js';

/** The page of `operation`. */
export function operationPage(description, operation) {
  return [
    make('p', { class: 'eyebrow' }, operation.tag),
    make('h1', { class: 'route', tabindex: -1 }, method(operation.method), ' ', address(operation.path)),
    make('p', { class: 'lead' }, inline(operation.summary)),
    paragraphs(operation.description),
    make('p', { class: 'quiet-text' }, access(operation)),
    make('div', { class: 'columns' },
      make('div', { class: 'reference' },
        parameters(description, operation),
        bodies(description, operation),
        answers(description, operation)),
      make('aside', { 'aria-label': 'Try it' }, tryOut(description, operation))),
  ];
}

const access = operation => [
  make('code', {}, operation.name), ' · ',
  operation.isOpen ? 'needs no key' : 'needs a key, where the service has keys',
];

function parameters(description, operation) {
  if (!operation.parameters.length) return null;
  const places = [['path', 'In the path'], ['query', 'In the query'], ['header', 'Headers']];
  return make('section', {}, make('h2', {}, 'Parameters'), places.map(([place, title]) => {
    const list = operation.parameters.filter(one => one.in === place);
    return list.length > 0 && [make('h3', {}, title), make('div', { class: 'schema' }, list.map(one => {
      const schema = description.resolve(one.schema) ?? {};
      const rest = schema.default === undefined ? '' : `default ${JSON.stringify(schema.default)}`;
      const list = schema.enum?.length > 12
        && make('p', { class: 'values' }, schema.enum.map(value => [make('code', {}, String(value)), ' ']));
      return make('div', { class: 'field' },
        make('span', { class: 'field-name' }, one.name),
        one.required && make('abbr', { class: 'required', title: 'required' }, '*'),
        make('span', { class: 'type' }, typeOf(description, one.schema)),
        rest && make('span', { class: 'bounds' }, rest),
        one.description && make('span', { class: 'about' }, inline(one.description)), list);
    }))];
  }));
}

function bodies(description, operation) {
  if (!operation.body) return null;
  return make('section', {}, make('h2', {}, 'Body'),
    operation.body.description && make('p', {}, inline(operation.body.description)),
    operation.body.contents.map(content => [
      make('h3', {}, make('code', {}, content.type), ' ', content.schema?.$ref && typeOf(description, content.schema)),
      schemaView(description, content.schema),
    ]));
}

function answers(description, operation) {
  if (!operation.answers.length) return null;
  const rows = operation.answers.map(answer => {
    const contents = Object.entries(answer.content ?? {});
    const headers = Object.entries(answer.headers ?? {}).map(([name, header]) => [name, description.resolve(header)]);
    const more = [
      contents.length > 0 && make('ul', { class: 'contents' }, contents.map(([type, content]) => make('li', {},
        make('code', {}, type), ' ', make('span', { class: 'type' }, content.schema && typeOf(description, content.schema))))),
      headers.length > 0 && make('dl', {}, headers.map(([name, header]) => [
        make('dt', {}, make('code', {}, name)), make('dd', {}, inline(header?.description))])),
    ].filter(Boolean);
    const kind = answer.status < '3' ? 'good' : answer.status < '4' ? 'plain' : 'bad';
    const head = [make('strong', { class: kind }, answer.status), make('span', { class: 'about' }, inline(answer.description))];
    return more.length
      ? make('details', { class: 'field', open: kind === 'good' }, make('summary', {}, head), make('div', { class: 'inside' }, more))
      : make('div', { class: 'field' }, head);
  });
  return make('section', {}, make('h2', {}, 'Answers'), make('div', { class: 'schema statuses' }, rows));
}
