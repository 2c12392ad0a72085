// An answer: its status, its headers, and its body as people read it.

import { button, copyButton, fold, make } from './element.js';
import { coloured, tidy } from './json.js';
import { inline, size } from './prose.js';
import { send } from './send.js';
import { askForKey } from './settings.js';

const isText = type => /^text\/|[/+]json$|[/+]xml$|ndjson$/.test(type);
const addresses = [];

/** A blob as an address of this page. Older ones are let go. */
function addressOf(blob) {
  addresses.push(URL.createObjectURL(blob));
  if (addresses.length > 24) URL.revokeObjectURL(addresses.shift());
  return addresses.at(-1);
}

/** What is shown of `answer`. */
export async function answerView(operation, request, answer) {
  const { status, words, milliseconds, blob, type, headers } = answer;
  const kind = status < 300 ? 'good' : status < 400 ? 'plain' : 'bad';
  const facts = [
    type && make('span', {}, type),
    make('span', {}, size(blob.size)),
    headers.get('location') && make('span', {}, 'at ', make('code', {}, headers.get('location'))),
    make('span', {}, `${milliseconds < 10 ? milliseconds.toFixed(1) : Math.round(milliseconds)} ms`),
  ];
  return make('section', { class: 'answer', 'aria-label': 'Answer', 'data-status': status, 'data-type': type },
    make('header', {}, make('strong', { class: kind }, `${status} ${words || WORDS[status] || ''}`.trim()), facts),
    status === 401 && make('p', {}, 'This service has keys. ', button('Enter one', { onclick: askForKey }), ' and send again.'),
    await content(operation, request, answer),
    fold('Headers', () => make('table', {}, [...headers].map(([name, value]) =>
      make('tr', {}, make('th', { scope: 'row' }, name), make('td', {}, value)))), { class: 'plain' }));
}

// HTTP/2 sends no words.
const WORDS = { 200: 'OK', 201: 'Created', 202: 'Accepted', 204: 'No Content', 304: 'Not Modified', 400: 'Bad Request',
  401: 'Unauthorized', 403: 'Forbidden', 404: 'Not Found', 409: 'Conflict', 412: 'Precondition Failed', 413: 'Content Too Large',
  422: 'Unprocessable Content', 429: 'Too Many Requests', 500: 'Internal Server Error', 501: 'Not Implemented',
  503: 'Service Unavailable', 504: 'Gateway Timeout' };

/** What is said where there is no answer. */
export function failureView(error) {
  const text = error.name === 'AbortError' ? 'Stopped.'
    : `No answer: ${error.message}. The service may be gone, or the network.`;
  return make('p', { class: 'mistake' }, text);
}

async function content(operation, request, answer) {
  const { blob, type } = answer;
  if (!blob.size) return make('p', { class: 'quiet-text' }, 'No body.');
  const name = fileName(answer);
  const save = make('a', { class: 'button', href: addressOf(blob), download: name }, `Save ${name}`);
  if (/[/+]json$/.test(type)) return jsonView(await blob.text(), type, save);
  if (/^image\//.test(type)) {
    return [make('figure', {}, make('img', { src: addressOf(blob), alt: 'The picture of the answer' })), make('div', { class: 'tools' }, save)];
  }
  if (isText(type)) {
    const text = await blob.slice(0, 400_000).text();
    return [make('pre', { tabindex: 0 }, text), make('div', { class: 'tools' }, save, copyButton(() => text))];
  }
  return [make('div', { class: 'tools' }, save), type === 'application/pdf' && await pages(operation, request, answer)];
}

function jsonView(text, type, save) {
  const laid = tidy(text);
  const it = parsed(text);
  const mistakes = type === 'application/problem+json' && Array.isArray(it?.diagnostics) ? it.diagnostics : [];
  return [
    type === 'application/problem+json' && it?.detail && make('p', { class: 'detail' }, inline(it.detail)),
    mistakes.length > 0 && make('ul', { class: 'diagnostics' }, mistakes.map(one => make('li', {},
      one.path && make('code', {}, one.path), one.path && ' ', inline(one.message), one.hint && make('em', {}, ' ', inline(one.hint))))),
    coloured(laid),
    make('div', { class: 'tools' }, copyButton(() => laid), save),
  ];
}

function parsed(text) {
  try { return JSON.parse(text); } catch { return null; }
}

function fileName({ headers, type, url }) {
  const disposition = headers.get('content-disposition') ?? '';
  const [, encoded] = /filename\*=UTF-8''([^;]+)/i.exec(disposition) ?? [];
  const [, plain] = /filename="?([^";]+)"?/i.exec(disposition) ?? [];
  if (encoded) {
    try { return decodeURIComponent(encoded); } catch { /* The plain one is there, too. */ }
  }
  if (plain) return plain;
  const last = url.pathname.split('/').pop();
  if (last.includes('.')) return last;
  const endings = { 'application/json': 'json', 'application/problem+json': 'json', 'application/schema+json': 'json',
    'text/plain': 'txt', 'text/event-stream': 'txt', 'image/svg+xml': 'svg', 'application/octet-stream': 'bin', 'application/x-ndjson': 'ndjson' };
  return `${last || 'answer'}.${endings[type] ?? type.split('/').pop()}`;
}

/**
 * Pages of a PDF as pictures. The policy of this page lets no viewer of PDF run in it, so the service is asked for
 * pictures of the same document.
 */
async function pages(operation, request, answer) {
  const body = parsed(typeof request.body === 'string' ? request.body : '');
  if (!operation.path.startsWith('/render') || !(body?.definition ?? body?.template) || body.html) return null;
  const count = Number(answer.headers.get('x-render-pages')) || 1;
  const picture = make('img', { alt: 'A page of the document' });
  const place = make('span', {}, '');
  let page = 1;
  const show = async wanted => {
    const { pdf, ...options } = body.options ?? {};
    const { format, output, webhook, dryRun, ...asked } = body;
    const url = new URL(request.url);
    url.pathname = url.pathname.replace(/\/render(\/[^/]*)?$/, '/render/png');
    url.search = '';
    const drawn = await send({ ...request, url, body: JSON.stringify({ ...asked, options: { ...options, page: wanted, dpi: 110 } }) });
    if (drawn.status !== 200) return false;
    page = wanted;
    picture.src = addressOf(drawn.blob);
    place.textContent = `Page ${page} of ${count}`;
    before.disabled = page <= 1;
    after.disabled = page >= count;
    return true;
  };
  const turn = by => () => show(page + by).catch(() => {});
  const before = button('‹', { class: 'quiet', 'aria-label': 'Page before', onclick: turn(-1) });
  const after = button('›', { class: 'quiet', 'aria-label': 'Next page', onclick: turn(1) });
  const done = await show(1).catch(() => false);
  if (!done) return null;
  return make('figure', { class: 'sheet' }, picture,
    make('figcaption', {}, count > 1 && before, place, count > 1 && after, make('span', { class: 'bounds' }, 'as POST /render/png draws it')));
}
