// The editor in a frame of another site's page, as its users use it. Called with the folder of
// node_modules, the program of the browser, the address of a service, its admin key, the port of the
// other site, and a folder for pictures.

import { createRequire } from "node:module";
import { createServer } from "node:http";
import { readFileSync } from "node:fs";
import { strict as assert } from "node:assert";

const [modules, program, address, key, port, pictures] = process.argv.slice(2);
const require = createRequire(`${modules}/`);
const { chromium } = require("playwright-core");
const axeSource = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

/** What the server of the other site gives its page: a token, or nothing while it is closed. */
const shop = { isOpen: true, seconds: 600, scopes: ["read", "preview", "draft"], asked: 0 };

/** A request with the key, as the server of the other site sends it. */
async function api(method, path, body) {
  return fetch(new URL(path, `${address}/`), { method, headers: { "X-Api-Key": key, "Content-Type": "application/json" }, body: body && JSON.stringify(body) });
}

const page = `<!doctype html><title>Shop</title><style>html,body,iframe{margin:0;width:100%;height:100%;border:0}</style>
<iframe id="editor"></iframe><script>
const frame = document.getElementById("editor");
const token = async () => (await fetch("/token")).text();
token().then((first) => { frame.src = "${address}/editor#token=" + first; });
addEventListener("message", async ({ origin, data }) => {
  if (origin !== "${address}" || data.type !== "platen-token-needed") return;
  const next = await token();
  if (next) frame.contentWindow.postMessage({ type: "platen-token", token: next }, "${address}");
});
</script>`;

const server = createServer(async (request, response) => {
  if (request.url !== "/token") return response.writeHead(200, { "Content-Type": "text/html" }).end(page);
  shop.asked += 1;
  if (!shop.isOpen) return response.end("");
  const made = await api("POST", "auth/editor-token", { template: "mine", scopes: shop.scopes, name: "Ada of the shop", expiresInSeconds: shop.seconds });
  return response.end((await made.json()).token);
});
await new Promise((done) => { server.listen(Number(port), "127.0.0.1", done); });

const browser = await chromium.launch({ executablePath: program, args: ["--no-sandbox"] });

/** A page of a site, in a new profile, and the frame in it. */
async function open(host = "shop") {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: "en-US" });
  const shown = await context.newPage();
  shown.setDefaultTimeout(15_000);
  const complaints = [];
  shown.on("pageerror", (error) => complaints.push(error.stack));
  shown.on("console", (message) => complaints.push(message.text()));
  await shown.goto(`http://${host}.localhost:${port}/`);
  return { context, shown, complaints, frame: shown.frameLocator("#editor") };
}

const draft = async () => (await (await api("GET", "templates/mine/draft")).json()).body[0].content;

/** Waits until `look` answers `value`. */
async function until(look, value) {
  for (let round = 0; round < 150; round += 1) {
    if ((await look().catch(() => null)) === value) return;
    await new Promise((done) => { setTimeout(done, 100); });
  }
  assert.equal(await look(), value);
}

/** The field with the text of the template. */
async function content(frame) {
  await frame.locator(".page img").first().waitFor();
  await frame.getByRole("treeitem", { name: /Hello|Good/ }).first().click();
  return frame.getByLabel("Content", { exact: true });
}

const scenarios = {
  async "one edits the template, and nothing else"() {
    const { context, shown, frame } = await open();
    await (await content(frame)).fill("Good morning");
    await frame.getByText(/^Saved/).waitFor();
    assert.equal(await draft(), "Good morning");
    const inner = shown.frames().find((one) => one.url().startsWith(address));
    assert.ok(!inner.url().includes("token"), inner.url());
    assert.deepEqual(await context.cookies(), []);
    assert.ok(!(await inner.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }))).includes("plte."));
    assert.equal(await frame.getByRole("button", { name: "Publish…" }).count(), 0, "the token lacks the scope");
    assert.equal(await frame.getByRole("link", { name: "Templates" }).count(), 0);
    await inner.evaluate(axeSource);
    const found = await inner.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
    assert.deepEqual(found.violations.filter((one) => ["serious", "critical"].includes(one.impact)).map((one) => one.id), []);
    if (pictures) await shown.screenshot({ path: `${pictures}/frame.png` });
    // The versions are a page away.
    await frame.getByRole("link", { name: "Versions" }).click();
    await frame.getByRole("link", { name: "Back to the editor" }).click();
    await frame.locator(".page img").first().waitFor();
    await context.close();
  },

  async "nothing is lost when the time is over"() {
    Object.assign(shop, { isOpen: true, seconds: 4 });
    const { context, shown, frame } = await open();
    const field = await content(frame);
    shop.isOpen = false;
    await frame.getByText("The time for this editor is over").waitFor();
    // What was typed just before is there, and what the browser keeps is not sent.
    await field.evaluate((element) => { element.value = "Good evening"; element.dispatchEvent(new Event("input", { bubbles: true })); });
    await frame.getByText("Signed out, kept in this browser").waitFor();
    if (pictures) await shown.screenshot({ path: `${pictures}/frame-over.png` });
    assert.equal(await draft(), "Good morning");
    // Another visit of the page, later, finds it.
    Object.assign(shop, { isOpen: true, seconds: 600 });
    const { asked } = shop;
    await frame.getByRole("button", { name: "Ask for more time" }).click();
    await frame.getByText("The time for this editor is over").waitFor({ state: "detached" });
    assert.equal(shop.asked, asked + 1);
    await until(draft, "Good evening");
    await frame.getByText(/^Saved/).waitFor();
    assert.equal(await field.inputValue(), "Good evening");
    await context.close();
  },

  async "the page gives more time before the end, and nobody notices"() {
    Object.assign(shop, { isOpen: true, seconds: 62 });
    const { context, frame } = await open();
    const { asked } = shop;
    await content(frame);
    await until(async () => shop.asked > asked, true);
    assert.equal(await frame.getByText("The time for this editor is over").count(), 0);
    await context.close();
  },

  async "who may publish, publishes, and the log says who"() {
    Object.assign(shop, { seconds: 600, scopes: ["read", "preview", "draft", "publish"] });
    const { context, frame } = await open();
    await content(frame);
    await frame.getByRole("button", { name: "Publish…" }).click();
    await frame.getByRole("button", { name: "Publish", exact: true }).click();
    await frame.getByText("Version 2 is live").first().waitFor();
    const log = await (await api("GET", "audit?after=0")).text();
    assert.match(log, /Ada of the shop with an editor token of admin key/);
    await context.close();
  },

  async "a page of another site cannot frame the editor"() {
    const { context, frame, complaints } = await open("evil");
    await until(async () => complaints.some((one) => /frame-ancestors/.test(one)), true);
    assert.equal(await frame.locator(".editor").count(), 0);
    await context.close();
  },

  async "without a token the page says so"() {
    shop.isOpen = false;
    const { context, frame } = await open();
    await frame.getByText("This editor is not open").waitFor();
    await context.close();
  },
};

try {
  for (const [name, run] of Object.entries(scenarios)) {
    await run();
    console.log(`ok: ${name}`);
  }
} finally {
  await browser.close();
  server.close();
  server.closeAllConnections();
}
