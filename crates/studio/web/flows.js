// Flows: the list, and one flow as a map of its steps with its JSON and a test.

import { html, useSignal, useEffect, memory } from "./base.js";
import { json, list, request, tagOf } from "./api.js";
import { JsonControl } from "./fields.js";
import { Failure, Loading, useLoaded, say, Dialog } from "./parts.js";
import { Icon } from "./icons.js";
import { State } from "./runs.js";
import { t, tn, when } from "./text.js";

const STARTER = {
  kind: "flow", name: "New flow", trigger: { type: "webhook" },
  steps: [{ name: "reply", type: "respond", body: { received: "{{ trigger.body }}" } }],
};

export function Flows({ session }) {
  const { value, error, again } = useLoaded(() => list("flows", "flows"), []);
  const adding = useSignal(false);
  return html`<main class="content"><header class="head"><h1>${t("Flows")}</h1><span class="grow"></span>${session.mayChange && html`<button type="button" class="button primary" onClick=${() => { adding.value = true; }}><${Icon} name="plus" />${t("New flow")}</button>`}</header>
    ${error && html`<${Failure} error=${error} onRetry=${again} />`}${!value && !error && html`<${Loading} />`}
    ${value?.length === 0 && html`<div class="empty"><h2>${t("No flows yet")}</h2><p>${t("A flow takes a webhook, works in steps, and answers.")}</p></div>`}
    ${value?.length > 0 && html`<table class="table"><thead><tr><th>${t("Flow")}</th><th>${t("Key")}</th><th>${t("State")}</th><th class="end">${t("Last change")}</th></tr></thead><tbody>${value.map((one) => html`<tr key=${one.key}><td><a class="whole" href=${`#/flows/${one.key}`}>${one.name || one.key}</a></td><td><code class="quiet">${one.key}</code></td>
      <td>${one.published ? html`<span class="badge ok">${t("v{version} live", { version: one.published })}</span>` : html`<span class="badge warn">${t("Draft only")}</span>`}${one.published && one.published !== one.version ? html` <span class="badge on">${t("Draft changes")}</span>` : ""}</td><td class="end num">${when(one.updatedAt)}</td></tr>`)}</tbody></table>`}
    ${adding.value && html`<${NewFlow} onClose=${() => { adding.value = false; }} />`}</main>`;
}

function NewFlow({ onClose }) {
  const key = useSignal("new-flow");
  const failure = useSignal(null);
  const create = async (event) => {
    event.preventDefault();
    try {
      await request("POST", "flows", { body: { ...STARTER, key: key.value } });
      location.hash = `#/flows/${key.value}`;
    } catch (error) { failure.value = error; }
  };
  return html`<${Dialog} title=${t("New flow")} onClose=${onClose}><form onSubmit=${create}><div class="field-box"><label class="label" for="flow-key">${t("Key")}</label><input id="flow-key" class="input code" pattern="[a-z0-9][a-z0-9._\\-]*" required value=${key.value} onInput=${(event) => { key.value = event.currentTarget.value; }} /></div>
    ${failure.value && html`<${Failure} error=${failure.value} />`}<div class="ends"><button type="button" class="button" onClick=${onClose}>${t("Cancel")}</button><button class="button primary">${t("Create")}</button></div></form></${Dialog}>`;
}

/** What a step does, in one line. */
function about(step) {
  const parts = { code: () => step.language ?? "js", render: () => `${step.template ?? t("inline template")} → ${step.format ?? "pdf"}`, http: () => `${step.request?.method ?? step.method ?? "GET"} ${step.request?.url ?? step.url ?? ""}`, loop: () => step.items, wait: () => (step.delayMs ? `${step.delayMs} ms` : t("for a callback")), piece: () => `${step.piece}.${step.action}`, respond: () => t("answers the caller"), branch: () => tn((step.branches ?? []).length + (step.otherwise ? 1 : 0), "{count} way", "{count} ways") };
  return String(parts[step.type]?.() ?? "");
}

function Steps({ steps, times }) {
  return html`<ol class="steps">${(steps ?? []).map((step, index) => html`<li key=${`${step.name}${index}`}><div class="step"><${Icon} name=${{ code: "code", render: "document", loop: "repeat", branch: "if", respond: "retry", wait: "history", http: "convert" }[step.type] ?? "item"} /><span class="grow"><b>${step.name}</b><small class="quiet cut">${step.type} · ${about(step)}</small></span></div>
    ${step.steps && html`<div class="loop"><${Steps} steps=${step.steps} times=${times} /></div>`}
    ${step.branches && html`<div class="branches">${[...step.branches, ...(step.otherwise ? [{ name: t("otherwise"), steps: step.otherwise }] : [])].map((one, at) => html`<div key=${at} class="branch"><p class="small quiet">${one.name}${one.when ? html`: <code>${one.when}</code>` : ""}</p><${Steps} steps=${one.steps} times=${times} /></div>`)}</div>`}</li>`)}</ol>`;
}

async function load(name) {
  const response = await request("GET", `flows/${name}`);
  const [flow, flows, runs] = [await response.json(), await json("GET", `flows?limit=200`), await json("GET", `runs?flow=${encodeURIComponent(name)}&limit=5`)];
  return { flow, version: tagOf(response), published: flows.flows.find((one) => one.key === name)?.published ?? null, runs: runs.runs };
}

export function Flow({ name, session }) {
  const { value, error, again } = useLoaded(() => load(name), [name]);
  const edited = useSignal(null);
  const trigger = useSignal(memory.get(`trigger.${name}`) ?? {});
  const problems = useSignal([]);
  const busy = useSignal(false);
  useEffect(() => { edited.value = null; }, [value]);
  if (error) return html`<main class="content"><${Failure} error=${error} onRetry=${again} /></main>`;
  if (!value) return html`<main class="content"><${Loading} /></main>`;
  const flow = edited.value ?? value.flow;
  const attempt = async (work) => {
    busy.value = true;
    problems.value = [];
    try { await work(); } catch (failure) {
      problems.value = failure.diagnostics ?? [];
      say(failure.status === 412 ? t("Somebody has changed this flow meanwhile: reload, then change it again.") : failure.message, true);
    }
    busy.value = false;
  };
  const save = () => attempt(async () => {
    const info = await json("PUT", `flows/${name}`, { body: edited.value, headers: { "If-Match": `"${value.version}"` } });
    say(t("Saved as version {version}, not published yet.", { version: info.version }));
    again();
  });
  const publish = () => attempt(async () => {
    await request("POST", `flows/${name}/publication`, { body: {} });
    say(t("Version {version} is live.", { version: value.version }));
    again();
  });
  const test = () => attempt(async () => {
    memory.set(`trigger.${name}`, trigger.value);
    const run = await json("POST", `flows/${name}/runs?version=${value.version}`, { body: trigger.value });
    location.hash = `#/runs/${run.run}`;
  });
  return html`<main class="content"><header class="head"><div class="grow"><p class="small crumbs row"><a href="#/flows">${t("Flows")}</a><${Icon} name="chevron" /><code>${name}</code></p><h1 class="row">${flow.name || name} ${value.published ? html`<span class="badge ok">${t("v{version} live", { version: value.published })}</span>` : html`<span class="badge warn">${t("Draft only")}</span>`}</h1></div>
      <a class="button" href=${`#/runs?flow=${name}`}><${Icon} name="runs" />${t("Runs")}</a>
      ${session.mayChange && html`<button type="button" class="button" disabled=${!edited.value || busy.value} onClick=${save}>${t("Save")}</button>
      <button type="button" class="button primary" disabled=${Boolean(edited.value) || busy.value || value.published === value.version} onClick=${publish}>${t("Publish v{version}", { version: value.version })}</button>`}</header>
    ${flow.description && html`<p class="quiet">${flow.description}</p>`}
    ${problems.value.length > 0 && html`<ul class="notice bad field-box">${problems.value.map((one) => html`<li>${one.message} <code class="small">${one.path}</code></li>`)}</ul>`}
    <div class="flow"><section class="map" aria-label=${t("Steps")}><div class="step trigger"><${Icon} name="play" /><span class="grow"><b>${t("Trigger")}</b><small class="quiet">${flow.trigger?.type ?? "webhook"}</small></span></div><${Steps} steps=${flow.steps} /></section>
      <section class="flow-side"><h2>${t("Definition")}</h2><${JsonControl} id="flow-json" label=${t("Flow as JSON")} value=${flow} onChange=${(next) => { if (next && session.mayChange) edited.value = next; }} />
        <h2 class="field-box">${t("Test")}</h2><p class="small quiet">${t("Runs version {version} with this as its trigger.", { version: value.version })}</p><${JsonControl} id="flow-trigger" label=${t("Trigger")} value=${trigger.value} onChange=${(next) => { trigger.value = next ?? {}; }} />
        <p class="field-box"><button type="button" class="button" disabled=${busy.value || Boolean(edited.value)} onClick=${test}><${Icon} name="play" />${t("Run with this")}</button></p>
        <h2 class="field-box">${t("Last runs")}</h2>${value.runs.length === 0 ? html`<p class="quiet">${t("No runs yet")}</p>` : html`<ul>${value.runs.map((run) => html`<li class="row last-run" key=${run.id}><${State} name=${run.state} /><a class="mono" href=${`#/runs/${run.id}`}>${run.id}</a><span class="grow"></span><span class="small quiet">${when(run.createdAt)}</span></li>`)}</ul>`}</section></div></main>`;
}
