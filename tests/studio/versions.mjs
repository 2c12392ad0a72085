// Scenarios of versions, formats and sample data of a template, and of programs that render it.

import { strict as assert } from "node:assert";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { accessible, api, choose, editorOf, fresh, key, moduleOf, openData, pictures, signIn, studio, until } from "./browser.mjs";

export default {
  async "versions are compared page by page, overlaid and as JSON, and an earlier one is restored"() {
    const version = (content) => ({ key: "versioned", name: "Versioned", body: [{ type: "text", content }, { type: "pageBreak" }, { type: "text", content: "the same" }] });
    await api("POST", "templates", version("Payable within 30 days"));
    await api("PUT", "templates/versioned", version("Payable within 14 days"), { "If-Match": '"1"' });
    // A draft is not served.
    await api("PUT", "templates/versioned/draft?base=2", version("Not served"));
    const served = async () => (await api("POST", "render/html", { template: "versioned", data: {} })).text();
    assert.ok((await served()).includes("14 days"));
    const page = await fresh();
    await signIn(page, "templates/versioned/versions");
    await page.getByAltText("Version 1").waitFor();
    const pixels = (name) => page.getByAltText(name, { exact: true }).evaluate(async (image) => {
      await image.decode();
      const canvas = new OffscreenCanvas(300, 420);
      const context = canvas.getContext("2d");
      context.drawImage(image, 0, 0, 300, 420);
      return context.getImageData(0, 0, 300, 420).data.join("");
    });
    assert.notEqual(await pixels("Version 1"), await pixels("Version 2"), "page 1 differs");
    await page.getByRole("tab", { name: "Overlay" }).click();
    await page.locator(".overlay img").nth(1).waitFor();
    // Where both are the same, the overlay is one color; it is another where they differ.
    const colors = async () => page.evaluate(async (picture) => {
      const bitmap = await createImageBitmap(new Blob([Uint8Array.from(atob(picture), (letter) => letter.charCodeAt(0))]));
      const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
      context.drawImage(bitmap, 0, 0);
      const { data } = context.getImageData(4, 4, bitmap.width - 8, bitmap.height - 8);
      return new Set(new Uint32Array(data.buffer)).size;
    }, (await page.locator(".overlay").screenshot()).toString("base64"));
    assert.ok(await colors() > 1, "the overlay shows a difference");
    await accessible(page, "overlay");
    await page.locator("h1").scrollIntoViewIfNeeded();
    if (pictures) writeFileSync(`${pictures}/overlay.png`, await page.screenshot());
    await page.getByRole("button", { name: "Next page" }).click();
    await page.getByText("Page 2 of 2").waitFor();
    await until(async () => await colors() === 1);
    await page.getByRole("tab", { name: "Changes" }).click();
    const changes = page.getByRole("row", { name: /\/body\/0\/content/ });
    await changes.getByText("Payable within 30 days").waitFor();
    await changes.getByText("Payable within 14 days").waitFor();
    await page.getByRole("button", { name: "Restore version 1" }).click();
    await page.getByText("Version 1 was restored as a new version.").waitFor();
    await page.getByText("Restored from version 1").waitFor();
    assert.ok((await served()).includes("30 days"));
    // The draft is still there.
    const draft = await (await api("GET", "templates/versioned/draft")).json();
    assert.equal(draft.body[0].content, "Not served");
    // It changes a version that is not live any more: what stays of both is decided before it is published.
    await page.goto(studio("templates/versioned"));
    await page.locator(".editor .page img").first().waitFor();
    const publish = async () => {
      await page.getByRole("button", { name: "Publish…" }).click();
      await page.getByRole("button", { name: "Publish", exact: true }).click();
    };
    await publish();
    const dialog = page.getByRole("dialog", { name: "Two people have changed this template" });
    await dialog.getByText("Payable within 30 days").waitFor();
    assert.ok((await served()).includes("30 days"));
    await dialog.getByRole("button", { name: "Save this choice" }).click();
    await page.getByText("What you chose is the draft now.").waitFor();
    await publish();
    await page.getByText("Version 4 is live").first().waitFor();
    assert.ok((await served()).includes("Not served"));
  },

  async "a draft that was discarded is brought back"() {
    await api("POST", "templates", { key: "discarded", name: "Discarded", body: [{ type: "text", content: "live" }] });
    const page = await editorOf("discarded");
    await choose(page, "/body/0");
    const content = page.getByLabel("Content", { exact: true });
    const draft = async () => (await api("GET", "templates/discarded/draft").catch(() => null))?.json();
    await content.fill("of the draft");
    await page.getByText(/^Saved/).waitFor();
    await page.getByRole("button", { name: "Download" }).click();
    await page.getByRole("button", { name: "Discard the draft" }).click();
    const toast = page.locator(".toast", { hasText: "The draft was discarded." });
    await toast.waitFor();
    assert.equal(await content.inputValue(), "live");
    assert.equal(await draft(), undefined);
    await toast.getByRole("button", { name: "Undo" }).click();
    await until(async () => (await draft())?.body[0].content === "of the draft");
    assert.equal(await content.inputValue(), "of the draft");
    // One of a template that was never published leaves nothing, and is brought back, too.
    await api("PUT", "templates/never-live/draft", { key: "never-live", name: "Never live", body: [{ type: "text", content: "never live" }] });
    const other = await editorOf("never-live");
    await other.getByRole("button", { name: "Download" }).click();
    await other.getByRole("button", { name: "Discard the draft" }).click();
    await other.getByRole("heading", { name: "Templates" }).waitFor();
    await assert.rejects(api("GET", "templates/never-live/draft"), /404/);
    await other.locator(".toast").getByRole("button", { name: "Undo" }).click();
    await other.getByRole("treeitem", { name: /never live/ }).waitFor();
    assert.equal((await (await api("GET", "templates/never-live/draft")).json()).body[0].content, "never live");
  },

  async "a draft that is being saved is discarded once it is"() {
    await api("POST", "templates", { key: "in-flight", name: "In flight", body: [{ type: "text", content: "live" }] });
    const page = await editorOf("in-flight");
    await choose(page, "/body/0");
    const content = page.getByLabel("Content", { exact: true });
    await content.fill("first");
    await page.getByText(/^Saved/).waitFor();
    let release = () => {};
    const held = new Promise((done) => { release = done; });
    await page.route("**/draft", async (route) => {
      if (route.request().method() === "PUT") await held;
      await route.continue();
    });
    await Promise.all([page.waitForRequest((one) => one.method() === "PUT"), content.fill("second")]);
    await page.getByRole("button", { name: "Download" }).click();
    await page.getByRole("button", { name: "Discard the draft" }).click();
    // Long enough for a removal that does not wait.
    await page.waitForTimeout(500);
    release();
    await page.locator(".toast", { hasText: "The draft was discarded." }).waitFor();
    await until(async () => (await content.inputValue()) === "live");
    assert.equal(await api("GET", "templates/in-flight/draft").catch(() => null), null);
  },

  async "200 changes are undone, and done again"() {
    await api("POST", "templates", { key: "undone", name: "Undone", body: [{ type: "text", content: "0" }] });
    const page = await editorOf("undone");
    await choose(page, "/body/0");
    const content = page.getByLabel("Content", { exact: true });
    // A change after another field is a step of its own. Within the page, as hundreds of keys take long.
    const rounds = 100;
    await page.evaluate(async (rounds) => {
      const set = async (name, value) => {
        const field = [...document.querySelectorAll("label")].find((one) => one.textContent.trim() === name).control;
        field.focus();
        field.value = value;
        field.dispatchEvent(new Event("input", { bubbles: true }));
        await new Promise(requestAnimationFrame);
        await new Promise((done) => setTimeout(done));
      };
      for (let round = 1; round <= rounds; round += 1) {
        await set("Content", `${round}`);
        await set("Style", `s${round}`);
      }
    }, rounds);
    const clicks = (name) => page.getByRole("button", { name, exact: true }).evaluate(async (button) => {
      let count = 0;
      for (; !button.disabled; count += 1) {
        button.click();
        await new Promise(requestAnimationFrame);
        await new Promise((done) => setTimeout(done));
      }
      return count;
    });
    assert.equal(await clicks("Undo"), 2 * rounds);
    assert.equal(await content.inputValue(), "0");
    assert.equal(await clicks("Redo"), 2 * rounds);
    assert.equal(await content.inputValue(), `${rounds}`);
  },

  async "sample data is made from a schema, and a schema from sample data"() {
    const schema = { type: "object", properties: { number: { type: "string", minLength: 9 }, date: { type: "string", format: "date" }, lines: { type: "array", minItems: 2, items: { type: "object", properties: { price: { type: "number", minimum: 40 } } } } } };
    await api("POST", "templates", { key: "sampled", name: "Sampled", inputSchema: schema, body: [{ type: "text", content: "{{ number }} of {{ date }}, {{ lines|length }} lines" }] });
    const page = await editorOf("sampled");
    await openData(page);
    await page.getByRole("button", { name: "Generate from schema" }).click();
    const sample = async () => (await (await api("GET", "templates/sampled/sample")).json());
    await until(async () => (await sample().catch(() => null))?.lines?.length === 2);
    const answer = await api("POST", "render/html", { template: "sampled", data: await sample() });
    assert.ok((await answer.text()).includes("2 lines"), "the service takes what was made");
    await page.getByLabel("Upload JSON").setInputFiles([{ name: "ours.json", mimeType: "application/json", buffer: Buffer.from('{"number": "7", "customer": {"name": "Ada"}, "rows": [{"a": 1}, {"a": 1.5, "b": "x"}]}') }]);
    await page.locator(".data-name", { hasText: /^customer$/ }).waitFor();
    await page.getByRole("button", { name: "Make schema from sample" }).click();
    await page.getByText("The input schema was made from the sample.").waitFor();
    const draft = async () => (await api("GET", "templates/sampled/draft").catch(() => null))?.json();
    const properties = async () => (await draft())?.inputSchema.properties;
    await until(async () => (await properties())?.customer?.properties.name.type === "string");
    // A row has what all have, and a number that is once whole is a number.
    assert.deepEqual((await properties()).rows.items, { type: "object", properties: { a: { type: "number" }, b: { type: "string" } }, required: ["a"] });
    // What is no JSON is refused, and the sample stays.
    await page.getByLabel("Upload JSON").setInputFiles([{ name: "bad.json", mimeType: "application/json", buffer: Buffer.from("{") }]);
    await page.getByText(/This file is no JSON/).waitFor();
    assert.equal((await sample()).customer.name, "Ada");
  },

  async "a file of each format is downloaded, and what the format lacks is said"() {
    await api("POST", "templates", { key: "formats", name: "Formats", body: [{ type: "heading", level: 1, content: "Report" }, { type: "chart", chart: "bar", alt: "Sales", rows: "sales", category: "{{ item.name }}", series: [{ name: "Sales", value: "item.value" }] }, { type: "table", rows: "lines", columns: [{ header: "Name", value: "{{ item }}" }] }] });
    await api("PUT", "templates/formats/sample", { lines: ["one", "two"], sales: [{ name: "a", value: 1 }] });
    const page = await editorOf("formats");
    const begins = { pdf: "%PDF-", docx: "PK", pptx: "PK", xlsx: "PK", html: "<!", csv: "Name" };
    for (const [format, begin] of Object.entries(begins)) {
      await page.getByRole("button", { name: "Download" }).click();
      const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: format.toUpperCase(), exact: true }).click()]);
      assert.equal(download.suggestedFilename(), `formats.${format}`);
      const bytes = readFileSync(await download.path());
      assert.ok(bytes.subarray(0, 12).toString().replace("\ufeff", "").startsWith(begin), `${format}: ${bytes.subarray(0, 12)}`);
      // Either it lacks nothing, or a dialog says what.
      await page.getByRole("dialog").or(page.getByText(`Downloaded formats.${format}`)).first().waitFor();
      if (format !== "csv") await page.keyboard.press("Escape");
    }
    const lost = page.getByRole("dialog", { name: "What CSV lacks" });
    await lost.getByText(/CSV holds the rows of a table.*2 in all/).waitFor();
    await accessible(page, "losses");
    if (pictures) writeFileSync(`${pictures}/losses.png`, await page.screenshot());
    await lost.getByRole("button", { name: "Close", exact: true }).last().click();
    await lost.waitFor({ state: "detached" });
  },

  async "the programs that Studio shows run, whatever the data has"() {
    const folder = mkdtempSync(`${tmpdir()}/platen-programs-`);
    const nasty = { quotes: "it's '''three''' \"double\" \"# \"## ${x} `y` $HOME \\n \\ end", sign: "\u0001 \u2028 😀", number: 12345678901, "a key": null };
    try {
      for (const [name, data] of [["short", nasty], ["long", { ...nasty, rows: Array.from({ length: 2000 }, (_, index) => ({ index, text: "it's" })) }]]) {
        await api("POST", "templates", { key: `program-${name}`, name, body: [{ type: "text", content: "{{ quotes }} {{ number }}" }] });
        await api("PUT", `templates/program-${name}/sample`, data);
        const page = await editorOf(`program-${name}`);
        await page.getByRole("button", { name: "Download" }).click();
        await page.getByRole("button", { name: "Copy as program…" }).click();
        const dialog = page.getByRole("dialog");
        if (name === "long") {
          const [download] = await Promise.all([page.waitForEvent("download"), dialog.getByRole("button", { name: "Download sample.json" }).click()]);
          await download.saveAs(`${folder}/sample.json`);
        }
        const run = (program, args) => {
          rmSync(`${folder}/program-${name}.pdf`, { force: true });
          execFileSync(program, args, { cwd: folder, env: { ...process.env, PLATEN_API_KEY: key }, maxBuffer: 1 << 26 });
          const text = execFileSync("pdftotext", [`program-${name}.pdf`, "-"], { cwd: folder }).toString();
          assert.equal(text.replaceAll(/\s+/g, " ").trim(), `${data.quotes} ${data.number}`, `${program} ${name}`);
        };
        await dialog.getByRole("button", { name: "Copy", exact: true }).click();
        run("sh", ["-c", await page.evaluate(() => navigator.clipboard.readText())]);
        const text = async (language) => {
          await dialog.getByRole("tab", { name: language }).click();
          return dialog.locator(".program").textContent();
        };
        writeFileSync(`${folder}/program.py`, await text("Python"));
        run("python3", ["program.py"]);
        // Of TypeScript, only the mark of a value that is there is no JavaScript.
        writeFileSync(`${folder}/program.mjs`, `${(await text("TypeScript")).replace("KEY!", "KEY")}\n(await import("node:fs")).writeFileSync("program-${name}.pdf", pdf);`);
        run("node", ["program.mjs"]);
        assert.match(await text("Rust"), name === "long" ? /from_slice\(&std::fs::read\("sample\.json"\)/ : /from_str\(r###"/);
        await accessible(page, "program");
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  },

  async "the gallery has work in many languages, is searched, and makes a draft with its data"() {
    const { gallery } = await moduleOf("gallery.js");
    assert.ok(new Set(gallery.map((one) => one.language)).size >= 10);
    await api("POST", "templates", { key: "key-of-another", name: "Of another", body: [] });
    const page = await fresh();
    await signIn(page);
    await page.getByText("key-of-another").waitFor();
    await page.getByRole("button", { name: "New template" }).click();
    const cards = page.getByRole("dialog").locator(".card");
    await until(async () => (await cards.count()) === gallery.length + 1);
    await cards.nth(1).locator("img").waitFor();
    await accessible(page, "gallery");
    if (pictures) writeFileSync(`${pictures}/gallery.png`, await page.screenshot());
    await page.getByLabel("Search the gallery").fill("العربية");
    await until(async () => (await cards.count()) < 5);
    await cards.last().click();
    const field = page.getByLabel("Key", { exact: true });
    const free = await field.inputValue();
    await field.fill("key-of-another");
    await page.getByText("There is a template with this key already").waitFor();
    assert.ok(await page.getByRole("button", { name: "Create" }).isDisabled());
    await field.fill(free);
    await page.getByRole("button", { name: "Create" }).click();
    await page.locator(".page img").first().waitFor();
    const key = decodeURIComponent(page.url().split("/").at(-1));
    assert.ok(Object.keys(await (await api("GET", `templates/${key}/sample`)).json()).length > 0, "with its data");
    assert.deepEqual((await (await api("GET", "templates")).json()).templates.filter((one) => one.key === key), [], "it is a draft");
  },

  async "names and values in the JSON of a template are completed by the schema"() {
    await api("POST", "templates", { key: "completing", name: "Completing", body: [{ type: "text", content: "one" }] });
    const page = await editorOf("completing");
    await page.keyboard.press("Control+j");
    const text = page.locator(".cm-content");
    await text.waitFor();
    await text.click();
    await page.keyboard.press("Control+a");
    await page.keyboard.press("Delete");
    // Signs are closed as one types.
    const offers = async (typed, name) => {
      await page.keyboard.type(typed, { delay: 5 });
      await page.keyboard.press("Control+Space");
      await page.locator(".cm-completionLabel", { hasText: name }).first().waitFor();
    };
    await offers('{ "key": "completing", "name": "Completing", "body": [{ "type": "hea', "heading");
    await page.keyboard.press("Escape");
    await page.keyboard.type('ding"');
    await page.getByRole("treeitem", { name: /^Heading/ }).waitFor();
    await offers(', "lev', "level");
    await page.locator(".cm-completionInfo").waitFor();
    await accessible(page, "completion of JSON");
  },
};
