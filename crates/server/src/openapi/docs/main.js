// The page of the service's description: reads it, and shows what the address names.

import { Description } from './description.js';
import { make } from './element.js';
import { navigation } from './navigation.js';
import { operationPage } from './operation.js';
import { schemaPage } from './schema.js';
import { wireKey, wireTheme } from './settings.js';
import { startPage } from './start.js';

const page = document.getElementById('page');
const menu = document.getElementById('menu');

function closeMenu() {
  document.body.classList.remove('menu-open');
  menu.setAttribute('aria-expanded', 'false');
}

menu.addEventListener('click', () => {
  const isOpen = document.body.classList.toggle('menu-open');
  menu.setAttribute('aria-expanded', String(isOpen));
  if (isOpen) document.getElementById('search')?.focus();
});
document.addEventListener('keydown', event => {
  if (event.key === 'Escape') closeMenu();
});

/** What an address names, and its title. */
function contentOf(description, hash) {
  if (hash === '' || hash === 'page') return [startPage(description), 'HTTP interface'];
  const [, schema] = /^\/schemas\/(.+)$/.exec(hash) ?? [];
  if (schema) return [schemaPage(description, schema), schema];
  const operation = description.byName.get(hash);
  if (operation) return [operationPage(description, operation), `${operation.method.toUpperCase()} ${operation.path}`];
  return [null, 'Not here'];
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function show(description, mark) {
  const hash = decoded(location.hash.slice(1));
  const [content, title] = contentOf(description, hash);
  page.replaceChildren(...(content ?? [make('h1', { tabindex: -1 }, 'Not here'),
    make('p', {}, 'The service has no such route or schema. ', make('a', { href: '#' }, 'All routes'), '.')]).flat(Infinity).filter(Boolean));
  document.title = `${title} · Platen`;
  mark(location.hash || '#');
}

wireKey();
wireTheme();
try {
  const description = await Description.read();
  document.getElementById('version').textContent = description.info.version ?? '';
  const mark = navigation(description, document.getElementById('navigation'));
  show(description, mark);
  addEventListener('hashchange', () => {
    if (location.hash === '#page') {
      page.focus();
      return;
    }
    show(description, mark);
    closeMenu();
    scrollTo(0, 0);
    page.querySelector('h1')?.focus({ preventScroll: true });
  });
  document.documentElement.dataset.ready = '';
} catch (error) {
  page.replaceChildren(
    make('h1', {}, 'The description cannot be read'),
    make('p', { class: 'lead' }, `${error.message}.`),
    make('p', {}, make('a', { href: 'openapi.json' }, 'openapi.json'), ' is what this page shows.'));
}
