// Scenarios of roles and keys.

import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { accessible, address, api, choose, fresh, key, signIn, studio, until } from "./browser.mjs";

export default {
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
    // The file has the whole log, however long it is.
    const entries = 25_000;
    await page.route(/\/audit\?after=/, async (route) => {
      const query = new URL(route.request().url()).searchParams;
      const [after, limit] = ["after", "limit"].map((name) => Number(query.get(name)));
      const lines = Array.from({ length: Math.min(limit, entries - after) }, (_, index) => `{"number":${after + index + 1}}\n`);
      await route.fulfill({ contentType: "application/x-ndjson", body: lines.join("") });
    });
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Export as NDJSON" }).click()]);
    assert.equal(download.suggestedFilename(), "audit.ndjson");
    const numbers = readFileSync(await download.path()).toString().trim().split("\n").map((line) => JSON.parse(line).number);
    assert.deepEqual([numbers.length, numbers[0], numbers.at(-1), new Set(numbers).size], [entries, 1, entries, entries]);
  },

  async "a change of a key undoes nothing that others did meanwhile"() {
    const { secret, key: { id } } = await (await api("POST", "keys", { name: "Press", roles: ["viewer"] })).json();
    const page = await fresh();
    await signIn(page, "keys");
    const rename = async () => {
      await page.getByLabel("What is it for?").fill("Press office");
      await page.getByRole("button", { name: "Save" }).click();
    };
    const status = async () => (await fetch(`${address}/templates`, { headers: { "X-Api-Key": secret } })).status;
    const open = () => page.getByRole("button", { name: "Change the key Press" }).first().click();
    await open();
    await page.getByLabel("What is it for?").waitFor();
    assert.equal(await status(), 200);
    // Somebody else replaces it while the dialog is open, and it ends at once.
    const next = await (await api("POST", `keys/${id}/rotation`, { graceSeconds: 0 })).json();
    await rename();
    await page.getByText("Somebody has changed the key meanwhile").waitFor();
    assert.equal(await status(), 401);
    await page.getByRole("button", { name: "Cancel" }).click();
    // The list is older than the key; the dialog is not.
    await open();
    await rename();
    await page.getByText("is in the past").waitFor();
    assert.equal(await status(), 401);
    assert.equal((await (await api("GET", `keys/${id}`)).json()).name, "Press");
    for (const one of [id, next.key.id]) await api("DELETE", `keys/${one}`);
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
};
