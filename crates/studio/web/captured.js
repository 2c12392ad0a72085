// What expressions and code of a flow see: the trigger and the outputs of the last run, or of the test that is written.

/** @import { EditedDocument } from "./edited-document.js" */
/** @import { Fields, Json, RunEntry } from "./types.js" */

/**
 * What expressions of a flow may name.
 * @param {RunEntry | null} run the last run
 * @param {Json} trigger what a test would be started with
 * @returns {{[name: string]: Json}}
 */
export function capturedBy(run, trigger) {
  const written = trigger !== null && typeof trigger === "object" && Object.keys(trigger).length > 0;
  /** @type {{[name: string]: Json}} */
  const steps = {};
  for (const { path, output } of run?.steps ?? []) {
    const name = path.slice(path.lastIndexOf(".") + 1).replace(/\[\d+\]$/, "");
    if (output !== undefined) steps[name] = { output };
  }
  return { trigger: written ? trigger : run?.trigger ?? {}, steps, run: { id: run?.id ?? "", flow: run?.flow ?? "", callback: "" } };
}

/**
 * The value at a path of names and numbers.
 * @param {Json | undefined} root
 * @param {string} path
 */
const follow = (root, path) => path.split(/[.[\]]+/).filter(Boolean).reduce((/** @type {unknown} */ found, name) => (found !== null && typeof found === "object" ? /** @type {Fields} */ (found)[name] : undefined), root);

/**
 * A member of a step with the values of its expressions, as far as they are paths.
 * @param {Json} value
 * @param {Json} names
 * @returns {Json | undefined}
 */
function filled(value, names) {
  if (Array.isArray(value)) return value.map((one) => filled(one, names) ?? null);
  if (value !== null && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, filled(inner, names) ?? null]));
  const whole = typeof value === "string" ? /^\{\{([^{}]*)\}\}$/.exec(value.trim()) : null;
  if (!whole) return value;
  return /^\s*[\w.[\]]+\s*$/.test(whole[1]) ? /** @type {Json | undefined} */ (follow(names, whole[1].trim())) : undefined;
}

/**
 * The input of a code step.
 * @param {EditedDocument} editing
 * @param {{[name: string]: Json} | undefined} step
 */
export const inputOf = (editing, step) => (step?.input === undefined ? undefined : filled(step.input, editing.sample?.value ?? {}));
