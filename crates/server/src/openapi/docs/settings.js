// What the user has set: the key, for as long as the tab is open, and light or dark.

const KEY = 'platen-key';
const THEME = 'platen-theme';
const listeners = new Set();

// A browser may forbid storage; then it holds as long as the page does.
const kept = new Map();
function read(storage, name) {
  try { return storage().getItem(name) ?? ''; } catch { return kept.get(name) ?? ''; }
}
function write(storage, name, value) {
  kept.set(name, value);
  try {
    if (value) storage().setItem(name, value);
    else storage().removeItem(name);
  } catch { /* It is kept above. */ }
}
const session = () => sessionStorage;
const local = () => localStorage;

/** The API key, or nothing. */
export const key = () => read(session, KEY);

/** Whether a text can stand in a header. */
export const isPlain = text => /^[\x20-\x7e]*$/.test(text);

/** Calls `listener` when the key changes. */
export const onKey = listener => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** Brings the cursor to the key. */
export function askForKey() {
  const field = document.getElementById('key');
  field.focus();
  field.select();
}

/** Wires the field of the key. */
export function wireKey() {
  const form = document.getElementById('key-form');
  const field = document.getElementById('key');
  const note = document.getElementById('key-note');
  const show = () => {
    form.classList.toggle('set', key() !== '');
    note.textContent = !key() ? '' : isPlain(key()) ? 'kept in this tab' : 'has letters that no key has';
  };
  field.value = key();
  show();
  field.addEventListener('input', () => {
    write(session, KEY, field.value.trim());
    show();
    listeners.forEach(listener => listener());
  });
  form.addEventListener('submit', event => {
    event.preventDefault();
    field.blur();
  });
}

const THEMES = [['', 'Auto'], ['light', 'Light'], ['dark', 'Dark']];

/** Wires the button of light and dark. */
export function wireTheme() {
  const button = document.getElementById('theme');
  const show = () => {
    const theme = read(local, THEME);
    if (theme) document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
    const name = THEMES.find(([value]) => value === theme)?.[1] ?? 'Auto';
    button.textContent = name;
    button.setAttribute('aria-label', `Colours: ${name.toLowerCase()}`);
  };
  button.addEventListener('click', () => {
    const place = THEMES.findIndex(([value]) => value === read(local, THEME));
    write(local, THEME, THEMES[(place + 1) % THEMES.length][0]);
    show();
  });
  show();
}
