// Requests to the service.

/** @import { Diagnostic } from "./types.js" */
/**
 * @typedef {{detail?: string, title?: string, code?: string, diagnostics?: Diagnostic[]}} ProblemDocument
 * @typedef {{body?: unknown, headers?: {[name: string]: string}, signal?: AbortSignal, keepalive?: boolean}} RequestOptions
 */

import { signal } from "./base.js";

/** Address of the service: Studio is one level below it. */
export const root = new URL("../", import.meta.url);

/** Whether the service answered the last request. */
export const online = signal(true);
/** The token of the editor in a frame; empty where a session is used. */
export const bearer = signal("");
/** Set when a session has ended. */
export const signedOut = signal(false);

/** A failed request: what the service said. */
export class Problem extends Error {
  /**
   * @param {number} status
   * @param {ProblemDocument} document
   */
  constructor(status, document) {
    super(document.detail || document.title || `HTTP ${status}`);
    this.status = status;
    this.code = document.code ?? "";
    this.diagnostics = document.diagnostics ?? [];
  }
}

/**
 * Whether a request was given up, because another has taken its place.
 * @param {unknown} error
 */
export const isAbort = (error) => error instanceof Error && error.name === "AbortError";

/**
 * What was thrown, as an error.
 * @param {unknown} thrown
 */
export const asError = (thrown) => (thrown instanceof Error ? thrown : new Error(String(thrown)));

/**
 * Status of a failed request; 0 for what failed otherwise.
 * @param {unknown} error
 */
export const statusOf = (error) => (error instanceof Problem ? error.status : 0);

/** A request without an answer. */
export class Unreachable extends Error {}

/**
 * Sends a request. A `body` that is no string, blob or form is sent as JSON.
 * @param {string} method
 * @param {string | URL} path
 * @param {RequestOptions} [options]
 * @returns {Promise<Response>}
 */
export async function request(method, path, { body, headers = {}, signal: stop, keepalive = false } = {}) {
  const raw = body === undefined || typeof body === "string" || body instanceof Blob || body instanceof FormData;
  /** @type {{[name: string]: string}} */
  const all = { "X-Platen-Studio": "1", ...(bearer.value ? { Authorization: `Bearer ${bearer.value}` } : {}), ...headers };
  if (body !== undefined && !(body instanceof Blob) && !(body instanceof FormData)) all["Content-Type"] ??= "application/json";
  let response;
  try {
    response = await fetch(new URL(path, root), {
      method, headers: all, body: raw ? /** @type {BodyInit | undefined} */ (body) : JSON.stringify(body), signal: stop, keepalive, credentials: "same-origin",
    });
  } catch (error) {
    if (isAbort(error)) throw error;
    online.value = false;
    throw new Unreachable(asError(error).message);
  }
  online.value = true;
  if (response.ok) return response;
  const document = await response.json().catch(() => ({ title: response.statusText }));
  if (response.status === 401) signedOut.value = true;
  throw new Problem(response.status, document);
}

/**
 * The JSON that a request answers.
 * @template T
 * @param {string} method
 * @param {string | URL} path
 * @param {RequestOptions} [options]
 * @returns {Promise<T>}
 */
export async function json(method, path, options) {
  return (await request(method, path, options)).json();
}

/**
 * A version from the ETag of a response. Proxies that compress make it weak, or add how: its number counts.
 * @param {Response} response
 */
export const tagOf = (response) => Number(/\d+/.exec(response.headers.get("ETag") ?? "")?.[0]) || null;

/** Most entries of a list. */
export const MOST_LISTED = 10_000;

/**
 * All entries of a paged list, up to `most`.
 * @template T
 * @param {string} path
 * @param {string} name
 * @param {number} [most]
 * @returns {Promise<T[]>}
 */
export async function list(path, name, most = MOST_LISTED) {
  const all = /** @type {T[]} */ ([]);
  let after = /** @type {string | null} */ (null);
  do {
    const page = new URL(path, root);
    page.searchParams.set("limit", "200");
    if (after) page.searchParams.set("after", after);
    const answer = /** @type {{next?: string} & {[name: string]: T[]}} */ (await json("GET", page));
    all.push(...answer[name]);
    after = answer.next ?? null;
  } while (after && all.length < most);
  return all;
}
