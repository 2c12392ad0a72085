// The first page: what the service is, first steps that run, all routes.

import { answerView, failureView } from './answer.js';
import { button, fold, make } from './element.js';
import { address, inline, method, paragraphs } from './prose.js';
import { fresh, plan, send } from './send.js';

const STEPS = [
  { title: 'Make a document', button: 'Make a PDF', operations: ['createRender'],
    about: 'A template and data become an invoice. Nothing is stored.' },
  { title: 'Keep the template', button: 'Store it', operations: ['createTemplate', 'getTemplateSchema'],
    about: 'Stored under a key, it has versions, and programs send data only.' },
  { title: 'Run a flow', button: 'Run it', operations: ['createFlow', 'publishFlow', 'callFlow'],
    about: 'A request comes in, steps run, the caller has the answer.' },
];

/** The first page. */
export function startPage(description) {
  const [lead, ...more] = paragraphs(description.info.description ?? '', {});
  lead?.classList.add('lead');
  const steps = STEPS.filter(step => step.operations.every(name => description.byName.has(name)));
  return [
    make('p', { class: 'eyebrow' }, `HTTP interface, version ${description.info.version ?? ''}`),
    make('h1', { tabindex: -1 }, description.info.title ?? 'Platen'),
    lead,
    make('section', { class: 'start' }, make('h2', {}, 'First steps'), firstSteps(description, steps)),
    more.length > 0 && fold('Limits, errors, request identifiers', () => more, { class: 'plain' }),
    description.groups.map(group => make('section', { class: 'group' },
      make('h2', { id: `group-${group.name}` }, group.name),
      group.description && make('p', {}, inline(group.description)),
      make('ul', { class: 'routes' }, group.operations.map(operation => make('li', {},
        make('a', { href: `#${operation.name}` }, method(operation.method), address(operation.path)),
        make('span', { class: 'about' }, inline(operation.summary))))))),
    make('p', { class: 'quiet-text' }, 'The whole description, for programs: ', make('a', { href: 'openapi.json' }, 'openapi.json'), '.'),
  ];
}

function firstSteps(description, steps) {
  const result = make('div', { class: 'result' });
  const said = make('p', { class: 'away', role: 'status' });
  const cards = steps.map((step, index) => make('li', { class: 'card' },
    make('h3', {}, `${index + 1}. ${step.title}`),
    make('p', {}, step.about),
    make('p', { class: 'links' }, step.operations.map(name => make('a', { href: `#${name}` }, name))),
    button(step.button, { class: 'send', async onclick(event) {
      const pressed = event.currentTarget;
      pressed.disabled = true;
      result.classList.add('waiting');
      result.replaceChildren(...await runAll(description, step));
      result.classList.remove('waiting');
      pressed.disabled = false;
      said.textContent = [...result.querySelectorAll('.step > summary')].map(one => one.textContent).join(', ');
      result.scrollIntoView({ block: 'nearest' });
    } })));
  return [make('ol', { class: 'cards' }, cards), said, result];
}

/** Sends the examples of a step in order. What is stored already does not stop it; only the last answer is open. */
async function runAll(description, step) {
  const views = [];
  for (const name of step.operations) {
    const operation = description.byName.get(name);
    const request = plan(operation, fresh(description, operation));
    const title = [method(operation.method), ' ', make('code', {}, request.url.pathname)];
    const link = make('p', { class: 'quiet-text' }, make('a', { href: `#${name}` }, 'Change it, and send again'));
    try {
      const answer = await send(request);
      const isThere = answer.status === 409;
      const isLast = name === step.operations.at(-1) || (answer.status >= 400 && !isThere);
      const word = isThere ? 'is stored already' : answer.status;
      const view = await answerView(operation, request, answer);
      views.push(make('details', { class: 'plain step', open: isLast },
        make('summary', {}, title, ' ', make('strong', { class: answer.status < 300 ? 'good' : isThere ? 'plain' : 'bad' }, word)), view, link));
      if (isLast) break;
    } catch (error) {
      views.push(make('h3', { class: 'route' }, title), failureView(error));
      break;
    }
  }
  return views;
}
