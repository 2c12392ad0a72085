// What the person who uses Studio may do.

/** @import { Session } from "./types.js" */

/**
 * Whether a session has a scope, as the service names it.
 * @param {Session} session
 * @param {string} scope
 */
export const may = (session, scope) => session.scopes.includes(scope);
