// The editor of a body: JSON, the fields of a form, or a file.

import { button, later, make } from './element.js';
import { mistake, tidy } from './json.js';
import { inline, size } from './prose.js';
import { sample } from './sample.js';
import { fill, isJson } from './send.js';

const BUILT = ' from the schema';

/** The editor of the body of `operation`; `changed` is called when the body is another. */
export function bodyEditor(description, operation, state, changed) {
  const box = make('div', { class: 'body', role: 'group', 'aria-label': 'Body' });
  const draw = () => {
    const { contents } = operation.body;
    const content = contents.find(one => one.type === state.type);
    const tools = make('div', { class: 'tools' }, make('span', { class: 'label' }, 'Body'),
      chooser('Kind of body', [...operation.body.required ? [] : [['', 'none']], ...contents.map(one => [one.type, one.type])],
        state.type, type => {
          const chosen = contents.find(one => one.type === type);
          if (chosen) fill(description, state, chosen);
          else state.type = '';
          draw();
          changed();
        }),
      content && examples(description, content, state, () => { draw(); changed(); }));
    box.replaceChildren(tools, ...content ? [editor(description, content, state, changed)].flat() : []);
  };
  draw();
  return box;
}

function chooser(label, options, value, choose) {
  if (options.length < 2) return options[0]?.[1] ? make('span', { class: 'type' }, options[0][1]) : null;
  return make('select', { 'aria-label': label, onchange: event => choose(event.target.value) },
    options.map(([name, text]) => make('option', { value: name, selected: name === value }, text)));
}

function examples(description, content, state, done) {
  const list = description.examples(content).map(one => [one.name, one.summary]);
  if (!isJson(content.type)) return chooser('Example', list, state.example, name => { fill(description, state, content, name); done(); });
  list.push([BUILT, 'What must be there']);
  return chooser('Example', list, state.example, name => {
    if (name === BUILT) {
      state.text = JSON.stringify(sample(description, content.schema), null, 2);
      state.example = BUILT;
    } else fill(description, state, content, name);
    done();
  });
}

function editor(description, content, state, changed) {
  if (isJson(content.type)) return jsonEditor(state, changed);
  if (content.type === 'multipart/form-data') return formEditor(description, content, state, changed);
  return filePicker('File', state.file, file => {
    state.file = file;
    changed();
  });
}

function jsonEditor(state, changed) {
  const area = make('textarea', {
    class: 'code', spellcheck: 'false', autocapitalize: 'off', autocomplete: 'off', wrap: 'off',
    'aria-label': 'Body as JSON', 'aria-describedby': 'body-mistake', value: state.text,
  });
  const note = make('p', { class: 'mistake', id: 'body-mistake', role: 'status' });
  const check = later(250, () => { note.textContent = area.value.trim() ? mistake(area.value) : ''; });
  const grow = () => { area.rows = Math.min(16, Math.max(4, area.value.split('\n').length)); };
  area.addEventListener('input', () => {
    state.text = area.value;
    grow();
    check();
    changed();
  });
  grow();
  const lay = button('Lay out', {
    class: 'quiet',
    onclick() {
      area.value = tidy(area.value);
      area.dispatchEvent(new Event('input'));
    },
  });
  return [area, make('div', { class: 'tools' }, note, lay)];
}

/** Fields of a form: those that the schema names, and those of the user's own. */
function formEditor(description, content, state, changed) {
  const schema = description.resolve(content.schema) ?? {};
  const known = Object.entries(schema.properties ?? {}).map(([name, property]) => [name, description.resolve(property)]);
  const needed = schema.required ?? [];
  const shown = ([name, property]) => needed.includes(name) || isFile(property) || state.fields.some(one => one.name === name);
  const first = known.filter(shown).map(([name, property]) => field(name, property, needed.includes(name), state, changed));
  const others = known.filter(one => !shown(one));
  const own = make('div', { class: 'fields' });
  for (const one of state.fields.filter(({ name }) => !known.some(([other]) => other === name))) own.append(ownField(one, state, changed));
  const add = (label, isOfFile) => button(label, {
    class: 'quiet',
    onclick() {
      const one = { name: isOfFile ? 'files' : '', value: '', isOfFile };
      state.fields.push(one);
      const row = ownField(one, state, changed);
      own.append(row);
      row.querySelector('input').focus();
    },
  });
  return [
    make('div', { class: 'fields' }, first),
    others.length > 0 && make('details', { class: 'plain' }, make('summary', {}, `${others.length} more fields`),
      make('div', { class: 'fields' }, others.map(([name, property]) => field(name, property, false, state, changed)))),
    own,
    schema.additionalProperties !== false && make('div', { class: 'tools' }, add('Add a field'), add('Add a file', true)),
  ].filter(Boolean);
}

const isFile = property => property?.format === 'binary' || property?.items?.format === 'binary';

/** A field that the schema names; the entries of `state` are made when it has a value. */
function field(name, property, required, state, changed) {
  const set = values => {
    const at = state.fields.findIndex(one => one.name === name);
    state.fields = state.fields.filter(one => one.name !== name);
    state.fields.splice(at < 0 ? state.fields.length : at, 0, ...values.map(one => ({ name, ...one })));
    changed();
  };
  const now = state.fields.filter(one => one.name === name);
  const label = [name, required && make('abbr', { class: 'required', title: 'required' }, '*')];
  if (isFile(property)) {
    const files = now.map(one => one.file).filter(Boolean);
    return filePicker(label, files, list => set(list.map(file => ({ file }))), property.type === 'array', property.description);
  }
  return labelled(label, property, input(property, now[0]?.value ?? '', value => set(value === '' ? [] : [{ value }])));
}

function ownField(one, state, changed) {
  const row = make('div', { class: 'own-field' },
    make('input', { value: one.name, placeholder: 'name', 'aria-label': 'Name of the field', oninput(event) { one.name = event.target.value; changed(); } }),
    one.isOfFile || one.file
      ? filePicker('', one.file ? [one.file] : [], ([file]) => { one.file = file; changed(); })
      : make('input', { value: one.value, placeholder: 'value', 'aria-label': 'Value of the field', oninput(event) { one.value = event.target.value; changed(); } }),
    button('×', { class: 'quiet', 'aria-label': 'Take this field away', onclick() {
      state.fields = state.fields.filter(other => other !== one);
      row.remove();
      changed();
    } }));
  return row;
}

/** A picker that also shows the file that an example has made. */
function filePicker(label, now, choose, several = false, about = '') {
  const list = [].concat(now ?? []);
  const isSingle = !Array.isArray(now);
  const names = make('span', { class: 'bounds' }, list.map(file => `Example: ${file.name} (${size(file.size)}) `));
  const picker = make('input', {
    type: 'file', multiple: several,
    onchange() {
      const files = [...picker.files];
      names.textContent = '';
      choose(isSingle ? files[0] ?? null : files);
    },
  });
  return make('label', { class: 'file' }, make('span', { class: 'field-name' }, label), picker, names,
    about && make('span', { class: 'about' }, inline(about)));
}

/** A control for a value of `schema`. */
export function input(schema, value, changed, placeholder) {
  const it = schema ?? {};
  const choices = it.enum ?? (it.type === 'boolean' ? [true, false] : null);
  if (choices) {
    return make('select', { onchange: event => changed(event.target.value) }, make('option', { value: '' }, placeholder ?? ''),
      choices.map(one => make('option', { value: String(one), selected: String(one) === value }, String(one))));
  }
  const isNumber = it.type === 'integer' || it.type === 'number';
  return make('input', {
    type: isNumber ? 'number' : 'text', step: it.type === 'number' ? 'any' : undefined, min: it.minimum, max: it.maximum,
    value, placeholder, spellcheck: 'false', autocomplete: 'off', oninput: event => changed(event.target.value),
  });
}

/** A control with its name and what is known of it. */
export function labelled(name, about, control) {
  return make('label', {}, make('span', { class: 'field-name' }, name), control,
    about?.description && make('span', { class: 'about' }, inline(about.description)));
}
