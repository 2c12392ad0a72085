// How long Studio takes from a keystroke to changed pixels, in a real browser with the real binary.
// `make bench-studio` calls it with the folder of node_modules, the program of the browser, the binary,
// and what the binary was built as; it writes the figures into docs/reference/studio.md.

import { createRequire } from "node:module";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { createInterface } from "node:readline";
import { strict as assert } from "node:assert";

const [modules, program, binary, build = "release"] = process.argv.slice(2);
const { chromium } = createRequire(`${modules}/`)("playwright-core");
const key = "admin-key-of-the-studio";
const COUNT = Number(process.env.COUNT ?? 100);
/** Keys before the first one that counts. */
const WARM_UP = 10;
/** Sections of the report that stand in it twice, so that it has ten pages. */
const AGAIN = [1, 2, 3];
/** Time between two keys, as of somebody who types fast, in milliseconds. */
const PAUSE = 150;

/** The service, in a folder of its own. */
async function serve() {
  const folder = mkdtempSync(`${tmpdir()}/platen-latency-`);
  const child = spawn(binary, ["serve", "--bind", "127.0.0.1:0", "--log-format", "json", "--data-dir", `${folder}/data`], {
    env: { ...process.env, API_KEY_ADMIN: key, PLATEN_SYSTEM_FONTS: "false" }, stdio: ["ignore", "ignore", "pipe"],
  });
  for await (const line of createInterface({ input: child.stderr })) {
    const { address } = JSON.parse(line);
    if (address) {
      child.stderr.resume();
      return { address: `http://${address}`, stop: () => { child.kill(); rmSync(folder, { recursive: true, force: true }); } };
    }
  }
  throw new Error("the service did not start");
}

const read = (example, name) => JSON.parse(readFileSync(new URL(`../../examples/${example}/${name}.json`, import.meta.url)));

/** An invoice of one page: the gallery's, with the first three of its lines. */
function invoice() {
  const data = read("invoice-de", "data");
  const list = Object.keys(data).find((name) => Array.isArray(data[name]));
  return { template: read("invoice-de", "template"), data: { ...data, [list]: data[list].slice(0, 3) }, pages: 1, page: 1 };
}

/** A report of ten pages: the gallery's, with some of its sections again. */
function report() {
  const template = read("quarterly-report-en", "template");
  // An id stands once in a template.
  const again = JSON.parse(JSON.stringify(AGAIN.map((index) => template.body[index]), (name, value) => (name === "id" ? undefined : value)));
  template.body = [...template.body, ...again];
  return { template, data: read("quarterly-report-en", "data"), pages: 10, page: 5 };
}

/** Milliseconds from each keystroke to the frame after the page's other picture, in order of size. */
async function measure(page, number) {
  await page.evaluate((number) => {
    globalThis.times = [];
    // A page is drawn in layers, of which one or all change.
    const layers = () => [...(document.querySelector(`.page img[alt^="Page ${number} of"]`)?.parentElement?.querySelectorAll("img") ?? [])];
    const names = () => layers().map((layer) => layer.src).join(" ");
    addEventListener("keydown", async (event) => {
      const old = names();
      while (!layers().length || names() === old || !layers().every((layer) => layer.complete)) await new Promise(requestAnimationFrame);
      await Promise.all(layers().map((layer) => layer.decode().catch(() => {})));
      // The frame with it is on the screen when a task after the frame's callbacks runs.
      await new Promise(requestAnimationFrame);
      await new Promise((done) => { const { port1, port2 } = new MessageChannel(); port1.onmessage = done; port2.postMessage(0); });
      times.push(performance.now() - event.timeStamp);
    }, true);
  }, number);
  for (let round = 0; round < COUNT + WARM_UP; round += 1) {
    await page.keyboard.press("x");
    await page.waitForFunction((count) => times.length === count, round + 1);
    await page.waitForTimeout(PAUSE);
  }
  const found = await page.evaluate(() => times);
  return found.slice(WARM_UP).sort((one, other) => one - other);
}

/** Opens a template in the editor and puts the caret into a text of a page. */
async function open(browser, address, { template, data, page: number, pages }) {
  const api = async (method, path, body) => {
    const response = await fetch(new URL(path, `${address}/`), { method, headers: { "X-Api-Key": key, "Content-Type": "application/json" }, body: JSON.stringify(body) });
    assert.ok(response.ok, `${method} ${path}: ${response.status} ${await response.clone().text()}`);
    return response.json().catch(() => null);
  };
  await api("POST", "templates", template);
  await api("PUT", `templates/${template.key}/sample`, data);
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: "en-US" });
  const page = await context.newPage();
  await page.goto(`${address}/studio#/templates/${template.key}`);
  await page.getByLabel("API key").fill(key);
  await page.keyboard.press("Enter");
  const shown = page.locator(".page img").first();
  await shown.waitFor();
  const count = Number(/of (\d+)/.exec(await shown.getAttribute("alt"))[1]);
  if (pages) assert.equal(count, pages);
  await page.locator(".canvas").evaluate((canvas, part) => { canvas.scrollTop = canvas.scrollHeight * part; }, (number - 1) / count);
  const wanted = page.locator(".page", { has: page.getByAltText(new RegExp(`^Page ${number} of`)) });
  await wanted.waitFor();
  const box = await wanted.boundingBox();
  const content = page.getByLabel("Content", { exact: true });
  for (let y = 60; y < 700 && !(await content.isVisible()); y += 20) await page.mouse.click(box.x + box.width / 2, Math.max(100, box.y) + y);
  await content.focus();
  await page.keyboard.press("End");
  return { page, count };
}

const service = await serve();
const browser = await chromium.launch({ executablePath: program, args: ["--no-sandbox"] });
const rows = [];
try {
  for (const [name, of] of [["an invoice of one page", invoice()], ["page 5 of a report", report()]]) {
    const load = loadavg()[0];
    const { page, count } = await open(browser, service.address, of);
    const before = await page.locator(".canvas").screenshot();
    const times = await measure(page, of.page);
    assert.notDeepEqual(await page.locator(".canvas").screenshot(), before, "the pixels changed");
    const at = (part) => times[Math.min(times.length - 1, Math.ceil(times.length * part) - 1)].toFixed(0);
    rows.push(`| ${name.replace("a report", `a report of ${count} pages`)} | ${at(0.5)} ms | ${at(0.95)} ms | ${times.length} | ${load.toFixed(1)} |`);
    console.log(rows.at(-1));
    await page.context().close();
  }
} finally {
  const version = browser.version();
  await browser.close();
  service.stop();
  const today = new Date().toISOString().slice(0, 10);
  const text = [
    `Measured on ${today}: ${build} build, Chromium ${version} without a graphics card, ${cpus().length} cores (${cpus()[0].model.trim()}), 1280 × 800.`, "",
    "| Typing in | Median | 95th percentile | Keys | Load before |", "|---|---|---|---|---|", ...rows,
  ].join("\n");
  const place = new URL("../../docs/reference/studio.md", import.meta.url);
  const document = readFileSync(place, "utf8");
  const [start, end] = ["<!-- latency -->\n", "\n<!-- end -->"];
  const [before, rest] = document.split(start);
  if (rows.length === 2) writeFileSync(place, `${before}${start}${text}${end}${rest.split(end)[1]}`);
}
