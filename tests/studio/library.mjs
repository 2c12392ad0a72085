// Scenarios of what is stored beside templates, and of files: assets, labels, conversions.

import { strict as assert } from "node:assert";
import { readFileSync, writeFileSync } from "node:fs";
import { accessible, address, api, choose, font, fresh, key, pictures, signIn, studio, until } from "./browser.mjs";

export default {
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

  async "Office files and pages become PDF, and a PDF file is signed, by dropping them"() {
    const page = await fresh();
    await signIn(page, "convert");
    const docx = Buffer.from(await (await api("POST", "render/docx", { definition: { key: "d", body: [{ type: "text", content: "from Word" }] } })).arrayBuffer());
    const drop = (files) => page.evaluate((files) => {
      const data = new DataTransfer();
      for (const [name, content] of files) data.items.add(new File([Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0))], name));
      const area = document.querySelector("label.drop");
      for (const type of ["dragover", "drop"]) area.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
    }, files.map(([name, content]) => [name, content.toString("base64")]));
    await drop([["letter.docx", docx], ["page.html", Buffer.from("<p>from a page</p>")]]);
    await page.getByRole("button", { name: "Convert to PDF" }).click();
    const result = (name) => page.locator("ul.files").last().locator("li", { hasText: name });
    await result("page.pdf").waitFor({ timeout: 60_000 });
    const [download] = await Promise.all([page.waitForEvent("download"), result("letter.pdf").getByRole("button", { name: "Download" }).click()]);
    const letter = readFileSync(await download.path());
    assert.equal(letter.subarray(0, 5).toString(), "%PDF-");
    await page.getByRole("button", { name: "Clear" }).click();
    await drop([["letter.pdf", letter]]);
    await page.getByLabel("Signing key").fill("nobody");
    await page.getByRole("button", { name: "Sign", exact: true }).click();
    await page.getByRole("alert").waitFor();
    await page.getByLabel("Signing key").fill("ada");
    await page.getByRole("button", { name: "Sign", exact: true }).click();
    await result("letter-sign.pdf").waitFor();
    const [signed] = await Promise.all([page.waitForEvent("download"), result("letter-sign.pdf").getByRole("button", { name: "Download" }).click()]);
    assert.ok(readFileSync(await signed.path()).includes("/ByteRange"));
    await page.getByRole("button", { name: "Make PDF/A-3" }).click();
    await result("letter-archive.pdf").waitFor();
    await accessible(page, "results");
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
    // Neither replaces the other: two files of one name, and one whose name somebody else takes meanwhile.
    const another = await fetch(new URL("assets/late.svg", `${address}/`), { method: "PUT", headers: { "X-Api-Key": key }, body: drawing("navy") });
    assert.equal(another.status, 201);
    await page.getByLabel("Upload files").setInputFiles([picture("Seal.svg", "teal"), picture("seal.svg", "gold"), picture("late.svg", "plum")]);
    await page.getByRole("heading", { name: "2 names are taken" }).waitFor();
    await page.getByRole("button", { name: "Keep both" }).click();
    await page.locator(".card", { hasText: "seal-2.svg" }).waitFor();
    const kept = async (name) => (await api("GET", `assets/${name}`)).text();
    for (const [name, color] of [["seal.svg", "teal"], ["seal-2.svg", "gold"], ["late.svg", "navy"], ["late-2.svg", "plum"]]) {
      assert.equal(await kept(name), drawing(color).toString(), name);
    }
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
};
