// Scenarios that look at every page.

import { strict as assert } from "node:assert";
import { writeFileSync } from "node:fs";
import { accessible, api, fresh, key, pictures, studio } from "./browser.mjs";

export default {
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
