// Scenarios of flows and their runs.

import { strict as assert } from "node:assert";
import { writeFileSync } from "node:fs";
import { accessible, api, fresh, pictures, signIn, studio, until, watch } from "./browser.mjs";

export default {
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
      // The list of what was typed before may still stand there.
      let found = [];
      await until(async () => {
        found = await offered.allTextContents();
        return names.every((name) => found.includes(name));
      });
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

  async "what is typed while a flow is saved stays, and so does what somebody else overtakes"() {
    const flow = (name) => ({ kind: "flow", key: "typed", name, trigger: { type: "manual" }, steps: [{ name: "one", type: "code", source: "export default () => 1;" }] });
    await api("POST", "flows", flow("First"));
    const page = await fresh();
    await signIn(page, "flows/typed");
    const name = page.getByLabel("Name", { exact: true });
    const undo = page.getByRole("button", { name: "Undo", exact: true });
    const save = page.getByRole("button", { name: "Save", exact: true });
    const stored = async () => (await (await api("GET", "flows/typed")).json()).name;
    let release = () => {};
    const held = new Promise((done) => { release = done; });
    await page.route(/\/flows\/typed$/, async (route) => {
      if (route.request().method() === "PUT") await held;
      await route.continue();
    });
    await name.fill("Second");
    await Promise.all([page.waitForRequest((one) => one.method() === "PUT"), save.click()]);
    await name.fill("Third");
    // The flow is read again once it is saved, with its runs.
    await Promise.all([page.waitForResponse(/\/runs\?flow=typed/), release()]);
    await page.getByText("Saved as version 2").waitFor();
    await page.getByText("Not saved", { exact: true }).waitFor();
    assert.equal(await stored(), "Second");
    assert.equal(await name.inputValue(), "Third");
    assert.ok(await undo.isEnabled());
    await save.click();
    await page.getByText("Saved as version 3").waitFor();
    assert.equal(await stored(), "Third");
    // Somebody else saves a version meanwhile.
    await name.fill("Mine");
    await api("PUT", "flows/typed", flow("Theirs"), { "If-Match": '"3"' });
    await page.reload();
    await page.getByText("Somebody has changed this flow meanwhile. Undo brings back").waitFor();
    assert.equal(await name.inputValue(), "Theirs");
    await undo.click();
    await until(async () => (await name.inputValue()) === "Mine");
    await save.click();
    await page.getByText("Saved as version 5").waitFor();
    // Another tab of this browser saves a version meanwhile.
    const other = await page.context().newPage();
    watch(other);
    await other.goto(studio("flows/typed"));
    const itsName = other.getByLabel("Name", { exact: true });
    await itsName.fill("Of the other tab");
    await name.fill("Of this tab");
    await save.click();
    await page.getByText("Saved as version 6").waitFor();
    await other.getByRole("button", { name: "Save", exact: true }).click();
    await other.getByText("Undo then brings back").waitFor();
    await other.reload();
    await other.getByText("Undo brings back").waitFor();
    assert.equal(await itsName.inputValue(), "Of this tab");
    await other.getByRole("button", { name: "Undo", exact: true }).click();
    await until(async () => (await itsName.inputValue()) === "Of the other tab");
  },

  async "undo in the source of a step takes back one change"() {
    await api("POST", "flows", {
      kind: "flow", key: "one-change", name: "One change", trigger: { type: "manual" }, steps: [{ name: "sum", type: "code", source: "export default () => 1" }],
    });
    const page = await fresh();
    await signIn(page, "flows/one-change");
    await page.locator(".step", { hasText: "sum" }).click();
    const name = page.getByLabel("Name", { exact: true });
    await name.fill("total");
    const code = page.getByLabel("Source", { exact: true });
    await code.click();
    await page.keyboard.press("Control+End");
    const before = await code.textContent();
    await page.keyboard.type(";");
    await until(async () => (await code.textContent()) === `${before};`);
    await page.keyboard.press("Control+z");
    await until(async () => (await code.textContent()) === before);
    assert.equal(await name.inputValue(), "total");
    // A trigger that is written for a test is none of the flow.
    await page.getByRole("tab", { name: "Test" }).click();
    await page.getByLabel("Trigger", { exact: true }).pressSequentially(" ");
    await page.keyboard.press("Control+z");
    await page.locator(".step", { hasText: "total" }).waitFor();
  },

  async "the version that is shown is published, whatever was saved since"() {
    const flow = (source) => ({
      kind: "flow", key: "shown", name: "Shown", trigger: { type: "manual" }, steps: [{ name: "one", type: "code", source }],
    });
    await api("POST", "flows", flow("export default () => 1;"));
    const page = await fresh();
    await signIn(page, "flows/shown");
    const publish = page.getByRole("button", { name: "Publish v1" });
    await publish.waitFor();
    await api("PUT", "flows/shown", flow("export default () => 2;"), { "If-Match": '"1"' });
    await publish.click();
    await page.locator(".toast", { hasText: "Version 1 is live." }).waitFor();
    const { flows } = await (await api("GET", "flows?limit=200")).json();
    assert.equal(flows.find((one) => one.key === "shown").published, 1);
    // It is live also where it stands behind thousands in the list, which says where it ends.
    await page.route(/\/flows\?/, async (route) => {
      const after = Number(new URL(route.request().url()).searchParams.get("after") ?? 0);
      const many = Array.from({ length: 200 }, (_, index) => ({ key: `many-${after + index + 1}`, name: "", version: 1, updatedAt: "2026-01-01T00:00:00Z" }));
      await route.fulfill({ json: { flows: many, next: `${after + 200}` } });
    });
    await page.reload();
    await page.locator("h1 .badge", { hasText: "v1 live" }).waitFor();
    await page.goto(studio("flows"));
    await page.getByText("The list ends after 10,000 entries.").waitFor({ timeout: 60_000 });
    assert.equal(await page.locator(".of-flows tbody tr").count(), 10_000);
  },

  async "the JSON of a flow that is no JSON yet stays, and its steps wait"() {
    await api("POST", "flows", {
      kind: "flow", key: "unfinished", name: "Unfinished", trigger: { type: "manual" }, steps: [{ name: "one", type: "code", source: "export default () => 1;" }],
    });
    const page = await fresh();
    await signIn(page, "flows/unfinished");
    const text = page.locator(".cm-content");
    const add = page.getByRole("button", { name: "Add a step here" });
    await page.getByRole("tab", { name: "JSON" }).click();
    await text.click();
    await page.keyboard.press("Control+End");
    await page.keyboard.type("x");
    await page.locator(".json-view .stale").waitFor();
    assert.equal(await add.count(), 0);
    await page.getByRole("tab", { name: "Step" }).click();
    await page.locator(".toast", { hasText: "No JSON yet" }).waitFor();
    await page.getByRole("button", { name: /^Trigger/ }).click();
    assert.match(await text.textContent(), /x$/);
    await text.click();
    await page.keyboard.press("Control+End");
    await page.keyboard.press("Backspace");
    await page.locator(".json-view .stale").waitFor({ state: "detached" });
    await page.getByRole("tab", { name: "Step" }).click();
    await text.waitFor({ state: "detached" });
    await add.first().waitFor();
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

  async "branches and loops are drawn, and each try of their steps is in the timeline"() {
    await api("POST", "flows", {
      kind: "flow", key: "branching", name: "Branching", trigger: { type: "manual" },
      steps: [
        { name: "each", type: "loop", items: "{{ trigger.items }}", steps: [{ name: "double", type: "code", source: "export default (input) => input * 2;", input: "{{ item }}" }] },
        { name: "size", type: "branch", branches: [{ when: "trigger.items|length > 2", steps: [{ name: "many", type: "code", source: "export default () => 'many';" }] }], otherwise: [{ name: "few", type: "code", source: "export default () => 'few';" }] },
      ],
    });
    await api("POST", "flows/branching/publication", {});
    const { run } = await (await api("POST", "flows/branching/runs", { items: [1, 2, 3] })).json();
    const page = await fresh();
    await signIn(page, "flows/branching");
    for (const name of ["double", "many", "few"]) await page.locator(".step", { hasText: name }).first().waitFor();
    await accessible(page, "a map with branches");
    if (pictures) writeFileSync(`${pictures}/branching.png`, await page.screenshot());
    await page.goto(studio(`runs/${run}`));
    await page.locator(".time-row", { hasText: "many" }).waitFor();
    const rows = await page.locator(".time-row b").allTextContents();
    assert.ok(!rows.some((name) => name.includes("few")), "the other branch did not run");
    assert.equal(rows.filter((name) => name.includes("double")).length, 3, `${rows}`);
  },

  async "a run that waits is shown live, and cancelled"() {
    await api("POST", "flows", {
      kind: "flow", key: "patient", name: "Patient", trigger: { type: "manual" },
      steps: [{ name: "first", type: "code", source: "export default () => 1;" }, { name: "pause", type: "wait", delayMs: 3600000 }],
    });
    await api("POST", "flows/patient/publication", {});
    const page = await fresh();
    await signIn(page, "runs?flow=patient");
    // The list is live: the run appears without a reload.
    const { run } = await (await api("POST", "flows/patient/runs", {})).json();
    await page.getByRole("row", { name: new RegExp(`waiting.*${run}`) }).waitFor();
    await page.getByRole("link", { name: run }).click();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.locator("h1 .badge", { hasText: "cancelled" }).waitFor();
    assert.equal((await (await api("GET", `runs/${run}`)).json()).state, "cancelled");
    await page.getByRole("button", { name: "Retry all" }).click();
    await page.locator("h1 .badge", { hasText: "waiting" }).waitFor();
    const again = page.url().split("/").at(-1);
    assert.equal((await (await api("GET", `runs/${again}`)).json()).retryOf, run);
    await api("POST", `runs/${again}/cancel`);
    // The other page shows what happened here.
    await page.locator("h1 .badge", { hasText: "cancelled" }).waitFor();
    // Operations shows how runs ended.
    await page.getByRole("link", { name: "Operations" }).click();
    await page.getByRole("heading", { name: "Operations" }).waitFor();
    await page.getByText(/cancelled/i).first().waitFor();
  },
};
