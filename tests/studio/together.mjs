// Scenarios of several people and tabs, and of a service or a session that ends while one types.

import { strict as assert } from "node:assert";
import { writeFileSync } from "node:fs";
import { accessible, api, choose, editorOf, forwarder, fresh, key, openData, pictures, signIn, studio, until, watch } from "./browser.mjs";

export default {
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

  async "a clash that is found at opening replaces nothing before somebody decides"() {
    await api("POST", "templates", { key: "reopened", name: "Reopened", body: [{ type: "text", content: "one" }, { type: "text", content: "two" }] });
    await api("PUT", "templates/reopened/draft?base=1", { key: "reopened", name: "Reopened", body: [{ type: "text", content: "one" }, { type: "text", content: "two" }] });
    const [first, second] = [await editorOf("reopened"), await editorOf("reopened")];
    const content = (page) => page.getByLabel("Content", { exact: true });
    const contents = async () => (await (await api("GET", "templates/reopened/draft")).json()).body.map((one) => one.content);
    await choose(first, "/body/0");
    await first.context().setOffline(true);
    await content(first).fill("one offline");
    await first.getByText("Offline, kept in this browser").waitFor();
    await choose(second, "/body/1");
    await content(second).fill("two by the second");
    await until(async () => (await contents())[1] === "two by the second");
    await first.context().setOffline(false);
    await first.reload();
    await first.getByText("Changed by somebody else").waitFor();
    await first.locator(".page img").first().waitFor();
    // To save, to publish and to discard ask for the decision instead.
    const dialog = first.getByRole("dialog", { name: "Two people have changed this template" });
    const asks = async (act) => {
      await act();
      await dialog.getByText("two by the second").waitFor();
      await first.keyboard.press("Escape");
      await dialog.waitFor({ state: "detached" });
    };
    await asks(() => first.keyboard.press("Control+s"));
    await asks(() => first.getByRole("button", { name: "Publish…" }).click());
    await asks(async () => {
      await first.getByRole("button", { name: "Download" }).click();
      await first.getByRole("button", { name: "Discard the draft" }).click();
    });
    // A key more and a reload are no decision.
    await choose(first, "/body/0");
    await content(first).fill("one offline, and more");
    await first.reload();
    await first.getByText("Changed by somebody else").waitFor();
    assert.deepEqual(await contents(), ["one", "two by the second"]);
    await first.getByRole("button", { name: "Compare and choose…" }).click();
    await first.getByRole("radio", { name: /two by the second/ }).check();
    await first.getByRole("button", { name: "Save this choice" }).click();
    await first.getByText(/^Saved/).waitFor();
    assert.deepEqual(await contents(), ["one offline, and more", "two by the second"]);
  },

  async "what is typed while a draft is being saved is no clash with oneself"() {
    await api("POST", "templates", { key: "oneself", name: "Oneself", body: [{ type: "text", content: "one" }] });
    const page = await editorOf("oneself");
    await choose(page, "/body/0");
    const content = page.getByLabel("Content", { exact: true });
    let release = () => {};
    const held = new Promise((done) => { release = done; });
    let count = 0;
    // The first answer comes late, and nothing arrives after it.
    const draft = /\/templates\/oneself\/draft/;
    await page.route(draft, async (route) => {
      count += 1;
      if (count > 1) {
        await route.abort();
        return;
      }
      const response = await route.fetch();
      await held;
      await route.fulfill({ response });
    });
    await Promise.all([page.waitForRequest(draft), content.fill("first")]);
    await content.fill("second");
    release();
    await page.getByText("Offline, kept in this browser").waitFor();
    await page.unroute(draft);
    await page.reload();
    await page.getByText(/^Saved/).waitFor();
    const stored = async () => (await (await api("GET", "templates/oneself/draft")).json()).body[0].content;
    assert.equal(await stored(), "second");
    // Neither is what has arrived, though its answer was lost.
    await page.locator(".page img").first().waitFor();
    await choose(page, "/body/0");
    let isLost = false;
    await page.route(draft, async (route) => {
      if (isLost || route.request().method() !== "PUT") {
        await route.continue();
        return;
      }
      isLost = true;
      await route.fetch();
      await route.abort();
    });
    await content.fill("third");
    await page.getByText("Offline, kept in this browser").waitFor();
    assert.equal(await stored(), "third");
    await content.fill("fourth");
    await until(async () => (await stored()) === "fourth");
    await page.getByText(/^Saved/).waitFor();
    assert.equal(await page.getByText("Changed by somebody else").count(), 0);
  },

  async "what is typed while the service is away is kept, and sent later"() {
    const page = await editorOf("shared");
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
};
