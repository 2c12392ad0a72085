// Makes, stores and renders a template by the types of openapi-typescript.

import createClient from "openapi-fetch";
import type { paths } from "./platen.js";

const env = process.env as Record<string, string>;
const client = createClient<paths>({
  baseUrl: env["PLATEN_URL"],
  headers: { "X-Api-Key": env["PLATEN_KEY"] },
});

const stored = await client.POST("/templates", {
  body: {
    key: "note",
    name: "Note",
    body: [{ type: "text", content: "Dear {{ name }}" }],
  },
});
if (stored.error) throw new Error(stored.error.detail);

const made = await client.POST("/render/{format}", {
  params: { path: { format: "pdf" } },
  body: { template: "note", data: { name: "Ada" } },
  parseAs: "arrayBuffer",
});
if (made.error) throw new Error(made.error.detail);
const start = new TextDecoder().decode((made.data as unknown as ArrayBuffer).slice(0, 5));
if (start !== "%PDF-") throw new Error(start);
