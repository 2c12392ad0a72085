// The editor of one template in a frame of another site's page: a token instead of a session.
//
// The token comes in the fragment of the address, which is taken away at once, or from the page
// around as a message. Which pages may frame the editor is in its content security policy, so the
// page around is one of those.

/** @import { Session } from "./types.js" */

import { html, signal, useEffect, useSignal } from "./base.js";
import { asError, bearer, json, signedOut } from "./api.js";
import { Editor } from "./editor.js";
import { Versions } from "./versions.js";
import { Failure, Loading, Toast } from "./parts.js";
import { t } from "./text.js";

/** Time before its end at which another token is asked for, in milliseconds. */
const EARLY = 60_000;
/** Longest time of a timer, in milliseconds. */
const MOST = 2_000_000_000;

/** Whether this page is the editor of one template. */
export const isEmbedded = location.pathname.endsWith("/editor");

/** Counts the tokens that came. */
const round = signal(0);

/** Asks the page around for another token. It learns nothing but that. */
function ask() {
  if (window.parent !== window) window.parent.postMessage({ type: "platen-token-needed" }, "*");
}

/** @param {unknown} token */
function use(token) {
  if (typeof token !== "string" || !token) return;
  bearer.value = token;
  round.value += 1;
}

/** Takes the token out of the address, and listens to the page around. */
export function begin() {
  use(new URLSearchParams(location.hash.replace(/^#/, "")).get("token"));
  history.replaceState(null, "", `${location.pathname}#/`);
  addEventListener("message", ({ source, data }) => {
    if (source === window.parent && data?.type === "platen-token") use(data.token);
  });
  if (!bearer.value) ask();
}

/** @param {{place: string}} props the part of the address after the number sign */
export function Embedded({ place }) {
  const session = useSignal(/** @type {Session | null} */ (null));
  const failure = useSignal(/** @type {Error | null} */ (null));
  const count = round.value;
  useEffect(() => {
    if (count === 0) return undefined;
    /** @type {number[]} */
    const timers = [];
    json("GET", "studio/session").then((answer) => {
      const found = /** @type {Session} */ (answer);
      const isOther = session.value && found.template !== session.value.template;
      failure.value = null;
      signedOut.value = !found.signedIn || Boolean(isOther);
      if (signedOut.value) return;
      session.value = found;
      const left = new Date(found.expiresAt ?? 0).getTime() - Date.now();
      if (left > EARLY) timers.push(setTimeout(ask, Math.min(left - EARLY, MOST)));
      timers.push(setTimeout(() => { signedOut.value = true; ask(); }, Math.min(left, MOST)));
    }, (error) => { failure.value = asError(error); });
    return () => timers.forEach(clearTimeout);
  }, [count]);
  const found = session.value;
  if (failure.value && !found) return html`<main class="content"><${Failure} error=${failure.value} onRetry=${() => { round.value += 1; }} /></main>`;
  if (!found?.template) return html`${signedOut.value || count === 0 ? html`<main class="content"><${Ended} isFirst /></main>` : html`<main class="content"><${Loading} /></main>`}`;
  const page = place.endsWith("/versions") ? Versions : Editor;
  return html`<${page} key=${found.template} name=${found.template} session=${found} />
    ${signedOut.value && html`<div class="sign-over" role="dialog" aria-label=${t("The time for this editor is over")}><${Ended} /></div>`}<${Toast} />`;
}

/** @param {{isFirst?: boolean}} props whether nothing was edited yet */
function Ended({ isFirst }) {
  return html`<div class="ended" role="alert"><div class="ended-box">
    <h2>${isFirst ? t("This editor is not open") : t("The time for this editor is over")}</h2>
    <p>${isFirst ? t("The page around it has given no token, or one that has ended.")
    : t("Nothing is lost: what you typed stays here, and is saved as soon as the page around gives the editor more time.")}</p>
    <p class="field-box"><button type="button" class="button primary" onClick=${ask}>${t("Ask for more time")}</button></p></div></div>`;
}
