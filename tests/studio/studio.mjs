// Studio in a real browser, as its users use it. Called with the folder of node_modules, the program
// of the browser, the address of a service, its admin key, and a folder for pictures.

import { createRequire } from "node:module";
import { resolveObjectURL } from "node:buffer";
import { readFileSync, writeFileSync } from "node:fs";
import { createConnection, createServer } from "node:net";
import { strict as assert } from "node:assert";

const [modules, program, address, key, pictures] = process.argv.slice(2);
const require = createRequire(`${modules}/`);
const { chromium } = require("playwright-core");
const axeSource = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const font = new URL("../../assets/fonts/LiberationMono-Regular.ttf", import.meta.url);
const studio = (place) => `${address}/studio#/${place}`;

const browser = await chromium.launch({ executablePath: program, args: ["--no-sandbox"] });
const complaints = [];

/** A page of a new browser profile, whose errors fail the test. */
async function fresh(options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: "en-US", acceptDownloads: true, ...options });
  await context.grantPermissions(["clipboard-read", "clipboard-write"]).catch(() => {});
  const page = await context.newPage();
  watch(page);
  return page;
}

/** What a page complains of fails the test, and so does a dialog of a script. */
function watch(page) {
  page.setDefaultTimeout(15_000);
  page.on("dialog", (dialog) => { complaints.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on("pageerror", (error) => complaints.push(`script: ${error.stack}`));
  page.on("console", (message) => {
    const text = message.text();
    // Answers that the scenarios expect are no complaints.
    if (["error", "warning"].includes(message.type()) && !/status of (400|401|404|409|412|415|422)|ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|ERR_FAILED|ERR_INTERNET/.test(text)) complaints.push(text);
  });
}

async function signIn(page, place = "templates") {
  await page.goto(studio(place));
  await page.getByLabel("API key").fill(key);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("button", { name: "Sign in" }).waitFor({ state: "detached" });
}

/** A request with the key, as a program sends it. */
async function api(method, path, body, headers = {}) {
  const response = await fetch(new URL(path, `${address}/`), { method, headers: { "X-Api-Key": key, "Content-Type": "application/json", ...headers }, body: body === undefined ? undefined : JSON.stringify(body) });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return response;
}

/** What axe finds serious on a page. */
async function accessible(page, name) {
  // In the page's own world axe would be a foreign script; Playwright evaluates it beside the policy.
  await page.evaluate(axeSource);
  const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  const serious = found.violations.filter((one) => ["serious", "critical"].includes(one.impact));
  assert.deepEqual(serious.map((one) => `${one.id}: ${one.nodes.map((node) => node.html.slice(0, 160)).join(" | ")}`), [], `axe on ${name}`);
}

const scenarios = {
  async "a wrong key does not sign in, and a right one does"() {
    const page = await fresh();
    await page.goto(studio("templates"));
    await page.getByLabel("API key").fill("wrong");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("does not know this key").waitFor();
    await accessible(page, "sign-in");
    await page.getByLabel("API key").fill(key);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("Start with a template").waitFor();
    const cookies = await page.context().cookies();
    assert.ok(cookies.every((one) => one.httpOnly && one.sameSite === "Strict" && !one.value.includes(key)));
    assert.ok(!(await page.evaluate(() => JSON.stringify({ ...localStorage }))).includes(key));
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("API key").waitFor();
  },

  async "an invoice from the gallery is changed, bound, published and rendered by a program"() {
    const page = await fresh();
    await signIn(page);
    await page.getByRole("button", { name: "Open the gallery" }).click();
    await page.getByRole("button", { name: /^Rechnung/ }).first().click();
    await page.getByLabel("Name", { exact: true }).fill("Our invoice");
    await page.getByLabel("Key", { exact: true }).fill("our-invoice");
    await page.getByRole("button", { name: "Create" }).click();
    await page.locator(".page img").first().waitFor();
    // A click on the page finds the node that made it.
    const box = await page.locator(".page").first().boundingBox();
    const area = await nodeArea(page, "/body/2");
    await page.mouse.click(box.x + area.x + 20, box.y + area.y + area.height / 2);
    const content = page.getByLabel("Content", { exact: true });
    await content.waitFor();
    assert.match(await content.inputValue(), /^Rechnung/);
    await content.fill("Invoice {{ invoice.number }} of ");
    // A field of the data goes to the caret.
    if (!(await page.getByRole("tab", { name: "Data" }).isVisible())) await page.keyboard.press("Control+b");
    await page.getByRole("button", { name: "seller", exact: true }).first().waitFor();
    await page.locator(".data-name", { hasText: /^name$/ }).first().click();
    assert.equal(await content.inputValue(), "Invoice {{ invoice.number }} of {{ seller.name }}");
    await page.getByText(/^Saved/).waitFor();
    await page.getByRole("button", { name: "Publish…" }).click();
    await page.getByLabel("What changed").fill("Größere Überschrift");
    await page.getByRole("button", { name: "Publish", exact: true }).click();
    await page.getByText("Version 1 is live").first().waitFor();
    const versions = await (await api("GET", "templates/our-invoice/versions")).json();
    assert.equal(versions.versions[0].note, "Größere Überschrift");
    const data = await (await api("GET", "templates/our-invoice/sample")).json();
    const pdf = await api("POST", "render/pdf", { template: "our-invoice", data });
    assert.equal(Buffer.from(await pdf.arrayBuffer()).subarray(0, 5).toString(), "%PDF-");
    const text = await (await api("POST", "render/html", { template: "our-invoice", data })).text();
    assert.ok(text.includes("Invoice RE-2026-0417 of Mühlenhof Bergmann GmbH"));
    await accessible(page, "editor");
  },

  async "the layers of a page are the page, whatever changes"() {
    const { layersOf } = await moduleOf("layers.js");
    let seed = 7;
    const random = (below) => { seed = (seed * 48271) % 2147483647; return seed % below; };
    const line = () => `<path d="${"0123456789"[random(10)].repeat(random(400))}"/>`;
    for (let round = 0; round < 200; round += 1) {
      let lines = Array.from({ length: random(80) }, line);
      let layers;
      for (let change = 0; change < 30; change += 1) {
        const at = random(lines.length + 1);
        if (random(10) === 0) lines = lines.map((one) => (random(3) ? one : line()));
        else lines.splice(random(4) ? Math.min(at, 5) : at, random(3), ...Array.from({ length: random(3) }, line));
        const head = `<svg width="${random(20) ? 1 : 2}">`;
        const body = lines.map((one) => `${one}\n`).join("");
        layers = layersOf(`${head}\n<title>${random(9)}</title>\n${body}</svg>\n`, layers);
        const parts = await Promise.all(layers.urls.map((url) => (url ? resolveObjectURL(url).text() : "")));
        const drawn = parts.map((part) => {
          assert.ok(part === "" || (part.startsWith(head) && part.endsWith("</svg>\n")), part);
          return part.slice(head.length, part.length - "</svg>\n".length);
        });
        assert.equal(drawn.join(""), body, "every line once, in order");
        for (const one of drawn) assert.ok(one === "" || one.endsWith("\n"), "whole lines");
      }
    }
    const page = await fresh();
    await signIn(page, "templates/our-invoice");
    await page.locator(".page img").first().waitFor();
    await choose(page, "/body/3");
    const content = page.getByLabel("Content", { exact: true });
    const before = await content.inputValue();
    const shown = page.locator(".page").first();
    const settled = async () => {
      await page.waitForFunction(() => [...document.querySelectorAll(".page img")].every((one) => one.complete));
      await page.waitForTimeout(700);
      // Messages about others who have it open are not the page.
      await page.evaluate(() => document.querySelectorAll(".toast").forEach((one) => { one.style.display = "none"; }));
      return (await shown.screenshot()).toString("base64");
    };
    await content.focus();
    await page.keyboard.press("End");
    const typed = [];
    // A word in the line, words that make a line more, and back again.
    for (const keys of [..." more", ..." words until the paragraph needs another line of its own, and then some", ...Array(9).fill("Backspace")]) {
      await page.keyboard.press(keys);
      await page.waitForTimeout(20);
    }
    typed.push(await settled());
    assert.ok(await shown.locator("img").count() > 1, "there are layers");
    await page.reload();
    await page.locator(".page img").first().waitFor();
    await choose(page, "/body/3");
    assert.equal(await shown.locator("img").count(), 1, "a page that was not changed is one picture");
    typed.push(await settled());
    const differing = await page.evaluate(async (pictures) => {
      const [one, other] = await Promise.all(pictures.map(async (picture) => {
        const bytes = Uint8Array.from(atob(picture), (letter) => letter.charCodeAt(0));
        const bitmap = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
        const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
        const context = canvas.getContext("2d");
        context.drawImage(bitmap, 0, 0);
        return context.getImageData(0, 0, bitmap.width, bitmap.height).data;
      }));
      return one.length === other.length ? one.filter((value, index) => Math.abs(value - other[index]) > 48).length : -1;
    }, typed);
    if (pictures) typed.forEach((picture, index) => writeFileSync(`${pictures}/layers-${index}.png`, Buffer.from(picture, "base64")));
    assert.equal(differing, 0, "layers look like one picture");
    await page.getByLabel("Content", { exact: true }).fill(before);
    await page.getByText(/^Saved/).waitFor();
    await page.context().close();
  },

  async "the page changes while one types, and undo goes back over form and JSON"() {
    const page = await fresh();
    await signIn(page, "templates/our-invoice");
    await page.locator(".page img").first().waitFor();
    await choose(page, "/body/3");
    const content = page.getByLabel("Content", { exact: true });
    const before = await content.inputValue();
    await figure(page, content, "a one-page invoice");
    await page.keyboard.press("Control+j");
    await page.locator(".json-host").waitFor();
    await page.waitForFunction(() => document.querySelector(".json-host").shadowRoot?.querySelector(".cm-content"));
    await page.locator(".cm-content").click();
    await page.keyboard.press("Control+End");
    await page.keyboard.type("x");
    await page.getByText("No JSON yet").waitFor();
    assert.equal(await page.locator(".page img").count() > 0, true, "the last good page stays");
    await page.keyboard.press("Backspace");
    await page.getByText("No JSON yet").waitFor({ state: "detached" });
    await page.keyboard.press("Control+j");
    for (let step = 0; step < 60 && (await page.getByRole("button", { name: "Undo" }).isEnabled()); step += 1) await page.getByRole("button", { name: "Undo" }).click();
    await choose(page, "/body/3");
    assert.equal(await content.inputValue(), before);
    // Without a change, no page is asked for.
    await page.waitForTimeout(1500);
    await page.evaluate(() => performance.clearResourceTimings());
    await page.waitForTimeout(1500);
    const asked = () => performance.getEntriesByType("resource").filter((one) => one.name.includes("render/preview")).length;
    assert.equal(await page.evaluate(asked), 0);
  },

  async "a mistake is shown at its field, and the last good page stays"() {
    const page = await fresh();
    await signIn(page, "templates/our-invoice");
    await page.locator(".page img").first().waitFor();
    await choose(page, "/body/3");
    await page.getByLabel("Content", { exact: true }).fill("Dear {{ customer. }}");
    await page.locator(".editor-form .bad-text").waitFor();
    await page.getByText("before the errors").waitFor();
    assert.ok(await page.locator(".page img").first().isVisible());
    assert.ok(await page.getByRole("button", { name: "Publish…" }).isDisabled());
    await page.getByRole("button", { name: /problems?$/ }).click();
    await page.locator(".problems li").first().waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("before the errors").waitFor({ state: "detached" });
  },

  async "an expression shows what it gives here, and how it may go on"() {
    const page = await fresh();
    await signIn(page, "templates/our-invoice");
    await page.locator(".page img").first().waitFor();
    await choose(page, "/body/3");
    const content = page.getByLabel("Content", { exact: true });
    await content.fill("");
    await content.pressSequentially("Dear {{ invoice.da");
    await page.locator(".suggestion", { hasText: "2026-11-20" }).waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.getByText("= 2026-11-20").waitFor();
    await page.keyboard.type("|da");
    await page.locator(".suggestion", { hasText: "20. November 2026" }).click();
    await page.keyboard.type(" }}");
    assert.equal(await content.inputValue(), "Dear {{ invoice.date|date('long') }}");
    // In a column, `item` is the first row.
    await page.locator("[role=treeitem]", { hasText: "Menge" }).click();
    const value = page.getByLabel("Value", { exact: true });
    await value.click();
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("ArrowLeft");
    await page.getByText("= 12", { exact: true }).waitFor();
    await page.getByText(/^Saved/).waitFor();
  },

  async "fields of the data are dragged into texts, and onto the outline"() {
    await api("POST", "templates", { key: "dragged", name: "Dragged", body: [{ type: "text", content: "Dear , hello" }, { type: "table", rows: "order.lines", as: "line", columns: [{ header: "Name", value: "{{ line.name }}" }] }, { type: "panel", body: [{ type: "text", content: "inside" }] }] });
    await api("PUT", "templates/dragged/sample", { customer: { name: "Ada", city: "London" }, order: { lines: [{ name: "Oats", price: 12.5 }] } });
    const page = await fresh();
    await signIn(page, "templates/dragged");
    await page.locator(".page img").first().waitFor();
    await openData(page);
    const field = (name, index = 0) => page.locator(".data-name", { hasText: new RegExp(`^${name}$`) }).nth(index);
    const drag = async (from, to, position) => {
      const [start, end] = [await from.boundingBox(), await to.boundingBox()];
      await page.mouse.move(start.x + 4, start.y + 4);
      await page.mouse.down();
      await page.mouse.move(start.x + 20, start.y + 20);
      await page.mouse.move(end.x + (position?.x ?? 40), end.y + (position?.y ?? end.height / 2), { steps: 4 });
      await page.mouse.up();
    };
    await choose(page, "/body/0");
    const content = page.getByLabel("Content", { exact: true });
    // It goes where the mouse is, here behind the text.
    await drag(field("name"), content, { x: 250, y: 14 });
    assert.equal(await content.inputValue(), "Dear , hello{{ customer.name }}");
    await page.getByRole("button", { name: "Undo", exact: true }).click();
    await drag(field("name"), content, { x: 10, y: 14 });
    assert.match(await content.inputValue(), /^(D|)\{\{ customer.name \}\}e?/);
    await page.getByRole("button", { name: "Undo", exact: true }).click();
    // Onto a table of the rows it belongs to: a column. Elsewhere: a text, here in the panel.
    await page.getByRole("button", { name: "lines", exact: true }).first().click();
    await drag(field("price"), page.getByRole("treeitem", { name: /^Table/ }));
    await drag(field("city"), page.getByRole("treeitem", { name: /inside/ }), { x: 60, y: 22 });
    // By keyboard: after what is chosen, and Escape cancels a drag.
    await page.getByRole("treeitem", { name: /^Text Dear/ }).click();
    await page.getByRole("button", { name: "Add customer to the template" }).focus();
    await page.keyboard.press("Enter");
    const start = await field("city").boundingBox();
    await page.mouse.move(start.x + 4, start.y + 4);
    await page.mouse.down();
    await page.mouse.move(200, 200, { steps: 3 });
    await page.locator(".dragged-field", { hasText: "customer.city" }).waitFor();
    await page.keyboard.press("Escape");
    await page.locator(".dragged-field").waitFor({ state: "detached" });
    await page.mouse.up();
    await page.getByText(/^Saved/).waitFor();
    const { body } = await (await api("GET", "templates/dragged/draft")).json();
    assert.deepEqual(body, [
      { type: "text", content: "Dear , hello" },
      { type: "keyValue", items: [{ key: "Name", value: "{{ customer.name }}" }, { key: "City", value: "{{ customer.city }}" }] },
      { type: "table", rows: "order.lines", as: "line", columns: [{ header: "Name", value: "{{ line.name }}" }, { header: "Price", value: "{{ line.price }}", align: "end", format: "number" }] },
      { type: "panel", body: [{ type: "text", content: "inside" }, { type: "text", content: "{{ customer.city }}" }] },
    ]);
    await accessible(page, "data");
  },

  async "nodes are added, moved and removed by keyboard alone"() {
    const page = await fresh();
    await signIn(page, "templates/our-invoice");
    await page.locator(".page img").first().waitFor();
    const tree = page.getByRole("tree");
    await tree.focus();
    await page.keyboard.press("End");
    await page.keyboard.press("a");
    await page.getByPlaceholder("Search the nodes").fill("divider");
    await page.keyboard.press("Enter");
    const chosen = () => page.locator("[role=treeitem][aria-selected=true]");
    await page.waitForFunction(() => document.querySelector("[role=treeitem][aria-selected=true]")?.textContent.startsWith("Divider"));
    const before = (await (await fetch(new URL("studio/session", `${address}/`))).json()).version;
    assert.ok(before);
    await tree.focus();
    const place = await chosen().getAttribute("id");
    await page.keyboard.press("Alt+ArrowUp");
    await page.getByText(/Moved to \d+ of \d+/).waitFor();
    assert.notEqual(await chosen().getAttribute("id"), place);
    await page.keyboard.press("Control+d");
    assert.equal(await page.locator("[role=treeitem] b", { hasText: "Divider" }).count() >= 2, true);
    await page.keyboard.press("Delete");
    await page.keyboard.press("Control+z");
    assert.match(await chosen().textContent(), /^Divider/);
  },

  async "the theme's colors, fonts and styles are edited, with a check of contrast"() {
    await api("POST", "templates", { key: "themed", name: "Themed", theme: { styles: { note: { color: "#333333" }, quote: { extends: "note" } } }, body: [{ type: "text", style: "note", content: "one" }, { type: "text", content: [{ text: "two", style: ["note"] }] }] });
    const page = await fresh();
    await signIn(page, "templates/themed");
    await page.locator(".page img").first().waitFor();
    await page.getByRole("treeitem", { name: /^Theme/ }).click();
    const contrast = page.getByRole("region", { name: "Contrast" });
    await contrast.getByRole("row", { name: /Muted on page 5\.2 : 1 AA/ }).waitFor();
    await page.getByLabel("Muted", { exact: true }).fill("#999");
    await contrast.getByRole("row", { name: /Muted on page 2\.8 : 1 too low/ }).waitFor();
    await page.getByLabel("Choose the color Primary").fill("#0f766e");
    await page.getByLabel("Body", { exact: true }).fill("Liberation Serif, Noto Sans JP");
    // A new name is known wherever the old one was.
    await page.getByRole("button", { name: "Rename note" }).click();
    await page.getByLabel("New name of note").fill("remark");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Rename remark" }).waitFor();
    assert.ok(await page.getByRole("button", { name: "Remove remark" }).isDisabled(), "it is in use");
    await accessible(page, "theme");
    await page.getByLabel("Name of a style").fill("title");
    await page.keyboard.press("Enter");
    await page.getByLabel("Font size", { exact: true }).fill("30pt");
    const draft = async () => (await api("GET", "templates/themed/draft")).json();
    await page.getByText(/^Saved/).waitFor();
    await until(async () => (await draft()).theme.styles.title?.fontSize);
    const { theme, body } = await draft();
    assert.deepEqual(theme, { colors: { muted: "#999", primary: "#0f766e" }, fonts: { body: ["Liberation Serif", "Noto Sans JP"] }, styles: { remark: { color: "#333333" }, quote: { extends: "remark" }, title: { fontSize: "30pt" } } });
    assert.deepEqual([body[0].style, body[1].content[0].style], ["remark", ["remark"]]);
    const undo = page.getByRole("button", { name: "Undo", exact: true });
    while (await undo.isEnabled()) await undo.click();
    await until(async () => Object.keys((await draft()).theme).length === 1);
  },

  async "two editors of one template see each other's changes and lose none"() {
    await api("POST", "templates", { key: "shared", name: "Shared", body: [{ type: "text", content: "one" }, { type: "text", content: "two" }] });
    const [first, second] = [await editorOf("shared"), await editorOf("shared")];
    await choose(first, "/body/0");
    await first.getByLabel("Content", { exact: true }).fill("one by the first");
    await first.getByText(/^Saved/).waitFor();
    await choose(second, "/body/1");
    await second.getByLabel("Content", { exact: true }).fill("two by the second");
    await second.getByText("Changed by somebody else").waitFor();
    await second.getByRole("button", { name: "Compare and choose…" }).click();
    await second.getByText("one by the first").waitFor();
    await accessible(second, "clash");
    await second.getByRole("radio", { name: /one by the first/ }).check();
    await second.getByRole("button", { name: "Save this choice" }).click();
    await second.getByText(/^Saved/).waitFor();
    const draft = await (await api("GET", "templates/shared/draft")).json();
    assert.deepEqual(draft.body.map((one) => one.content), ["one by the first", "two by the second"]);
  },

  async "two people in one template see who else is there, and where"() {
    await api("POST", "templates", { key: "visited", name: "Visited", body: [{ type: "text", content: "one" }, { type: "text", content: "two" }] });
    const [first, second] = [await editorOf("visited"), await editorOf("visited")];
    const people = (page) => page.getByRole("list", { name: "Who else edits" });
    await choose(second, "/body/1");
    await second.waitForTimeout(1500);
    await choose(first, "/body/0");
    await people(first).getByRole("button", { name: /is at Text two$/ }).waitFor();
    await accessible(first, "people");
    if (pictures) writeFileSync(`${pictures}/people.png`, await first.screenshot());
    // A click leads to what the other has chosen.
    await people(first).getByRole("button").click();
    await until(async () => (await first.getByLabel("Content", { exact: true }).inputValue()) === "two");
    // Who leaves is not listed any more.
    await second.goto(studio("templates"));
    await second.getByRole("heading", { name: "Templates" }).waitFor();
    await first.waitForTimeout(500);
    await choose(first, "/body/0");
    await people(first).waitFor({ state: "detached" });
    const { editors } = await (await api("PUT", "templates/visited/editors/other", {})).json();
    assert.equal(editors.length, 2);
    await assert.rejects(api("PUT", "templates/visited/editors/a.b", {}), /400/);
    assert.equal((await api("DELETE", "templates/visited/editors/other")).status, 204);
  },

  async "two people who change the sample data choose what stays, and lose nothing"() {
    await api("PUT", "templates/shared/sample", { name: "Ada", city: "London" });
    const [first, second] = [await fresh(), await fresh()];
    for (const page of [first, second]) {
      await signIn(page, "templates/shared");
      await page.locator(".page img").first().waitFor();
      await openData(page);
      await page.getByRole("button", { name: "Edit as JSON" }).click();
    }
    const sample = (page) => page.getByLabel("Sample data", { exact: true });
    await sample(first).fill('{"name": "Grace", "city": "London"}');
    await first.getByText(/^Saved/).waitFor();
    await sample(second).fill('{"name": "Ada", "city": "Paris"}');
    await second.getByText("Sample data changed by somebody else").waitFor();
    // What was typed survives a reload, and is still not sent.
    await second.reload();
    await second.getByRole("button", { name: "Compare and choose…" }).click();
    await second.getByText("Grace").waitFor();
    await accessible(second, "clash of sample data");
    await second.getByRole("radio", { name: /Grace/ }).check();
    await second.getByRole("button", { name: "Save this choice" }).click();
    await second.getByText(/^Saved/).waitFor();
    const stored = async () => (await api("GET", "templates/shared/sample")).json();
    assert.deepEqual(await stored(), { name: "Grace", city: "Paris" });
    await second.getByRole("button", { name: "Undo", exact: true }).last().click();
    await until(async () => (await stored()).name === "Ada");
  },

  async "what is typed while the service is away is kept, and sent later"() {
    const page = await fresh();
    await signIn(page, "templates/shared");
    await page.locator(".page img").first().waitFor();
    await page.context().setOffline(true);
    await choose(page, "/body/0");
    await page.getByLabel("Content", { exact: true }).fill("typed offline");
    await page.getByText("Offline, kept in this browser").waitFor();
    await page.context().setOffline(false);
    await page.getByText(/^Saved/).waitFor();
    const draft = await (await api("GET", "templates/shared/draft")).json();
    assert.equal(draft.body[0].content, "typed offline");
    // A session that ends asks for the key again, over the page.
    await page.context().clearCookies();
    await page.getByLabel("Content", { exact: true }).fill("typed without a session");
    await page.getByLabel("API key").fill(key);
    await page.getByRole("button", { name: "Sign in" }).click();
    // What could not be saved is saved without another key.
    await page.getByText(/^Saved/).waitFor();
    const later = await (await api("GET", "templates/shared/draft")).json();
    assert.equal(later.body[0].content, "typed without a session");
  },

  async "a service that goes away while one types loses nothing, also over a reload"() {
    await api("POST", "templates", { key: "away", name: "Away", body: [{ type: "text", content: "one" }] });
    const way = await forwarder();
    const page = await fresh();
    await page.goto(`http://127.0.0.1:${way.port}/studio#/templates/away`);
    await page.getByLabel("API key").fill(key);
    await page.keyboard.press("Enter");
    await page.locator(".page img").first().waitFor();
    await choose(page, "/body/0");
    const content = page.getByLabel("Content", { exact: true });
    await content.pressSequentially(" before");
    way.stop();
    await content.pressSequentially(" and after");
    await page.getByText("Offline, kept in this browser").waitFor();
    await page.getByText("The service does not answer.").waitFor();
    assert.ok(await page.locator(".page img").first().isVisible(), "the last page stays");
    await way.start();
    await page.reload();
    await page.getByText(/^Saved/).waitFor();
    const draft = await (await api("GET", "templates/away/draft")).json();
    assert.equal(draft.body[0].content, "one before and after");
    // Without a reload it is sent by itself.
    await choose(page, "/body/0");
    way.stop();
    await content.fill("typed while it was away");
    await page.getByText("Offline, kept in this browser").waitFor();
    await way.start();
    await page.getByText(/^Saved/).waitFor();
    await until(async () => (await (await api("GET", "templates/away/draft")).json()).body[0].content === "typed while it was away");
    way.stop();
  },

  async "two tabs of one browser are one editor"() {
    await api("POST", "templates", { key: "tabs", name: "Tabs", body: [{ type: "text", content: "one" }, { type: "text", content: "two" }] });
    const first = await fresh();
    await signIn(first, "templates/tabs");
    const second = await first.context().newPage();
    watch(second);
    await second.goto(studio("templates/tabs"));
    for (const page of [first, second]) await page.locator(".page img").first().waitFor();
    await choose(first, "/body/0");
    await choose(second, "/body/1");
    const content = (page) => page.getByLabel("Content", { exact: true });
    await content(first).fill("one by the first");
    await second.getByRole("treeitem", { name: /one by the first/ }).waitFor();
    await content(second).fill("two by the second");
    await first.getByRole("treeitem", { name: /two by the second/ }).waitFor();
    await content(first).fill("one again");
    for (const page of [first, second]) await page.getByText(/^Saved/).waitFor();
    const draft = await (await api("GET", "templates/tabs/draft")).json();
    assert.deepEqual(draft.body.map((one) => one.content), ["one again", "two by the second"]);
    await second.getByRole("button", { name: "Publish…" }).click();
    await second.getByRole("button", { name: "Publish", exact: true }).click();
    await first.getByText("v2 live").waitFor();
    await content(first).fill("after the publication");
    await first.getByText(/^Saved/).waitFor();
    assert.equal(await first.getByText("Changed by somebody else").count(), 0);
  },

  async "markup in names, texts and data is text everywhere"() {
    const evil = `"><img src=x onerror="window.hacked=1;alert(1)"><script>window.hacked=1</script><svg onload=alert(2)></svg><iframe srcdoc="<script>parent.hacked=1</script>"></iframe>{{'x'}}\${alert(3)}`;
    const link = "javascript:window.hacked=1";
    const name = `${evil} & <b>bold</b>`;
    const svg = `data:image/svg+xml,${encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9" onload="parent.hacked=1"><script>parent.hacked=1</script></svg>')}`;
    await api("POST", "templates", {
      key: "evil", name, description: evil, theme: { styles: { [evil]: { color: "#123456" } } }, assets: { [evil]: svg },
      body: [
        { type: "heading", level: 1, content: evil }, { type: "text", id: "a", content: [{ text: evil, link }] }, { type: "text", style: evil, content: "{{ list[0].text }}" },
        { type: "table", rows: "list", columns: [{ header: evil, value: "{{ item.text }}" }] }, { type: "image", source: evil, alt: evil, width: "10mm" }, { type: "richText", format: "markdown", source: evil },
      ],
    });
    await api("PUT", "templates/evil/sample", { [evil]: evil, list: [{ [evil]: evil, text: evil }] });
    await api("PUT", "templates/evil/draft?base=1", { key: "evil", name, body: [{ type: evil, content: evil }, { type: "text", content: `{{ ${evil}` }] }, {});
    await api("PUT", "templates/draft-only/draft", { key: "draft-only", name, body: [{ type: "text", content: evil }] });
    await api("POST", "flows", {
      kind: "flow", key: "evil", name, description: evil, trigger: { type: "manual" },
      steps: [{ name: "good", type: "code", source: `export default (input, ctx) => { ctx.log(${JSON.stringify(evil)}); return { [${JSON.stringify(evil)}]: ${JSON.stringify(evil)} }; }` }, { name: "bad", type: "code", source: `throw new Error(${JSON.stringify(evil)})` }],
    });
    await api("POST", "flows/evil/publication", {});
    const { run } = await (await api("POST", "flows/evil/runs", { evil })).json();
    const page = await fresh();
    await signIn(page);
    const unharmed = async (place) => {
      await page.waitForTimeout(300);
      assert.equal(await page.evaluate(() => globalThis.hacked), undefined, place);
      assert.equal(await page.locator("img[src=x], iframe[srcdoc], svg[onload], main script").count(), 0, place);
      assert.equal(await page.locator("a[href^='javascript']").count(), 0, place);
    };
    const places = [
      "templates", `templates?q=${encodeURIComponent(evil)}`, "templates?new=1", "templates/evil", "templates/draft-only", "templates/evil/versions", `templates/${encodeURIComponent(evil)}`,
      "flows", "flows/evil", `flows/${encodeURIComponent(evil)}`, "runs", `runs/${run}`, `runs/${encodeURIComponent(evil)}`, `runs?flow=${encodeURIComponent(evil)}&state=${encodeURIComponent(evil)}`,
      "convert", "operations", "audit", encodeURIComponent(evil),
    ];
    for (const place of places) {
      await page.goto(studio(place));
      await page.reload();
      await unharmed(place);
    }
    // What opens inside of pages: each node and the theme, the data, the problems, the dialogs, the code.
    await page.goto(studio("templates/evil"));
    await page.getByRole("tree").waitFor();
    for (const row of await page.getByRole("treeitem").all()) {
      await row.click();
      await unharmed(`node ${await row.textContent()}`);
    }
    await openData(page);
    for (const fold of await page.locator(".data-row .fold[aria-expanded=false]").all()) await fold.click();
    await page.getByRole("button", { name: "list", exact: true }).first().click();
    await unharmed("data");
    await page.getByRole("tab", { name: /Problems/ }).click();
    await unharmed("problems");
    await page.keyboard.press("Control+j");
    await page.locator(".cm-content").waitFor();
    await unharmed("JSON");
    await page.keyboard.press("Control+j");
    await page.getByRole("button", { name: "Download" }).click();
    await page.getByRole("button", { name: "Copy as program…" }).click();
    await unharmed("program");
    await page.keyboard.press("Escape");
    await page.goto(studio(`runs/${run}`));
    for (const row of await page.locator(".time-row").all()) {
      await row.click();
      await unharmed("step");
    }
    await page.goto(studio("templates/evil/versions"));
    await page.getByRole("tab", { name: "Changes" }).click();
    await unharmed("changes");
    await page.keyboard.press("Control+k");
    await page.locator("#go-to-list [role=option]").first().waitFor();
    await unharmed("go to");
    await page.keyboard.press("Escape");
    await page.goto(studio("convert"));
    await page.locator("input[type=file]").setInputFiles([{ name: `${evil}.pdf`.replaceAll("/", ""), mimeType: "application/pdf", buffer: Buffer.from(evil) }]);
    await page.getByRole("button", { name: "Split into pages" }).click();
    await page.getByRole("alert").waitFor();
    await unharmed("files");
  },

  async "a flow is made, run, and its steps are seen"() {
    const page = await fresh();
    await signIn(page, "flows");
    await page.getByRole("button", { name: "New flow" }).click();
    await page.getByLabel("Key", { exact: true }).fill("greeting");
    await page.getByRole("button", { name: "Create" }).click();
    // A code step before the answer, by its form.
    await page.getByRole("button", { name: "Add a step here" }).first().click();
    await page.getByRole("dialog").getByRole("button", { name: /^Code/ }).click();
    await page.getByLabel("Name", { exact: true }).fill("text");
    await page.getByLabel("Source", { exact: true }).click();
    await page.keyboard.press("Control+a");
    await page.keyboard.press("Delete");
    await page.keyboard.insertText("export default (input) => { if (!input.name) throw new Error('no name'); return `Hello ${input.name}`; }");
    await page.getByLabel("Input", { exact: true }).fill('"{{ trigger }}"');
    await page.locator(".step", { hasText: "reply" }).click();
    await page.getByLabel("Body", { exact: true }).fill('{"text": "{{ steps.text.output }}"}');
    await page.getByRole("button", { name: /^Trigger/ }).click();
    await page.getByRole("tab", { name: "JSON" }).click();
    await page.locator(".cm-content").waitFor();
    assert.match(await page.locator(".cm-content").textContent(), /"type": "webhook"/);
    await page.getByRole("tab", { name: "Step" }).click();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("Saved as version 2").waitFor();
    await page.getByRole("button", { name: "Publish v2" }).click();
    await page.getByText("v2 live").waitFor();
    await accessible(page, "flow");
    await page.getByRole("tab", { name: "Test" }).click();
    await page.getByLabel("Trigger", { exact: true }).fill('{"name": "Ada"}');
    await page.getByRole("button", { name: "Run with this" }).click();
    await page.getByText("Hello Ada").waitFor();
    assert.deepEqual(await page.locator(".time-row b").allTextContents(), ["text"]);
    await accessible(page, "run");
    // One step is tested with the input of that run, after a change that is not published.
    await page.goto(studio("flows/greeting"));
    await page.locator(".step", { hasText: "text" }).first().click();
    await page.getByLabel("Source", { exact: true }).click();
    await page.keyboard.press("Control+a");
    await page.keyboard.press("Delete");
    await page.keyboard.insertText("export default (input) => `Good morning ${input.name}`");
    assert.equal(await page.getByRole("button", { name: "Execute this step" }).isDisabled(), true);
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("Saved as version 3").waitFor();
    await page.getByRole("button", { name: "Execute this step" }).click();
    await page.getByText("Good morning Ada").waitFor();
    await accessible(page, "step test");
    if (pictures) writeFileSync(`${pictures}/step-test.png`, await page.screenshot());
    // A mistake is shown at its step, and nothing is stored.
    await page.goto(studio("flows/greeting"));
    await page.locator(".step", { hasText: "text" }).first().click();
    await page.getByLabel("Input", { exact: true }).fill('"{{ nobody. }}"');
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.locator(".step.wrong", { hasText: "text" }).waitFor();
    await page.reload();
    await page.getByText("Not saved").waitFor();
    await page.locator(".step", { hasText: "text" }).first().click();
    assert.equal(await page.getByLabel("Input", { exact: true }).inputValue(), '"{{ nobody. }}"', "it survives a reload");
    // A run that fails says where, and is tried again from there.
    const { run } = await (await api("POST", "flows/greeting/runs", {})).json();
    await page.goto(studio(`runs/${run}`));
    await page.getByRole("heading", { name: "Failed at text" }).waitFor();
    await page.getByText("no name").first().waitFor();
    await page.getByRole("button", { name: "Retry from text" }).click();
    await page.waitForFunction((old) => !location.hash.includes(old), run);
    await page.goto(studio("runs?state=failed"));
    await page.getByRole("link", { name: run }).waitFor();
    await page.getByLabel("Time", { exact: true }).selectOption({ label: "Last hour" });
    await page.waitForFunction(() => location.hash.includes("hours=1"));
    await page.getByRole("link", { name: run }).waitFor();
    await page.getByRole("img", { name: /failed, since/ }).waitFor();
    const later = new Date(Date.now() + 3_600_000).toISOString();
    assert.equal((await (await api("GET", `runs?since=${later}`)).json()).runs.length, 0);
    await accessible(page, "runs");
  },

  async "code is completed by what ctx has, by the input of the last run, and by what comes of them"() {
    await api("POST", "flows", {
      kind: "flow", key: "completed", name: "Completed", trigger: { type: "webhook" }, secrets: [],
      steps: [
        { name: "rows", type: "code", source: "export default (input) => ({ list: input.items, currency: 'EUR' });", input: "{{ trigger }}" },
        { name: "sum", type: "code", source: "export default async (input, ctx) => {\n  return input;\n};\n", input: { rows: "{{ steps.rows.output.list }}", by: "{{ trigger.customer }}" } },
      ],
    });
    const { run } = await (await api("POST", "flows/completed/runs?version=1", { items: [{ price: 12.5, label: "Oats" }], customer: { city: "London" } })).json();
    await until(async () => (await (await api("GET", `runs/${run}`)).json()).state === "succeeded");
    const page = await fresh();
    await signIn(page, "flows/completed");
    await page.locator(".step", { hasText: "sum" }).click();
    const code = page.getByLabel("Source", { exact: true });
    await code.waitFor();
    const offered = page.locator(".cm-completionLabel");
    // Signs are closed as one types, so that this is within a function.
    const offers = async (text, names) => {
      await code.click();
      await page.keyboard.press("Control+a");
      await page.keyboard.press("Delete");
      await page.keyboard.type("export default async (input, ctx) => {");
      await page.keyboard.press("Enter");
      await page.keyboard.type(text, { delay: 5 });
      await page.locator(".cm-tooltip-autocomplete").waitFor();
      const found = await offered.allTextContents();
      for (const name of names) assert.ok(found.includes(name), `${text} offers ${name}: ${found.slice(0, 20)}`);
      return found;
    };
    assert.deepEqual((await offers("ctx.", ["log", "fetch"])).sort(), ["fetch", "log", "render", "run", "secrets", "store"]);
    await page.keyboard.type("fe");
    await page.locator(".cm-completionInfo", { hasText: "Sends a request" }).waitFor();
    await accessible(page, "completion");
    if (pictures) writeFileSync(`${pictures}/completion.png`, await page.screenshot());
    await page.keyboard.press("Enter");
    await page.getByText("ctx.fetch").waitFor();
    await offers("ctx.store.", ["get", "put", "delete"]);
    await offers("const answer = await ctx.fetch('x'); answer.", ["status", "ok", "json"]);
    await offers("input.", ["rows", "by"]);
    await offers("input.by.", ["city"]);
    await page.locator(".cm-completionInfo", { hasText: "London" }).waitFor();
    await offers("input.rows.map((row) => row.", ["price", "label"]);
    await offers("for (const { label } of input.rows) label.", ["toUpperCase"]);
    // An expression of a step shows what it gives in the last run.
    await page.getByText("more properties").click();
    const skip = page.getByLabel("Skip if", { exact: true });
    await skip.pressSequentially("steps.rows.output.cur");
    await page.locator(".suggestion", { hasText: "EUR" }).waitFor();
    await page.getByRole("button", { name: "Undo", exact: true }).click();
    while (await page.getByRole("button", { name: "Undo", exact: true }).isEnabled()) await page.getByRole("button", { name: "Undo", exact: true }).click();
    await page.getByText("return input;").waitFor();
    // The run shows what its steps got and gave.
    await page.goto(studio(`runs/${run}`));
    await page.locator(".time-row", { hasText: "sum" }).click();
    await page.getByRole("heading", { name: "Input" }).waitFor();
    await page.locator(".step-card pre", { hasText: "London" }).first().waitFor();
  },

  async "a run shows no secrets"() {
    const source = "export default (input, ctx) => { ctx.log('key', ctx.secrets.partner); return { header: `Bearer ${ctx.secrets.partner}`, password: input.password, rows: 3 }; };";
    await api("POST", "flows", {
      kind: "flow", key: "secretive", name: "Secretive", trigger: { type: "webhook" }, secrets: ["partner"],
      steps: [{ name: "sign", type: "code", source, input: "{{ trigger }}" }, { name: "reply", type: "respond", body: "{{ steps.sign.output }}" }],
    });
    const { run } = await (await api("POST", "flows/secretive/runs?version=1", { password: "of-the-caller" })).json();
    await until(async () => (await (await api("GET", `runs/${run}`)).json()).state === "succeeded");
    const page = await fresh();
    await signIn(page, `runs/${run}`);
    await page.locator(".step-card", { hasText: "rows" }).waitFor();
    const shown = [await page.content()];
    await page.locator(".time-row", { hasText: "sign" }).click();
    await page.locator(".step-card", { hasText: "key ••••••" }).waitFor();
    shown.push(await page.content());
    await page.goto(studio("flows/secretive"));
    await page.locator(".step", { hasText: "sign" }).click();
    await page.getByLabel("Source", { exact: true }).waitFor();
    shown.push(await page.content());
    for (const text of shown) for (const secret of ["sk-live-of-the-partner", "of-the-caller"]) assert.ok(!text.includes(secret), secret);
  },

  async "a picture is uploaded into a template and a footer added"() {
    const page = await fresh();
    await signIn(page, "templates/shared");
    await page.locator(".page img").first().waitFor();
    const tree = page.getByRole("tree");
    await tree.focus();
    await page.keyboard.press("End");
    await page.keyboard.press("a");
    await page.getByPlaceholder("Search the nodes").fill("image");
    await page.keyboard.press("Enter");
    const pixel = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==", "base64");
    await page.locator(".editor-form input[type=file]").setInputFiles({ name: "Our Logo.png", mimeType: "image/png", buffer: pixel });
    await page.getByRole("button", { name: "our-logo" }).waitFor();
    assert.equal(await page.getByLabel("Source", { exact: true }).inputValue(), "our-logo");
    await page.locator("[role=treeitem]", { hasText: /^Page/ }).click();
    await page.getByRole("button", { name: "Footer", exact: true }).click();
    await page.getByLabel("Content", { exact: true }).fill("A footer of ours");
    await page.getByText(/^Saved/).waitFor();
    const draft = await (await api("GET", "templates/shared/draft")).json();
    assert.ok(draft.assets["our-logo"].startsWith("data:image/png;base64,"));
    assert.equal(draft.page.footer[0].content, "A footer of ours");
  },

  async "anything is gone to by its name"() {
    const page = await fresh();
    await signIn(page);
    await page.keyboard.press("Control+k");
    await page.getByRole("option", { name: /greeting/ }).waitFor();
    await accessible(page, "go to");
    await page.keyboard.type("our inv");
    await page.waitForFunction(() => document.querySelectorAll("[role=option]").length === 1);
    await page.keyboard.press("Enter");
    await page.locator(".page img").first().waitFor();
    assert.ok(page.url().endsWith("#/templates/our-invoice"));
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog", { name: "Go to" }).waitFor();
    await page.keyboard.type("zzz");
    await page.getByText("Nothing is called that.").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  },

  async "files are merged by choosing them"() {
    const page = await fresh();
    await signIn(page, "convert");
    const pdf = Buffer.from(await (await api("POST", "render/pdf", { definition: { key: "p", body: [{ type: "text", content: "x" }] } })).arrayBuffer());
    await page.locator("input[type=file]").setInputFiles([{ name: "a.pdf", mimeType: "application/pdf", buffer: pdf }, { name: "b.pdf", mimeType: "application/pdf", buffer: pdf }]);
    await page.getByRole("button", { name: "Merge into one PDF" }).click();
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Download" }).first().click()]);
    const merged = readFileSync(await download.path());
    const form = new FormData();
    form.append("files", new Blob([merged]), "m.pdf");
    const answer = await fetch(new URL("pdf/describe", `${address}/`), { method: "POST", headers: { "X-Api-Key": key }, body: form });
    const { pages } = (await answer.json())["m.pdf"];
    assert.equal(pages.length ?? pages, 2);
    await accessible(page, "convert");
  },

  async "a page in the middle of a report is shown while one types"() {
    const folder = new URL("../../examples/quarterly-report-en/", import.meta.url);
    const [template, data] = ["template", "data"].map((name) => JSON.parse(readFileSync(new URL(`${name}.json`, folder))));
    await api("POST", "templates", template);
    await api("PUT", `templates/${template.key}/sample`, data);
    const page = await fresh();
    await signIn(page, `templates/${template.key}`);
    await page.locator(".page img").first().waitFor();
    const fifth = page.locator(".page", { has: page.getByAltText(/^Page 5 of/) });
    await page.locator(".canvas").evaluate((canvas) => { canvas.scrollTop = (canvas.scrollHeight / 6) * 4; });
    await fifth.waitFor();
    // The list of pages shows where one is, and leads to others.
    const small = page.getByRole("navigation", { name: "List of pages" });
    await small.locator("[aria-current=page]", { hasText: "5" }).waitFor();
    await small.getByRole("button", { name: "Page 2" }).click();
    await page.getByRole("button", { name: "Page 2 of 6" }).waitFor();
    await until(async () => (await small.locator("img").count()) >= 3);
    await accessible(page, "list of pages");
    if (pictures) writeFileSync(`${pictures}/pages.png`, await page.screenshot());
    await small.getByRole("button", { name: "Page 5" }).click();
    await page.getByRole("button", { name: "Page 5 of 6" }).click();
    await small.waitFor({ state: "detached" });
    await page.locator(".canvas").evaluate((canvas) => { canvas.scrollTop = (canvas.scrollHeight / 6) * 4; });
    await fifth.waitFor();
    // A text on that page, found by a click on it. The page may still move as the list closes, so its place is looked up for each click.
    const content = page.getByLabel("Content", { exact: true });
    await fifth.locator("img").waitFor();
    await until(async () => {
      for (let y = 90; y < 640; y += 25) {
        const box = await fifth.boundingBox();
        await page.mouse.click(box.x + box.width / 2, Math.max(100, box.y) + y);
        if (await content.waitFor({ timeout: 250 }).then(() => true, () => false)) return true;
      }
    });
    await figure(page, content, "page 5 of a report", 5);
  },

  async "a template of 5,000 nodes can be edited"() {
    const body = Array.from({ length: 5000 }, (_, index) => ({ type: "text", content: `Paragraph ${index}` }));
    await api("POST", "templates", { key: "large", name: "Large", body });
    const page = await fresh();
    await signIn(page, "templates/large");
    await page.locator(".page img").first().waitFor();
    assert.ok((await page.locator("[role=treeitem]").count()) < 100, "only rows in view are there");
    const tree = page.getByRole("tree");
    await tree.focus();
    await page.keyboard.press("End");
    assert.match(await page.locator("[role=treeitem][aria-selected=true]").textContent(), /Paragraph 4999/);
    const content = page.getByLabel("Content", { exact: true });
    await latency(content, "a template of 5,000 nodes");
    const start = performance.now();
    await content.fill("The last one");
    const draft = async () => (await api("GET", "templates/large/draft")).json();
    await until(async () => (await draft().catch(() => null))?.body.at(-1).content === "The last one");
    console.log(`figure: change of a template of 5,000 nodes until it is saved, ${(performance.now() - start).toFixed(0)} ms`);
  },

  async "10 MB of sample data do not hold up typing"() {
    await api("POST", "templates", { key: "heavy", name: "Heavy", body: [{ type: "text", content: "{{ rows|length }} rows" }, { type: "text", content: "{{ rows[0].text }}" }] });
    const rows = Array.from({ length: 94_000 }, (_, index) => ({ number: index, text: `Row ${index} `.repeat(8) }));
    const text = JSON.stringify({ rows });
    assert.ok(text.length > 9_500_000 && text.length < 10_485_760, `${text.length}`);
    const stored = async (what) => (await api("GET", `templates/heavy/${what}`).catch(() => null))?.json();
    const page = await fresh();
    await signIn(page, "templates/heavy");
    await page.getByRole("tree").waitFor();
    await openData(page);
    await page.getByLabel("Upload JSON").setInputFiles([{ name: "heavy.json", mimeType: "application/json", buffer: Buffer.from(text) }]);
    await page.getByText("94,000 rows").waitFor();
    await until(async () => (await stored("sample"))?.rows.length === 94_000);
    await choose(page, "/body/0");
    const content = page.getByLabel("Content", { exact: true });
    await latency(content, "10 MB of sample data");
    await content.fill("{{ rows|length }} rows in all");
    await page.getByRole("button", { name: "Edit as JSON" }).click();
    await page.getByText("too large to be edited here").waitFor();
    await until(async () => (await stored("draft"))?.body[0].content === "{{ rows|length }} rows in all");
    await page.reload();
    await page.getByText("94,000 rows").waitFor();
    await page.locator(".page img").first().waitFor();
  },

  async "an administrator makes a key, an application uses it, and it ends at once"() {
    const page = await fresh();
    await signIn(page, "keys");
    await page.getByText("No keys yet").waitFor();
    await page.getByRole("button", { name: "New key" }).click();
    await page.getByLabel("What is it for?").fill("Web shop");
    await page.getByLabel("Requests a minute").fill("600");
    await page.getByRole("button", { name: "Make the key" }).click();
    const secret = await page.getByRole("textbox", { name: "API key" }).inputValue();
    assert.match(secret, /^plt_[0-9a-f]{16}_[0-9a-f]{48}$/);
    await accessible(page, "a new key");
    await page.getByRole("button", { name: "Copy" }).click();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), secret);
    await page.getByRole("button", { name: "I have it" }).click();
    await page.getByRole("row", { name: /Web shop.*Only makes documents.*600 requests a minute.*never/ }).waitFor();
    assert.ok(!(await page.content()).includes(secret), "it is shown once");
    const render = () => fetch(`${address}/render/html`, {
      method: "POST", headers: { "X-Api-Key": secret, "Content-Type": "application/json" },
      body: JSON.stringify({ definition: { key: "a", name: "A", body: [] }, data: {} }),
    });
    assert.equal((await render()).status, 200);
    assert.equal((await fetch(`${address}/templates`, { headers: { "X-Api-Key": secret } })).status, 403);
    await page.reload();
    await page.getByRole("row", { name: /Web shop.*just now/ }).waitFor();
    // It may do more from now on; then another takes its place.
    await page.getByRole("button", { name: "Change the key Web shop" }).click();
    await page.getByLabel("What may it do?").selectOption("viewer");
    await accessible(page, "a key that is changed");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("row", { name: /Web shop.*Viewer.*600 requests a minute/ }).waitFor();
    assert.equal((await fetch(`${address}/templates`, { headers: { "X-Api-Key": secret } })).status, 200);
    assert.equal((await render()).status, 403);
    await page.getByRole("button", { name: "Rotate the key Web shop" }).click();
    await page.getByLabel("How long does the old key stay valid?").selectOption({ label: "It ends at once" });
    await accessible(page, "the rotation of a key");
    await page.getByRole("button", { name: "Make the new key" }).click();
    const next = await page.getByRole("textbox", { name: "API key" }).inputValue();
    await page.getByRole("button", { name: "I have it" }).click();
    const status = async (key) => (await fetch(`${address}/templates`, { headers: { "X-Api-Key": key } })).status;
    assert.deepEqual([await status(secret), await status(next)], [401, 200]);
    await page.getByRole("row", { name: /Web shop.*ended/ }).waitFor();
    for (const left of [1, 0]) {
      await page.getByRole("button", { name: "Delete the key Web shop" }).first().click();
      await page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true }).click();
      await until(async () => (await page.getByRole("button", { name: "Delete the key Web shop" }).count()) === left);
    }
    await page.getByText("No keys yet").waitFor();
    assert.equal((await render()).status, 401);
    await page.getByRole("link", { name: "Audit log" }).click();
    await page.getByText("Delete key").first().waitFor();
  },

  async "people see what their role allows"() {
    const role = async (name) => {
      const { secret } = await (await api("POST", "keys", { name, roles: [name], expiresAt: "2099-01-01T00:00:00Z" })).json();
      const page = await fresh();
      await page.goto(studio("templates"));
      await page.getByLabel("API key").fill(secret);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("link", { name: "Operations" }).waitFor();
      return page;
    };
    const links = async (page, names) => {
      for (const [name, count] of Object.entries(names)) assert.equal(await page.getByRole("link", { name, exact: true }).count(), count, name);
    };
    const viewer = await role("viewer");
    await links(viewer, { Runs: 0, "Convert files": 0, "Audit log": 0, Keys: 0 });
    assert.equal(await viewer.getByRole("button", { name: "New template" }).count(), 0);
    await viewer.goto(studio("templates/our-invoice"));
    await viewer.locator(".page img").first().waitFor();
    assert.equal(await viewer.getByRole("button", { name: "Publish…" }).count(), 0);
    const author = await role("author");
    await links(author, { Runs: 0, "Convert files": 1, Keys: 0 });
    await author.goto(studio("templates/our-invoice"));
    await author.locator(".page img").first().waitFor();
    await choose(author, "/body/2");
    await author.getByLabel("Content", { exact: true }).fill("By the author");
    await author.getByText(/^Saved/).waitFor();
    assert.equal(await author.getByRole("button", { name: "Publish…" }).count(), 0);
    await author.goto(studio("flows/greeting"));
    await author.getByRole("button", { name: "Save" }).waitFor();
    assert.equal(await author.getByRole("button", { name: /^Publish/ }).count(), 0);
    const publisher = await role("publisher");
    await publisher.goto(studio("templates/our-invoice"));
    await publisher.getByRole("button", { name: "Publish…" }).click();
    await publisher.getByRole("button", { name: "Publish", exact: true }).click();
    await publisher.getByText(/Version \d+ is live/).first().waitFor();
    const operator = await role("operator");
    await links(operator, { Runs: 1, "Audit log": 0 });
    await operator.getByRole("link", { name: "Runs" }).click();
    await operator.locator(".of-runs tbody tr").first().waitFor();
  },

  async "pictures and fonts are stored for all templates, chosen in the editor, and deleted with a warning"() {
    const drawing = (color) => Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="120" height="60"><rect width="120" height="60" fill="${color}"/></svg>`);
    const picture = (name, color) => ({ name, mimeType: "image/svg+xml", buffer: drawing(color) });
    const page = await fresh();
    await signIn(page, "assets");
    await page.getByText("No assets yet").waitFor();
    const upload = page.getByLabel("Upload files");
    await upload.setInputFiles([picture("House Logo.svg", "teal"), { name: "Mono.ttf", mimeType: "font/ttf", buffer: readFileSync(font) }]);
    await page.getByText("2 files are stored.").waitFor();
    await page.getByText("Font: Liberation Mono").waitFor();
    // What is no picture is refused in the words of the service.
    await upload.setInputFiles([{ name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("hello") }]);
    await page.getByText(/^notes.txt: an asset is a picture/).waitFor();
    await page.getByRole("button", { name: "Dismiss" }).click();
    // A file is dropped onto the page; its name is taken.
    await page.evaluate(([content]) => {
      const data = new DataTransfer();
      data.items.add(new File([content], "house-logo.svg", { type: "image/svg+xml" }));
      const main = document.querySelector("main");
      for (const type of ["dragover", "drop"]) main.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
    }, [drawing("tomato").toString()]);
    await page.getByRole("heading", { name: "A name is taken" }).waitFor();
    await accessible(page, "a name that is taken");
    await page.getByRole("button", { name: "Keep both" }).click();
    await page.getByText("house-logo-2.svg").first().waitFor();
    await page.getByPlaceholder("Search assets").fill("logo-2");
    await until(async () => (await page.locator(".cards.assets .card").count()) === 1);

    // A picture is chosen for a node, by the keyboard.
    await api("PUT", "templates/headed/draft", { key: "headed", name: "Headed", body: [{ type: "image", source: "none", alt: "Logo", width: "40pt" }] });
    await page.goto(studio("templates/headed"));
    await page.getByRole("treeitem").first().waitFor();
    await choose(page, "/body/0");
    await page.getByRole("button", { name: "From the assets" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "house-logo.svg" }).waitFor();
    await accessible(page, "the choice of a picture");
    await page.getByRole("button", { name: "house-logo.svg" }).focus();
    await page.keyboard.press("Enter");
    assert.equal(await page.getByLabel("Source", { exact: true }).inputValue(), "house-logo.svg");
    await page.locator(".page img").first().waitFor();
    await page.getByText(/^Saved/).waitFor();
    await page.getByRole("button", { name: "Publish…" }).click();
    await page.getByRole("button", { name: "Publish", exact: true }).click();
    await page.getByText("Version 1 is live").first().waitFor();

    // A new version shows in documents once the template is published again.
    const shows = async (color) => (await (await api("POST", "render/html", { template: "headed", data: {} })).text()).includes(drawing(color).toString("base64"));
    await page.goto(studio("assets"));
    await page.locator(".card", { hasText: "house-logo.svg" }).click();
    await page.getByRole("link", { name: "Headed" }).waitFor();
    await accessible(page, "an asset");
    if (pictures) writeFileSync(`${pictures}/asset-details.png`, await page.screenshot());
    await page.getByLabel("New version").setInputFiles([picture("other.svg", "gold")]);
    await page.getByText("house-logo.svg has a new version.").waitFor();
    assert.ok(await shows("teal"));
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByText("These templates use it and fail without it:").waitFor();
    await accessible(page, "the deletion of an asset");
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.keyboard.press("Escape");
    await page.locator(".card", { hasText: "house-logo-2.svg" }).click();
    await page.getByText("No template names it.").waitFor();
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByText("house-logo-2.svg is deleted.").waitFor();
    await until(async () => (await page.locator(".cards.assets .card").count()) === 2);
    // Fonts of the service are offered where a family is chosen.
    await page.goto(studio("templates/headed"));
    await page.getByRole("treeitem", { name: "Theme" }).click();
    await until(async () => (await page.locator("datalist option[value='Noto Sans Arabic']").count()) > 0);
  },

  async "templates and flows have labels, and are found by them"() {
    const page = await fresh();
    await signIn(page);
    await page.getByRole("button", { name: "Labels of Headed" }).click();
    await page.getByLabel("New label").fill("letters");
    await page.keyboard.press("Enter");
    await page.getByLabel("New label").fill("sales/EU");
    await accessible(page, "labels");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("The labels are stored.").waitFor();
    const list = await (await api("GET", "templates?label=letters")).json();
    assert.deepEqual(list.templates.map((one) => [one.key, one.labels]), [["headed", ["letters", "sales/EU"]]]);
    await page.getByLabel("Filter by label").selectOption("sales/EU");
    await until(async () => (await page.locator("main .card").count()) === 1);
    await page.getByRole("button", { name: "Labels of Headed" }).click();
    await page.getByRole("button", { name: "Remove letters" }).click();
    await page.getByLabel("New label").fill("<b>");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("is no label").waitFor();
    await page.getByRole("button", { name: "Remove <b>" }).click();
    await page.getByRole("button", { name: "Save" }).click();
    await until(async () => (await (await api("GET", "templates/headed/labels")).json()).labels.join() === "sales/EU");
    await page.goto(studio("flows"));
    await page.locator(".label-button").first().click();
    await page.getByLabel("New label").fill("night work");
    await page.getByRole("button", { name: "Save" }).click();
    await page.locator("td .badge", { hasText: "night work" }).waitFor();
  },

  async "every page is accessible, wide and narrow, light and dark, English and German"() {
    const { runs } = await (await api("GET", "runs?limit=1")).json();
    for (const [width, height, colorScheme, locale] of [[1280, 800, "light", "en-US"], [1280, 800, "dark", "de-DE"], [390, 844, "light", "de-DE"], [390, 844, "dark", "en-US"]]) {
      const page = await fresh({ viewport: { width, height }, colorScheme, locale });
      await page.goto(studio("templates"));
      await page.locator("#api-key").fill(key);
      await page.keyboard.press("Enter");
      await page.locator(".nav").waitFor();
      for (const place of ["templates", "templates/our-invoice", "templates/our-invoice/versions", "assets", "flows", "flows/greeting", "runs", `runs/${runs[0].id}`, "convert", "operations", "audit", "keys"]) {
        await page.goto(studio(place));
        await page.locator("main h1, header h1").first().waitFor();
        await page.waitForTimeout(500);
        await accessible(page, `${place} ${width} ${colorScheme}`);
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(overflow <= 0, `${place} is wider than ${width}`);
        if (pictures) writeFileSync(`${pictures}/${place.replaceAll(/[^a-z0-9]/g, "-").slice(0, 32)}-${width}-${colorScheme}.png`, await page.screenshot());
      }
      await page.context().close();
    }
  },
};

/** Prints how long a key holds up the page: from the event to the next frame. */
async function latency(field, of) {
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
async function forwarder() {
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
async function figure(page, field, of, number = 1) {
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
async function moduleOf(name) {
  const text = readFileSync(new URL(`../../crates/studio/web/${name}`, import.meta.url), "utf8");
  return import(`data:text/javascript,${encodeURIComponent(text)}`);
}

/** Where a node is on page 1, in pixels of the page. */
async function nodeArea(page, path) {
  await choose(page, path);
  const mark = page.locator(".node-box.chosen").first();
  await mark.waitFor();
  const [outer, inner] = [await page.locator(".page").first().boundingBox(), await mark.boundingBox()];
  await page.getByRole("treeitem").first().click();
  return { x: inner.x - outer.x, y: inner.y - outer.y, width: inner.width, height: inner.height };
}

/** Waits until something holds. */
async function until(holds) {
  for (const end = Date.now() + 15_000; !(await holds()); await new Promise((done) => setTimeout(done, 50))) assert.ok(Date.now() < end, `${holds}`);
}

/** A browser of its own with a template in the editor. */
async function editorOf(template) {
  const page = await fresh();
  await signIn(page, `templates/${template}`);
  await page.locator(".page img").first().waitFor();
  return page;
}

/** Opens the drawer with the sample data. */
async function openData(page) {
  if (!(await page.getByRole("tab", { name: "Data" }).isVisible())) await page.keyboard.press("Control+b");
  await page.getByRole("tab", { name: "Data" }).click();
}

/** Chooses the n-th node of the body in the outline. */
async function choose(page, path) {
  const index = Number(path.split("/")[2]);
  const rows = page.locator("[role=treeitem][aria-level='1']");
  const first = await rows.evaluateAll((all) => all.findIndex((one) => one.querySelector("b").textContent === "Theme"));
  await rows.nth(first + 1 + index).click();
}

let failed = 0;
const wanted = process.env.ONLY;
for (const [name, scenario] of Object.entries(scenarios)) {
  if (wanted && !new RegExp(wanted).test(name)) continue;
  const start = performance.now();
  try {
    await scenario();
    assert.deepEqual(complaints, [], "the browser complains of nothing");
    console.log(`ok: ${name} (${((performance.now() - start) / 1000).toFixed(1)} s)`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED: ${name}\n${error.stack}`);
    const shown = browser.contexts().flatMap((context) => context.pages());
    if (pictures) for (const [index, page] of shown.entries()) writeFileSync(`${pictures}/failed-${index}.png`, await page.screenshot());
  }
  complaints.length = 0;
  for (const context of browser.contexts()) await context.close();
}
await browser.close();
process.exit(failed ? 1 : 0);
