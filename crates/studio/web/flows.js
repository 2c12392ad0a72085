// The list of flows, and new ones.

/** @import { PageEvent } from "./vendor-htm.js" */
/** @import { FlowEntry, Session } from "./types.js" */

import { html, useSignal } from "./base.js";
import { asError, list, request } from "./api.js";
import { Failure, ListEnd, Loading, useLoaded, Dialog } from "./parts.js";
import { Icon } from "./icons.js";
import { LabelButton, LabelDialog, LabelFilter, Labels, labelsOf } from "./labels.js";
import { may } from "./session.js";
import { t, when } from "./text.js";

const STARTER = {
  kind: "flow", name: "New flow", trigger: { type: "webhook" },
  steps: [{ name: "reply", type: "respond", body: { received: "{{ trigger.body }}" } }],
};

/**
 * The page of all flows.
 * @param {{session: Session}} props
 */
export function Flows({ session }) {
  const { value, error, again } = useLoaded(() => /** @type {Promise<FlowEntry[]>} */ (list("flows", "flows")), []);
  const adding = useSignal(false);
  const label = useSignal("");
  const labelling = useSignal(/** @type {FlowEntry | null} */ (null));
  const labels = labelsOf(value ?? []);
  const shown = (value ?? []).filter((one) => !label.value || (one.labels ?? []).includes(label.value));
  return html`<main class="content">
    <header class="head">
      <h1>${t("Flows")}</h1><span class="grow"></span>
      ${session.mayChange && html`<button type="button" class="button primary" onClick=${() => { adding.value = true; }}>
        <${Icon} name="plus" />${t("New flow")}</button>`}</header>
    ${error && html`<${Failure} error=${error} onRetry=${again} />`}${!value && !error && html`<${Loading} />`}
    ${value?.length === 0 && html`<div class="empty">
      <h2>${t("No flows yet")}</h2><p>${t("A flow takes a webhook, works in steps, and answers.")}</p></div>`}
    ${labels.length > 0 && html`<div class="filters"><${LabelFilter} all=${labels} chosen=${label} /></div>`}
    ${value && value.length > 0 && html`<table class="table of-flows">
      <thead><tr><th>${t("Flow")}</th><th>${t("Key")}</th><th>${t("State")}</th><th class="end">${t("Last change")}</th></tr></thead>
      <tbody>${shown.map((one) => html`<tr key=${one.key}>
        <td class="flow-of"><a class="whole" href=${`#/flows/${one.key}`}>${one.name || one.key}</a> <${Labels} labels=${one.labels} /></td><td class="id"><code class="quiet">${one.key}</code></td>
        <td class="state">
          ${one.published ? html`<span class="badge ok">${t("v{version} live", { version: one.published })}</span>` : html`<span class="badge warn">${t("Draft only")}</span>`}
          ${one.published && one.published !== one.version ? html` <span class="badge on">${t("Draft changes")}</span>` : ""}</td>
        <td class="when end num">${when(one.updatedAt)}
          ${may(session, "draft") && html`<${LabelButton} entry=${one} onOpen=${() => { labelling.value = one; }} />`}</td></tr>`)}</tbody></table><${ListEnd} count=${value.length} />`}
    ${labelling.value && html`<${LabelDialog} kind="flows" entry=${labelling.value} all=${labels} onClose=${() => { labelling.value = null; }}
        onDone=${() => { labelling.value = null; again(); }} />`}
    ${adding.value && html`<${NewFlow} onClose=${() => { adding.value = false; }} />`}</main>`;
}

/** @param {{onClose: () => void}} props */
function NewFlow({ onClose }) {
  const key = useSignal("new-flow");
  const failure = useSignal(/** @type {Error | null} */ (null));
  const create = async (/** @type {PageEvent} */ event) => {
    event.preventDefault();
    try {
      await request("POST", "flows", { body: { ...STARTER, key: key.value } });
      location.hash = `#/flows/${key.value}`;
    } catch (error) { failure.value = asError(error); }
  };
  return html`<${Dialog} title=${t("New flow")} onClose=${onClose}>
    <form onSubmit=${create}>
      <div class="field-box">
        <label class="label" for="flow-key">${t("Key")}</label>
        <input id="flow-key" class="input code" pattern="[a-z0-9][a-z0-9._\\-]*" required value=${key.value}
            onInput=${(event) => { key.value = event.currentTarget.value; }} /></div>
      ${failure.value && html`<${Failure} error=${failure.value} />`}
      <div class="ends">
        <button type="button" class="button" onClick=${onClose}>${t("Cancel")}</button><button class="button primary">${t("Create")}</button></div></form></${Dialog}>`;
}
