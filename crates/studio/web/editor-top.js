// The bar at the top of the editor: what is edited, how far it is saved, and what can be done with it.

/** @import { Editing } from "./editing.js" */
/** @import { Session } from "./types.js" */

import { html } from "./base.js";
import { Downloads } from "./downloads.js";
import { SaveState } from "./save-state.js";
import { may } from "./session.js";
import { Presence } from "./presence.js";
import { UndoButtons } from "./undo-buttons.js";
import { Icon } from "./icons.js";
import { t } from "./text.js";

/**
 * The bar.
 * @param {{editing: Editing, locked: boolean, session: Session, hasErrors: boolean, onOpen: (dialog: string) => void}} props
 */
export function EditorTop({ editing, locked, session, hasErrors, onOpen }) {
  return html`<header class="editor-top">
    ${!session.template && html`<a class="brand-small" href="#/templates" aria-label=${t("All templates")}><img src="studio/icon.svg" alt="" width="22" height="22" /></a>`}
    <div class="grow row crumbs">
      ${!session.template && html`<a href="#/templates">${t("Templates")}</a><${Icon} name="chevron" />`}<h1 class="cut">${editing.name.value}</h1>
      <code class="quiet cut wide-only">${editing.key}</code>
      ${editing.hasDraft.value ? html`<span class="badge on">${t("Draft")}</span>` : html`<span class="badge ok">${t("v{version} live", { version: editing.live.value })}</span>`}
      <${SaveState} editing=${editing} onClash=${onOpen} /></div>
    ${!locked && html`<${Presence} editing=${editing} /><${UndoButtons} editing=${editing} />`}
    <a class="button plain wide-only" href=${`#/templates/${editing.key}/versions`}><${Icon} name="history" />${t("Versions")}</a>
    <${Downloads} ...${{ editing, locked, session, onOpen }} />
    ${may(session, "publish") && html`<button type="button" class="button primary" disabled=${hasErrors || !editing.hasDraft.value}
        title=${hasErrors ? t("There are errors: see Problems") : ""} onClick=${() => onOpen(editing.draft.state.value === "clash" ? "draft" : "publish")}>${t("Publish…")}</button>`}</header>`;
}
