// Requests to the service.

import { signal } from "./base.js";

/** Address of the service: Studio is one level below it. */
export const root = new URL("../", import.meta.url);

/** Whether the service answered the last request. */
export const online = signal(true);
/** Set when a session has ended. */
export const signedOut = signal(false);

/** A failed request: what the service said. */
export class Problem extends Error {
  constructor(status, document) {
    super(document.detail || document.title || `HTTP ${status}`);
    this.status = status;
    this.code = document.code ?? "";
    this.diagnostics = document.diagnostics ?? [];
    this.document = document;
  }
}

/** A request without an answer. */
export class Unreachable extends Error {}

/**
 * Sends a request. A `body` that is no string, blob or form is sent as JSON.
 * @returns {Promise<Response>}
 */
export async function request(method, path, { body, headers = {}, signal: stop } = {}) {
  const raw = body === undefined || typeof body === "string" || body instanceof Blob || body instanceof FormData;
  const all = { "X-Platen-Studio": "1", ...headers };
  if (body !== undefined && !(body instanceof Blob) && !(body instanceof FormData)) all["Content-Type"] ??= "application/json";
  let response;
  try {
    response = await fetch(new URL(path, root), {
      method, headers: all, body: raw ? body : JSON.stringify(body), signal: stop, credentials: "same-origin",
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    online.value = false;
    throw new Unreachable(error.message);
  }
  online.value = true;
  if (response.ok) return response;
  const document = await response.json().catch(() => ({ title: response.statusText }));
  if (response.status === 401) signedOut.value = true;
  throw new Problem(response.status, document);
}

/** The JSON that a request answers. */
export async function json(method, path, options) {
  return (await request(method, path, options)).json();
}

/** A version from the ETag of a response. */
export const tagOf = (response) => Number(response.headers.get("ETag")?.replaceAll('"', "")) || null;

/** All entries of a paged list, up to `most`. */
export async function list(path, name, most = 2000) {
  const all = [];
  let after = null;
  do {
    const page = new URL(path, root);
    page.searchParams.set("limit", "200");
    if (after) page.searchParams.set("after", after);
    const answer = await json("GET", page.href);
    all.push(...answer[name]);
    after = answer.next ?? null;
  } while (after && all.length < most);
  return all;
}
