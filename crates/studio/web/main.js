// The start of Studio: who is there, and which page is shown.

/** @import { Session } from "./types.js" */

import { html, render, signal, useEffect, useSignal, memory, names } from "./base.js";
import { asError, json, request, signedOut, online } from "./api.js";
import { Editor } from "./editor.js";
import { begin, Embedded, isEmbedded } from "./embed.js";
import { AssetLibrary } from "./asset-library.js";
import { Templates } from "./templates.js";
import { Versions } from "./versions.js";
import { Runs } from "./runs.js";
import { Run } from "./run.js";
import { Flows } from "./flows.js";
import { Flow } from "./flow.js";
import { Convert } from "./convert.js";
import { Operations } from "./operations.js";
import { AuditLog } from "./audit.js";
import { Keys } from "./keys.js";
import { GoTo } from "./go-to.js";
import { may } from "./session.js";
import { SignIn } from "./sign-in.js";
import { Failure, Loading, Toast, say } from "./parts.js";
import { Icon } from "./icons.js";
import { language, speak, t } from "./text.js";

const place = signal(location.hash);
addEventListener("hashchange", () => { place.value = location.hash; });

const theme = signal(/** @type {string | null} */ (memory.get("theme")) ?? "system");
/** @param {string} name */
const apply = (name) => {
  if (name === "system") delete document.documentElement.dataset.theme; else document.documentElement.dataset.theme = name;
};
apply(theme.value);
document.documentElement.lang = language.value;

/**
 * The parts of the address after `#/`, decoded.
 * @param {string} hash
 */
function route(hash) {
  const parts = hash.replace(/^#\/?/, "").split("?")[0].split("/").filter(Boolean);
  return parts.map((part) => { try { return decodeURIComponent(part); } catch { return part; } });
}

/** @param {{session: Session}} props */
function Page({ session }) {
  const [first, second, third] = route(place.value);
  if (first === "templates" && second && third === "versions") return html`<${Versions} key=${second} name=${second} session=${session} />`;
  if (first === "templates" && second) return html`<${Editor} key=${second} name=${second} session=${session} />`;
  if (first === "flows" && second) return html`<${Flow} key=${second} name=${second} session=${session} />`;
  if (first === "flows") return html`<${Flows} session=${session} />`;
  if (first === "runs" && second) return html`<${Run} key=${second} id=${second} />`;
  if (first === "runs") return html`<${Runs} key=${place.value} />`;
  if (first === "assets") return html`<${AssetLibrary} session=${session} />`;
  if (first === "convert") return html`<${Convert} />`;
  if (first === "audit") return html`<${AuditLog} />`;
  if (first === "keys") return html`<${Keys} />`;
  if (first === "operations") return html`<${Operations} />`;
  return html`<${Templates} session=${session} />`;
}

/** @param {{session: Session, onGo: () => void}} props */
function Nav({ session, onGo }) {
  const [first] = route(place.value);
  const isOpen = useSignal(false);
  const link = (/** @type {string} */ name, /** @type {string} */ label, /** @type {string} */ icon) => html`<a class="nav-link" href=${`#/${name}`}
      title=${label} aria-label=${label} aria-current=${(first ?? "templates") === name ? "page" : undefined}>
    <${Icon} name=${icon} /><span>${label}</span></a>`;
  const out = async () => {
    await request("DELETE", "studio/session").catch((error) => say(error.message, true));
    // Who came from the identity provider signs out there, too, and comes back.
    if (session.hasProvider) location.assign("studio/sign-out");
    else signedOut.value = true;
  };
  return html`<nav class="nav" aria-label=${t("Main")}>
    <a class="brand" href="#/templates"><img src="studio/icon.svg" alt="Platen" width="20" height="20" /><b>Platen</b><span>Studio</span></a>
    <button type="button" class="go-button" onClick=${onGo}><${Icon} name="search" /><span>${t("Go to")}…</span><kbd>Ctrl K</kbd></button>
    ${link("templates", t("Templates"), "document")}${link("assets", t("Assets"), "image")}${link("flows", t("Flows"), "flow")}
    ${may(session, "runs") && link("runs", t("Runs"), "runs")}${may(session, "render") && link("convert", t("Convert files"), "convert")}
    ${link("operations", t("Operations"), "chart")}
    ${may(session, "admin") && html`${link("audit", t("Audit log"), "history")}${link("keys", t("Keys"), "key")}`}
    <button type="button" class="nav-more nav-link" aria-label=${t("Settings")} title=${t("Settings")} aria-expanded=${isOpen.value}
        onClick=${() => { isOpen.value = !isOpen.value; }}><${Icon} name="more" /></button>
    <div class=${names("nav-foot", isOpen.value && "open")}>
      <label class="small">
        ${t("Language")}
        <select class="select" value=${language.value} onChange=${(event) => speak(event.currentTarget.value)}>
          <option value="en">English</option><option value="de">Deutsch</option></select></label>
      <label class="small">
        ${t("Colors")}
        <select class="select" value=${theme.value}
            onChange=${(event) => { theme.value = event.currentTarget.value; memory.set("theme", theme.value); apply(theme.value); }}>
          <option value="system">${t("As the system")}</option><option value="light">${t("Light")}</option>
          <option value="dark">${t("Dark")}</option></select></label>
      ${session.name && html`<p class="small quiet cut" title=${session.name}>${session.name}</p>`}
      <p class="small quiet">Platen ${session.version}${session.mayChange ? "" : ` · ${t("read only")}`}</p>
      ${session.needsKey && html`<button type="button" class="link small" onClick=${out}>${t("Sign out")}</button>`}</div></nav>`;
}

function App() {
  const session = useSignal(/** @type {Session | null} */ (null));
  const failure = useSignal(/** @type {Error | null} */ (null));
  const load = async () => {
    try {
      const found = /** @type {Session} */ (await json("GET", "studio/session"));
      session.value = found;
      failure.value = null;
      signedOut.value = !found.signedIn;
    } catch (error) { failure.value = asError(error); }
  };
  const going = useSignal(false);
  useEffect(() => { load(); }, []);
  useEffect(() => {
    const keys = (/** @type {KeyboardEvent} */ event) => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "k") return;
      event.preventDefault();
      going.value = true;
    };
    addEventListener("keydown", keys);
    return () => removeEventListener("keydown", keys);
  }, []);
  if (failure.value && !session.value) return html`<main class="content"><${Failure} error=${failure.value} onRetry=${load} /></main>`;
  if (!session.value) return html`<main class="content"><${Loading} /></main>`;
  const signIn = html`<${SignIn} session=${session.value} over=${session.value.signedIn} onDone=${(/** @type {Session} */ found) => { session.value = found; signedOut.value = false; }} />`;
  if (!session.value.signedIn) return html`${signIn}<${Toast} />`;
  const [first, second, third] = route(place.value);
  const isEditor = first === "templates" && second && third !== "versions";
  const page = html`<${Page} session=${session.value} />`;
  return html`${isEditor ? page : html`<div class="shell"><${Nav} session=${session.value} onGo=${() => { going.value = true; }} />${page}</div>`}
    ${!online.value && html`<p class="stale offline" role="status">${t("The service does not answer. What you type is kept here.")}</p>`}
    ${going.value && html`<${GoTo} onClose=${() => { going.value = false; }} />`}
    ${signedOut.value && html`<div class="sign-over">${signIn}</div>`}<${Toast} />`;
}

if (isEmbedded) begin();
const Root = () => (isEmbedded ? html`<${Embedded} place=${place.value} />` : html`<${App} />`);
render(html`<${Root} />`, document.getElementById("app"));
