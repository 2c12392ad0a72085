// Sign-in: by an API key, which is exchanged for a session, or by the identity provider of the service.

/** @import { Ref } from "./vendor-hooks.js" */
/** @import { PageEvent } from "./vendor-htm.js" */
/** @import { Session } from "./types.js" */

import { html, names, useSignal, useRef, useEffect } from "./base.js";
import { asError, json, statusOf } from "./api.js";
import { Failure } from "./parts.js";
import { t } from "./text.js";

/** What went wrong with a sign-in by the provider, as the address says it. */
const trouble = new URLSearchParams(location.search).get("signIn");
if (trouble) history.replaceState(null, "", location.pathname + location.hash);

/** @param {string | null} code */
function troubleText(code) {
  if (code === "no-role") return t("You are known, but your account has no role here: ask an administrator.");
  if (code === "cancelled") return t("The sign-in was cancelled.");
  return code ? t("The sign-in did not work: try again. The log of the service says why.") : "";
}

/**
 * The form that asks for the key, and the way to the provider.
 * @param {{session: Session, over?: boolean, onDone: (session: Session) => void}} props whether it is over a page that must stay
 */
export function SignIn({ session, over, onDone }) {
  const key = useSignal("");
  const failure = useSignal(/** @type {Error | null} */ (null));
  const busy = useSignal(false);
  /** @type {Ref<HTMLInputElement>} */
  const field = useRef(null);
  useEffect(() => { if (!session.hasProvider) field.current.focus(); }, []);
  useEffect(() => {
    if (!over || !session.hasProvider) return undefined;
    // The provider is in a tab of its own: this page has what is not saved yet.
    const look = () => json("GET", "studio/session").then((answer) => {
      const found = /** @type {Session} */ (answer);
      if (found.signedIn) onDone(found);
    }, () => {});
    addEventListener("focus", look);
    return () => removeEventListener("focus", look);
  }, [over]);
  const submit = async (/** @type {PageEvent} */ event) => {
    event.preventDefault();
    busy.value = true;
    try {
      onDone(/** @type {Session} */ (await json("POST", "studio/session", { body: { key: key.value.trim() } })));
    } catch (error) {
      failure.value = statusOf(error) === 401 ? new Error(t("The service does not know this key.")) : asError(error);
      busy.value = false;
      field.current?.focus();
    }
  };
  return html`<main class="sign-in">
    <form onSubmit=${submit}>
      <img src="studio/icon.svg" alt="" width="40" height="40" /><h1>${t("Sign in to Platen")}</h1>
      ${trouble && html`<div class="notice bad" role="alert"><p>${troubleText(trouble)}</p></div>`}
      ${session.hasProvider && html`<p class="field-box"><a class="button primary" href="studio/sign-in" target=${over ? "_blank" : undefined} rel="noopener">${t("Sign in with your organization")}</a></p>
        <p class="or small quiet"><span>${t("or with a key")}</span></p>`}
      <p class="quiet">${t("With an API key of this service. It is exchanged for a session of 12 hours, and not stored in the browser.")}</p>
      <p class="field-box">
        <label class="label" for="api-key">${t("API key")}</label>
        <input id="api-key" ref=${field} class="input" type="password" autocomplete="current-password" required value=${key.value}
            onInput=${(event) => { key.value = event.currentTarget.value; }} /></p>
      ${failure.value && html`<${Failure} error=${failure.value} />`}
      <p class="field-box"><button class=${names("button", !session.hasProvider && "primary")} disabled=${busy.value}>${t("Sign in")}</button></p></form></main>`;
}
