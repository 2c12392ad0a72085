// Studio in a real browser, as its users use it. Called with the folder of node_modules, the program
// of the browser, the address of a new service, its admin key, and a folder for pictures. The environment
// variable PART chooses one of two parts, which may play at once on services of their own; ONLY, a
// regular expression, chooses scenarios by their names. Later ones of a part use what earlier ones made.

import { strict as assert } from "node:assert";
import { readFileSync, writeFileSync } from "node:fs";
import access from "./access.mjs";
import { api, browser, complaints, pictures } from "./browser.mjs";
import editor from "./editor.mjs";
import flows from "./flows.mjs";
import library from "./library.mjs";
import limits from "./limits.mjs";
import pages from "./pages.mjs";
import together from "./together.mjs";
import versions from "./versions.mjs";

const parts = {
  templates: { ...editor, ...versions, ...together, ...limits },
  service: { ...flows, ...library, ...access, ...pages },
};
const { PART } = process.env;
const scenarios = PART ? parts[PART] : { ...parts.templates, ...parts.service };
if (PART === "service") {
  // What the other part begins with.
  const [template, data] = ["template", "data"].map((name) => JSON.parse(readFileSync(new URL(`../../examples/invoice-de/${name}.json`, import.meta.url))));
  await api("POST", "templates", { ...template, key: "our-invoice", name: "Our invoice" });
  await api("PUT", "templates/our-invoice/sample", data);
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
