// The browser in which the scenarios play, and what they do often: sign in, choose a node, ask the API.

import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { createConnection, createServer } from "node:net";
import { strict as assert } from "node:assert";

const [modules, program, ...rest] = process.argv.slice(2);
/** The service, its admin key, and a folder for pictures, if they are wanted. */
export const [address, key, pictures] = rest;
const require = createRequire(`${modules}/`);
const { chromium } = require("playwright-core");
const axeSource = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
export const font = new URL("../../assets/fonts/LiberationMono-Regular.ttf", import.meta.url);
export const studio = (place) => `${address}/studio#/${place}`;

export const browser = await chromium.launch({ executablePath: program, args: ["--no-sandbox"] });
export const complaints = [];

/** A page of a new browser profile, whose errors fail the test. */
export async function fresh(options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: "en-US", acceptDownloads: true, ...options });
  await context.grantPermissions(["clipboard-read", "clipboard-write"]).catch(() => {});
  const page = await context.newPage();
  watch(page);
  return page;
}

/** What a page complains of fails the test, and so does a dialog of a script. */
export function watch(page) {
  page.setDefaultTimeout(15_000);
  page.on("dialog", (dialog) => { complaints.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on("pageerror", (error) => complaints.push(`script: ${error.stack}`));
  page.on("console", (message) => {
    const text = message.text();
    // Answers that the scenarios expect are no complaints.
    if (["error", "warning"].includes(message.type()) && !/status of (400|401|404|409|412|415|422)|ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|ERR_FAILED|ERR_INTERNET/.test(text)) complaints.push(text);
  });
}

export async function signIn(page, place = "templates") {
  await page.goto(studio(place));
  await page.getByLabel("API key").fill(key);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("button", { name: "Sign in" }).waitFor({ state: "detached" });
}

/** A request with the key, as a program sends it. */
export async function api(method, path, body, headers = {}) {
  const response = await fetch(new URL(path, `${address}/`), { method, headers: { "X-Api-Key": key, "Content-Type": "application/json", ...headers }, body: body === undefined ? undefined : JSON.stringify(body) });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return response;
}

/** What axe finds serious on a page. */
export async function accessible(page, name) {
  // In the page's own world axe would be a foreign script; Playwright evaluates it beside the policy.
  await page.evaluate(axeSource);
  const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  const serious = found.violations.filter((one) => ["serious", "critical"].includes(one.impact));
  assert.deepEqual(serious.map((one) => `${one.id}: ${one.nodes.map((node) => node.html.slice(0, 160)).join(" | ")}`), [], `axe on ${name}`);
}

/** Prints how long a key holds up the page: from the event to the next frame. */
export async function latency(field, of) {
  const times = await field.evaluate(async (area) => {
    const found = [];
    for (let round = 0; round < 25; round += 1) {
      const start = performance.now();
      area.setRangeText("x", area.value.length, area.value.length, "end");
      area.dispatchEvent(new Event("input", { bubbles: true }));
      await new Promise(requestAnimationFrame);
      await new Promise((done) => setTimeout(done));
      found.push(performance.now() - start);
      await new Promise((done) => setTimeout(done, 60));
    }
    return found.sort((one, other) => one - other);
  });
  console.log(`figure: keystroke to the next frame, ${of}: median ${times[12].toFixed(0)} ms, slowest ${times.at(-1).toFixed(0)} ms`);
}

/** A way to the service that can be cut. */
export async function forwarder() {
  const { hostname, port } = new URL(address);
  const open = new Set();
  const server = createServer((socket) => {
    const inner = createConnection(Number(port), hostname);
    for (const one of [socket, inner]) {
      open.add(one);
      one.on("error", () => {});
      one.on("close", () => { open.delete(one); socket.destroy(); inner.destroy(); });
    }
    socket.pipe(inner).pipe(socket);
  });
  const way = {
    port: 0,
    start: () => new Promise((done) => { server.listen(way.port, "127.0.0.1", () => { way.port = server.address().port; done(); }); }),
    stop: () => { server.close(); for (const one of open) one.destroy(); },
  };
  await way.start();
  return way;
}

/** Prints how long it takes from a change of a field to another picture of a page. */
export async function figure(page, field, of, number = 1) {
  const times = await field.evaluate(async (area, number) => {
    const found = [];
    const picture = () => document.querySelector(`.page img[alt^="Page ${number} of"]`);
    // A page is drawn in layers; the one with the name changes with each key.
    for (let round = 0; round < 25; round += 1) {
      const old = picture().src;
      const start = performance.now();
      area.setRangeText("x", area.value.length, area.value.length, "end");
      area.dispatchEvent(new Event("input", { bubbles: true }));
      while (picture().src === old || !picture().complete) await new Promise(requestAnimationFrame);
      found.push(performance.now() - start);
      await new Promise((done) => setTimeout(done, 150));
    }
    return found.sort((one, other) => one - other);
  }, number);
  console.log(`figure: keystroke to page, ${of}: median ${times[12].toFixed(0)} ms, slowest ${times.at(-1).toFixed(0)} ms`);
}

/** A module of Studio that stands by itself, here. */
export async function moduleOf(name) {
  const text = readFileSync(new URL(`../../crates/studio/web/${name}`, import.meta.url), "utf8");
  return import(`data:text/javascript,${encodeURIComponent(text)}`);
}

/** Where a node is on page 1, in pixels of the page. */
export async function nodeArea(page, path) {
  await choose(page, path);
  const mark = page.locator(".node-box.chosen").first();
  await mark.waitFor();
  const [outer, inner] = [await page.locator(".page").first().boundingBox(), await mark.boundingBox()];
  await page.getByRole("treeitem").first().click();
  return { x: inner.x - outer.x, y: inner.y - outer.y, width: inner.width, height: inner.height };
}

/** Waits until something holds. */
export async function until(holds) {
  for (const end = Date.now() + 15_000; !(await holds()); await new Promise((done) => setTimeout(done, 50))) assert.ok(Date.now() < end, `${holds}`);
}

/** A browser of its own with a template in the editor. */
export async function editorOf(template, options) {
  const page = await fresh(options);
  await signIn(page, `templates/${template}`);
  await page.locator(".page img").first().waitFor();
  return page;
}

/** Opens the drawer with the sample data. */
export async function openData(page) {
  if (!(await page.getByRole("tab", { name: "Data" }).isVisible())) await page.keyboard.press("Control+b");
  await page.getByRole("tab", { name: "Data" }).click();
}

/** Chooses the n-th node of the body in the outline. */
export async function choose(page, path) {
  const index = Number(path.split("/")[2]);
  const rows = page.locator("[role=treeitem][aria-level='1']");
  const first = await rows.evaluateAll((all) => all.findIndex((one) => one.querySelector("b").textContent === "Theme"));
  await rows.nth(first + 1 + index).click();
}