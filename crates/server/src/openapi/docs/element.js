// Elements of the page: made, never parsed, so that no text of an answer can become code.

/** An element. Of `properties`, functions listen to the event that they are named after (`onclick`). */
export function make(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === 'function') element.addEventListener(key.slice(2), value);
    else if (key === 'class') element.className = value;
    else if (key === 'value') element.value = value;
    else element.setAttribute(key, value === true ? '' : value);
  }
  element.append(...children.flat(Infinity).filter(child => child !== null && child !== undefined && child !== false));
  return element;
}

/** A button that does not submit. */
export const button = (text, properties, ...more) => make('button', { type: 'button', ...properties }, text, ...more);

/** A fold whose content is made when it is first opened. */
export function fold(summary, content, properties = {}) {
  const details = make('details', properties, make('summary', {}, summary));
  const fill = () => {
    if (details.open && details.childElementCount === 1) details.append(...[content()].flat(Infinity).filter(Boolean));
  };
  details.addEventListener('toggle', fill);
  fill();
  return details;
}

/** A button that copies what `text` gives. */
export function copyButton(text, label = 'Copy') {
  const element = button(label, {
    class: 'quiet copy',
    async onclick() {
      element.textContent = await copy(text()) ? 'Copied' : 'Not allowed';
      setTimeout(() => { element.textContent = label; }, 1600);
    },
  });
  return element;
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Browsers give the clipboard to pages of HTTPS and of this machine only.
    const area = make('textarea', { class: 'away', value: text });
    document.body.append(area);
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    return done;
  }
}

/** Waits until `milliseconds` after the last call. */
export function later(milliseconds, work) {
  let timer;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => work(...values), milliseconds);
  };
}
