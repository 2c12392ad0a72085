// Trying a route out: what is filled in, the command for a shell, and the answer.

import { answerView, failureView } from './answer.js';
import { bodyEditor, input, labelled } from './body.js';
import { curl } from './curl.js';
import { button, copyButton, make } from './element.js';
import { fresh, nameOf, plan, send } from './send.js';
import { onKey } from './settings.js';

/** The panel of `operation`. */
export function tryOut(description, operation) {
  if (operation.answers.some(answer => answer.status === '101')) {
    return make('p', { class: 'quiet-text' }, 'This route changes the protocol of its connection: a browser cannot call it.');
  }
  const state = fresh(description, operation);
  const command = make('pre', { class: 'curl', tabindex: 0 });
  const result = make('div', { class: 'result' });
  const said = make('p', { class: 'away', role: 'status' });
  const missing = make('span', { class: 'mistake', role: 'status' });
  let running = null;

  const changed = () => {
    command.textContent = curl(operation, plan(operation, state));
    missing.textContent = '';
  };
  const run = async () => {
    const request = plan(operation, state);
    if (request.missing.length) {
      missing.textContent = `Fill in ${request.missing.join(', ')}.`;
      form.querySelector('[data-required]:placeholder-shown, select[data-required]')?.focus();
      return;
    }
    running = new AbortController();
    submit.disabled = true;
    cancel.hidden = false;
    result.classList.add('waiting');
    try {
      const stream = make('pre', { tabindex: 0 });
      const answer = await send(request, running.signal, text => {
        stream.textContent = text;
        result.replaceChildren(stream);
      });
      result.replaceChildren(await answerView(operation, request, answer));
      said.textContent = `Answer ${answer.status}, ${answer.type}`;
    } catch (error) {
      result.replaceChildren(failureView(error));
      said.textContent = result.textContent;
    } finally {
      running = null;
      submit.disabled = false;
      cancel.hidden = true;
      result.classList.remove('waiting');
      result.scrollIntoView({ block: 'nearest' });
    }
  };

  const submit = make('button', { class: 'send', type: 'submit' }, 'Send');
  const cancel = button('Stop', { class: 'quiet', hidden: true, onclick: () => running?.abort() });
  const form = make('form', {
    class: 'try', novalidate: true,
    onsubmit(event) {
      event.preventDefault();
      if (!running) run();
    },
    onkeydown(event) {
      if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        if (!running) run();
      }
    },
  },
  parameterFields(description, operation, state, changed),
  operation.body && bodyEditor(description, operation, state, changed),
  make('div', { class: 'tools' }, submit, cancel, missing, make('span', { class: 'hint' }, make('kbd', {}, 'Ctrl'), ' ', make('kbd', {}, 'Enter'))));
  changed();
  const forget = onKey(() => command.isConnected ? changed() : forget());
  return make('div', { class: 'panel' }, make('h2', {}, 'Try it'), form, said, result,
    make('details', { class: 'plain shell', open: true },
      make('summary', {}, 'In a shell'), make('div', { class: 'copied' }, command, copyButton(() => command.textContent))));
}

function parameterFields(description, operation, state, changed) {
  const control = parameter => {
    const name = nameOf(parameter);
    const schema = description.resolve(parameter.schema) ?? {};
    const [example] = description.examples(parameter);
    const hint = example?.value ?? schema.default;
    const field = input(schema, state.values[name], value => {
      state.values[name] = value;
      changed();
    }, parameter.required || hint === undefined ? ' ' : example ? `such as ${hint}` : `${hint}, where absent`);
    if (parameter.required) field.dataset.required = '';
    field.name = parameter.name;
    const label = [parameter.name, parameter.required && make('abbr', { class: 'required', title: 'required' }, '*')];
    return labelled(label, {}, field);
  };
  const needed = operation.parameters.filter(one => one.required);
  const others = operation.parameters.filter(one => !one.required);
  return [
    needed.length > 0 && make('div', { class: 'fields' }, needed.map(control)),
    others.length > 0 && make('details', { class: 'plain', open: others.length + needed.length < 4 },
      make('summary', {}, needed.length ? `Options (${others.length})` : `Parameters (${others.length})`),
      make('div', { class: 'fields' }, others.map(control))),
  ];
}
