// Scenarios of the first sign-in and of the template editor: nodes, texts, data, theme.

import { strict as assert } from "node:assert";
import { resolveObjectURL } from "node:buffer";
import { readFileSync, writeFileSync } from "node:fs";
import { accessible, address, api, choose, editorOf, figure, fresh, key, moduleOf, nodeArea, openData, pictures, signIn, studio, until } from "./browser.mjs";

export default {
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
    const page = await editorOf("our-invoice");
    await choose(page, "/body/3");
    const content = page.getByLabel("Content", { exact: true });
    const before = await content.inputValue();
    const shown = page.locator(".page").first();
    const settled = async () => {
      // The same three times: on a busy machine the last page comes late.
      const seen = [];
      await until(async () => {
        await page.waitForTimeout(700);
        // Messages about others who have it open are not the page.
        await page.evaluate(() => document.querySelectorAll(".toast").forEach((one) => { one.style.display = "none"; }));
        seen.push((await shown.screenshot()).toString("base64"));
        return seen.length >= 3 && seen.slice(-3).every((one) => one === seen.at(-1));
      });
      return seen.at(-1);
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
    const page = await editorOf("our-invoice");
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
    const page = await editorOf("our-invoice");
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
    const page = await editorOf("our-invoice");
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
    const page = await editorOf("dragged");
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
    // A drag that the browser takes over drops nothing.
    await page.mouse.move(start.x + 4, start.y + 4);
    await page.mouse.down();
    await page.mouse.move(200, 200, { steps: 3 });
    await page.locator(".dragged-field").waitFor();
    await page.evaluate(() => dispatchEvent(new PointerEvent("pointercancel")));
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
    const page = await editorOf("our-invoice");
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

  async "a node at an end of its list stays in it, and a touch that scrolls moves none"() {
    await api("POST", "templates", { key: "ordered", name: "Ordered", body: ["one", "two", "three"].map((content) => ({ type: "text", content })) });
    const page = await editorOf("ordered");
    const rows = page.locator("[role=treeitem]", { hasText: /^Text/ });
    const chosen = page.locator("[role=treeitem][aria-selected=true]");
    const order = ["Textone", "Texttwo", "Textthree"];
    assert.deepEqual(await rows.allTextContents(), order);
    for (const [place, key] of [["/body/0", "Alt+ArrowUp"], ["/body/2", "Alt+ArrowDown"]]) {
      await choose(page, place);
      await page.keyboard.press(key);
      assert.deepEqual(await rows.allTextContents(), order, key);
      assert.equal(await chosen.textContent(), order[Number(place.at(-1))], key);
    }
    const [from, to] = [await rows.first().boundingBox(), await rows.last().boundingBox()];
    await rows.first().dispatchEvent("pointerdown", { button: 0, pointerType: "touch", clientX: from.x + 40, clientY: from.y + 8 });
    await page.evaluate(([x, y]) => {
      for (const type of ["pointermove", "pointercancel", "pointerup"]) dispatchEvent(new PointerEvent(type, { pointerType: "touch", clientX: x, clientY: y }));
    }, [to.x + 40, to.y + to.height - 4]);
    assert.deepEqual(await rows.allTextContents(), order, "a touch that scrolls");
    assert.ok(await page.getByRole("button", { name: "Undo", exact: true }).isDisabled(), "nothing has changed");
  },

  async "lengths and numbers are typed key by key, also with a zero after the point"() {
    await api("POST", "templates", { key: "measured", name: "Measured", body: [{ type: "spacer", height: "5mm" }] });
    await api("PUT", "templates/measured/sample", { price: 2 });
    const page = await editorOf("measured");
    await choose(page, "/body/0");
    const height = page.getByLabel("Height", { exact: true });
    for (const text of ["2.05mm", "-0.5mm", "10.05", "0.05in"]) {
      await height.selectText();
      await height.pressSequentially(text);
      assert.equal(await height.inputValue(), text);
    }
    await page.getByRole("treeitem", { name: /^Theme/ }).click();
    const line = page.getByLabel("Line height", { exact: true });
    await line.pressSequentially("1.05");
    assert.equal(await line.inputValue(), "1.05");
    // What is typed stands until one leaves the field, and then as the value is written.
    await page.getByLabel("Font size", { exact: true }).pressSequentially("9.0");
    await line.focus();
    assert.equal(await page.getByLabel("Font size", { exact: true }).inputValue(), "9");
    // In JSON, the caret stays where one types.
    await openData(page);
    await page.getByRole("button", { name: "Edit as JSON" }).click();
    const sample = page.getByLabel("Sample data", { exact: true });
    await sample.fill('{"price": 1}');
    await page.keyboard.press("ArrowLeft");
    await sample.pressSequentially(".05");
    await page.keyboard.press("Enter");
    assert.equal(await sample.inputValue(), '{"price": 1.05\n}');
    const stored = async (what) => (await api("GET", `templates/measured/${what}`).catch(() => null))?.json();
    await until(async () => (await stored("sample")).price === 1.05);
    await until(async () => (await stored("draft"))?.theme?.fontSize === 9);
    const { body, theme } = await stored("draft");
    assert.deepEqual([body[0].height, theme.lineHeight], ["0.05in", 1.05]);
  },

  async "Ctrl Z takes back what is typed in a dialog or in the sample data, not the template behind"() {
    await api("POST", "templates", { key: "behind", name: "Behind", body: [{ type: "text", content: "one" }] });
    const page = await editorOf("behind");
    await choose(page, "/body/0");
    const content = page.getByLabel("Content", { exact: true });
    await content.fill("two");
    await page.getByText(/^Saved/).waitFor();
    await page.getByRole("button", { name: "Publish…" }).click();
    const note = page.getByLabel("What changed");
    await note.pressSequentially("A note");
    await page.keyboard.press("Control+z");
    await until(async () => (await note.inputValue()) !== "A note");
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    assert.equal(await content.inputValue(), "two");
    await openData(page);
    await page.getByRole("button", { name: "Edit as JSON" }).click();
    const sample = page.getByLabel("Sample data", { exact: true });
    await sample.fill('{"city": "London"}');
    await sample.pressSequentially(" ");
    await page.keyboard.press("Control+z");
    await until(async () => (await sample.inputValue()) !== '{"city": "London"} ');
    assert.equal(await content.inputValue(), "two");
    // In the form it is the template's.
    await content.focus();
    await page.keyboard.press("Control+z");
    await until(async () => (await content.inputValue()) === "one");
  },

  async "JSON that is no JSON yet stays until it is, and nothing changes beside it"() {
    await api("POST", "templates", { key: "unfinished", name: "Unfinished", body: [{ type: "text", content: "one" }] });
    const page = await editorOf("unfinished");
    await choose(page, "/body/0");
    const text = page.locator(".cm-content");
    const add = page.locator(".editor-outline").getByRole("button", { name: "Add", exact: true });
    await page.keyboard.press("Control+j");
    await text.click();
    await page.keyboard.press("Control+End");
    await page.keyboard.type("x");
    await page.locator(".json-view .stale").waitFor();
    assert.ok(await page.getByLabel("Content", { exact: true }).isDisabled());
    assert.equal(await add.count(), 0);
    await page.keyboard.press("Control+j");
    await page.locator(".toast", { hasText: "No JSON yet" }).waitFor();
    await page.getByRole("tab", { name: "Design" }).click();
    assert.match(await text.textContent(), /x$/);
    await text.click();
    await page.keyboard.press("Control+End");
    await page.keyboard.press("Backspace");
    await page.locator(".json-view .stale").waitFor({ state: "detached" });
    // Undo takes back first what is no JSON, and keeps the template.
    await page.keyboard.type("xyz");
    await page.locator(".json-view .stale").waitFor();
    await page.keyboard.press("Control+z");
    await page.locator(".json-view .stale").waitFor({ state: "detached" });
    await until(async () => /"content": "one".*\}$/.test(await text.textContent()));
    await page.getByRole("tab", { name: "Design" }).click();
    await text.waitFor({ state: "detached" });
    await add.waitFor();
  },

  async "the theme's colors, fonts and styles are edited, with a check of contrast"() {
    await api("POST", "templates", { key: "themed", name: "Themed", theme: { styles: { note: { color: "#333333" }, quote: { extends: "note" } } }, body: [{ type: "text", style: "note", content: "one" }, { type: "text", content: [{ text: "two", style: ["note"] }] }] });
    const page = await editorOf("themed");
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

  async "a picture is uploaded into a template and a footer added"() {
    await api("POST", "templates", { key: "pictured", name: "Pictured", body: [{ type: "text", content: "one" }] });
    const page = await editorOf("pictured");
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
    const draft = await (await api("GET", "templates/pictured/draft")).json();
    assert.ok(draft.assets["our-logo"].startsWith("data:image/png;base64,"));
    assert.equal(draft.page.footer[0].content, "A footer of ours");
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
    // A text at the head of that page, found by clicks on it. The page may still move as the list closes: each round brings its head into view.
    const content = page.getByLabel("Content", { exact: true });
    await until(async () => {
      await fifth.evaluate((one) => one.scrollIntoView({ block: "start" })).catch(() => null);
      for (let y = 60; y < 300; y += 15) {
        const box = await fifth.boundingBox();
        if (!box) return false;
        await page.mouse.click(box.x + box.width / 4, box.y + y);
        if (await content.waitFor({ timeout: 250 }).then(() => true, () => false)) return true;
      }
    });
    await figure(page, content, "page 5 of a report", 5);
  },
};
