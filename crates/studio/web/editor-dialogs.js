// Dialogs of the editor: publication, and the call of the API.

/** @import { PageEvent } from "./vendor-htm.js" */
/** @import { Editing } from "./editing.js" */
/** @import { Diagnostic } from "./types.js" */

import { html, useSignal } from "./base.js";
import { grouped } from "./drawer.js";
import { asError, root as service, statusOf } from "./api.js";
import { saveFile } from "./files.js";
import { Icon } from "./icons.js";
import { Dialog, Failure, say } from "./parts.js";
import { SAMPLE_FILE, isInFile, programsOf } from "./programs.js";
import { t, tn } from "./text.js";

/**
 * Publishes the draft, with a note of what changed. A clash comes first.
 * @param {{editing: Editing, problems: Diagnostic[], onClose: () => void, onClash: () => void}} props
 */
export function Publish({ editing, problems, onClose, onClash }) {
  const note = useSignal("");
  const busy = useSignal(false);
  const failure = useSignal(/** @type {Error | null} */ (null));
  const publish = async (/** @type {PageEvent} */ event) => {
    event.preventDefault();
    busy.value = true;
    failure.value = null;
    try {
      const version = await editing.publish(note.value.trim());
      onClose();
      say(t("Version {version} is live: callers get it from now on.", { version: version.version }));
    } catch (error) {
      // Somebody has saved another draft, or published another version.
      if (editing.draft.state.value === "clash" || [409, 412].includes(statusOf(error))) {
        onClash();
        return;
      }
      failure.value = asError(error);
      busy.value = false;
    }
  };
  const warnings = grouped(problems).length;
  return html`<${Dialog}
      title=${editing.live.value ? t("Publish {name} as a new version?", { name: editing.name.value }) : t("Publish {name}?", { name: editing.name.value })}
      onClose=${onClose}>
    <p>${editing.live.value ? t("Version {version} is live now. Callers of {key} get the new one at once; earlier versions stay and can be restored.", { version: editing.live.value, key: editing.key }) : t("Callers can use the key {key} from now on.", { key: editing.key })}</p>
    ${warnings > 0 && html`<p class="small warn-text">${tn(warnings, "{count} warning remains.", "{count} warnings remain.")}</p>`}
    <form onSubmit=${publish}>
      <div class="field-box">
        <label class="label" for="note">${t("What changed")}</label>
        <textarea id="note" class="area" rows="2" maxlength="500" value=${note.value}
            onInput=${(event) => { note.value = event.currentTarget.value; }}></textarea></div>
      ${failure.value && html`<${Failure} error=${failure.value} />`}
      <div class="ends">
        <button type="button" class="button" onClick=${onClose}>${t("Cancel")}</button>
        <button class="button primary" disabled=${busy.value}>${t("Publish")}</button></div></form></${Dialog}>`;
}

/**
 * How a program renders the template.
 * @param {{editing: Editing, onClose: () => void}} props
 */
export function Copy({ editing, onClose }) {
  const language = useSignal("curl");
  const data = JSON.stringify(editing.sample.value);
  const texts = programsOf(new URL("render/pdf", service).href, editing.key, data);
  const text = texts[language.value];
  return html`<${Dialog} wide title=${t("Render this template from a program")} onClose=${onClose}>
    <div class="segments" role="tablist">${Object.keys(texts).map((name) => html`<button type="button" role="tab"
        aria-selected=${language.value === name} onClick=${() => { language.value = name; }}>${name}</button>`)}</div>
    <pre class="program" tabindex="0">${text}</pre>
    <p class="small quiet">${editing.live.value ? t("Callers get the live version, {version}.", { version: editing.live.value }) : t("Publish the template first: callers do not get drafts.")}</p>
    <div class="ends">
      ${isInFile(data) && html`<button type="button" class="button" onClick=${() => saveFile(new Blob([data]), SAMPLE_FILE)}>
        <${Icon} name="download" />${t("Download {name}", { name: SAMPLE_FILE })}</button>`}
      <button type="button" class="button" onClick=${onClose}>${t("Close")}</button>
      <button type="button" class="button primary" onClick=${() => navigator.clipboard.writeText(text).then(() => say(t("Copied.")))}>${t("Copy")}</button></div></${Dialog}>`;
}
