// The list of routes and schemas, and the search in it.

import { fold, later, make } from './element.js';
import { address, method } from './prose.js';

const MOST_SCHEMAS = 12;

/** The list of everything, in `place`. Gives what marks the entry that is shown. */
export function navigation(description, place) {
  const field = make('input', {
    type: 'search', id: 'search', placeholder: 'Search', autocomplete: 'off', spellcheck: 'false',
    'aria-label': 'Search routes and schemas', 'aria-keyshortcuts': '/',
  });
  const list = make('div', { class: 'list' });
  const status = make('p', { class: 'away', role: 'status' });
  place.replaceChildren(make('div', { class: 'search' }, field, make('kbd', { 'aria-hidden': 'true' }, '/')), status, list);

  let current = '';
  const mark = () => {
    for (const link of list.querySelectorAll('a')) {
      const isCurrent = link.hash === current;
      if (isCurrent) link.setAttribute('aria-current', 'page');
      else link.removeAttribute('aria-current');
      if (isCurrent && !field.matches(':focus')) link.scrollIntoView({ block: 'nearest' });
    }
  };
  const show = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    list.replaceChildren(...words.length ? found(description, words) : everything(description));
    const count = list.querySelectorAll('a').length;
    status.textContent = words.length ? `${count} found` : '';
    mark();
  };
  field.addEventListener('input', later(40, show));
  field.addEventListener('keydown', event => {
    if (event.key === 'Escape') {
      field.value = '';
      show();
      field.blur();
    } else if (event.key === 'Enter') {
      event.preventDefault();
      list.querySelector('a')?.click();
    } else if (event.key === 'ArrowDown') {
      event.preventDefault();
      list.querySelector('a')?.focus();
    }
  });
  list.addEventListener('keydown', event => move(event, list, field));
  document.addEventListener('keydown', event => {
    const typing = event.target.closest?.('input, textarea, select');
    if (event.key !== '/' || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    document.body.classList.add('menu-open');
    document.getElementById('menu').setAttribute('aria-expanded', 'true');
    field.focus();
    field.select();
  });
  show();
  return hash => {
    current = hash;
    mark();
  };
}

/** Up and down through the entries that are shown. */
function move(event, list, field) {
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
  const links = [...list.querySelectorAll('a, summary')].filter(one => one.offsetParent !== null);
  const at = links.indexOf(document.activeElement);
  if (at < 0) return;
  event.preventDefault();
  (links[at + (event.key === 'ArrowDown' ? 1 : -1)] ?? field).focus();
}

const entry = operation => make('li', {}, make('a', { href: `#${operation.name}`, title: operation.summary },
  method(operation.method), address(operation.path)));

const schemaEntry = name => make('li', {},
  make('a', { href: `#/schemas/${encodeURIComponent(name)}` }, make('code', { class: 'path' }, name)));

function everything(description) {
  const groups = description.groups.map(group => make('section', {},
    make('h2', {}, group.name), make('ul', {}, group.operations.map(entry))));
  const names = [...description.schemas.keys()].sort((a, b) => a.localeCompare(b));
  groups.push(make('section', {}, fold(make('h2', {}, `schemas (${names.length})`),
    () => make('ul', {}, names.map(schemaEntry)), { class: 'plain' })));
  return groups;
}

function found(description, words) {
  const fits = text => words.every(word => text.includes(word));
  // What the words name comes before what only speaks of them.
  const weight = operation => fits(`${operation.path} ${operation.name}`.toLowerCase()) ? 0 : 1;
  const operations = description.operations.filter(one => fits(one.words)).sort((a, b) => weight(a) - weight(b));
  const schemas = [...description.schemas.keys()].filter(name => fits(name.toLowerCase())).slice(0, MOST_SCHEMAS);
  const result = [];
  if (operations.length) {
    result.push(make('section', {}, make('h2', {}, 'routes'), make('ul', { class: 'results' }, operations.map(operation => {
      const item = entry(operation);
      item.firstChild.append(make('small', {}, operation.summary));
      return item;
    }))));
  }
  if (schemas.length) result.push(make('section', {}, make('h2', {}, 'schemas'), make('ul', {}, schemas.map(schemaEntry))));
  if (!result.length) result.push(make('p', { class: 'quiet-text' }, 'Nothing is called so.'));
  return result;
}
