// Sign-in by an API key, which is exchanged for a session.

/** @import { Ref } from "./vendor-hooks.js" */
/** @import { PageEvent } from "./vendor-htm.js" */
/** @import { Session } from "./types.js" */

import { html, useSignal, useRef, useEffect } from "./base.js";
import { asError, json, statusOf } from "./api.js";
import { Failure } from "./parts.js";
import { t } from "./text.js";

/**
 * The form that asks for the key.
 * @param {{onDone: (session: Session) => void}} props
 */
export function SignIn({ onDone }) {
  const key = useSignal("");
  const failure = useSignal(/** @type {Error | null} */ (null));
  const busy = useSignal(false);
  /** @type {Ref<HTMLInputElement>} */
  const field = useRef(null);
  useEffect(() => field.current.focus(), []);
  const submit = async (/** @type {PageEvent} */ event) => {
    event.preventDefault();
    busy.value = true;
    try {
      onDone(/** @type {Session} */ (await json("POST", "studio/session", { body: { key: key.value.trim() } })));
    } catch (error) {
      failure.value = statusOf(error) === 401 ? new Error(t("The service does not know this key.")) : asError(error);
      busy.value = false;
      field.current.focus();
    }
  };
  return html`<main class="sign-in">
    <form onSubmit=${submit}>
      <img src="studio/icon.svg" alt="" width="40" height="40" /><h1>${t("Sign in to Platen")}</h1>
      <p class="quiet">${t("With an API key of this service. It is exchanged for a session of 12 hours, and not stored in the browser.")}</p>
      <p class="field-box">
        <label class="label" for="api-key">${t("API key")}</label>
        <input id="api-key" ref=${field} class="input" type="password" autocomplete="current-password" required value=${key.value}
            onInput=${(event) => { key.value = event.currentTarget.value; }} /></p>
      ${failure.value && html`<${Failure} error=${failure.value} />`}
      <p class="field-box"><button class="button primary" disabled=${busy.value}>${t("Sign in")}</button></p></form></main>`;
}
