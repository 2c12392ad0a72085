// Sign-in by an identity provider, in a real browser with a real provider (oidc-provider), and with one
// that lies. Called with the folders of node_modules of the browser's driver and of the provider, and the
// program of the browser. It writes the issuers as JSON, and reads the addresses of services that
// have them.

import { createRequire } from "node:module";
import { createServer } from "node:http";
import { generateKeyPairSync } from "node:crypto";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { strict as assert } from "node:assert";
import { startLiar, SINS } from "./provider.mjs";

const [modules, providers, program] = process.argv.slice(2);
const require = createRequire(`${modules}/`);
const { chromium } = require("playwright-core");
const { Provider } = await import(pathToFileURL(createRequire(`${providers}/`).resolve("oidc-provider")).href);
const [CLIENT, SECRET] = ["platen", "a secret: of the client / 7"];
const GROUPS = { ada: ["doc-admins", "staff"], vera: ["staff"], paul: ["editors"] };

const jwk = (kind, options, alg) => ({ ...generateKeyPairSync(kind, options).privateKey.export({ format: "jwk" }), use: "sig", alg });
const keys = [jwk("rsa", { modulusLength: 2048 }, "RS256"), jwk("ec", { namedCurve: "P-256" }, "ES256")];

/** A server for a provider that is made once its client is known. */
async function reserve() {
  const server = createServer((request, response) => server.provider(request, response));
  await new Promise((done) => { server.listen(0, "127.0.0.1", done); });
  return server;
}

/** Makes the provider of a server, for the client at `address`. */
function provide(server, address, { alg, method, inToken }) {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    clients: [{
      client_id: CLIENT, client_secret: SECRET, redirect_uris: [`${address}/studio/sign-in/callback`],
      post_logout_redirect_uris: [`${address}/studio`], response_types: ["code"],
      grant_types: ["authorization_code"], id_token_signed_response_alg: alg, token_endpoint_auth_method: method,
    }],
    clientAuthMethods: [method],
    pkce: { required: () => true },
    scopes: ["openid", "profile", "email"],
    claims: { openid: ["sub"], profile: ["name", "preferred_username", "groups"], email: ["email"] },
    conformIdTokenClaims: !inToken,
    jwks: { keys },
    cookies: { keys: ["for tests"] },
    features: { devInteractions: { enabled: true }, userinfo: { enabled: true } },
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, name: id, preferred_username: id, groups: GROUPS[id] ?? [] }) }),
  });
  server.provider = provider.callback();
}

const kinds = [{ alg: "RS256", method: "client_secret_basic", inToken: false }, { alg: "ES256", method: "client_secret_post", inToken: true }];
const servers = await Promise.all(kinds.map(reserve));
// RFC 6749 encodes a secret before it becomes a part of Basic credentials.
const liar = await startLiar(CLIENT, encodeURIComponent(SECRET));
console.log(JSON.stringify({ client: CLIENT, secret: SECRET, issuers: [...servers.map((one) => `http://127.0.0.1:${one.address().port}`), liar.issuer] }));
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const addresses = JSON.parse((await lines.next()).value);
kinds.forEach((kind, index) => provide(servers[index], addresses[index], kind));

const browser = await chromium.launch({ executablePath: program, args: ["--no-sandbox"] });

/** A page of a new profile, at Studio. */
async function fresh(address) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: "en-US" });
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  await page.goto(`${address}/studio`);
  return page;
}

/** Signs in at the provider, as far as its own pages. */
async function signIn(page, name) {
  await page.getByRole("link", { name: "Sign in with your organization" }).click();
  await page.locator("input[name=login]").fill(name);
  await page.locator("input[name=password]").fill("any");
  await page.locator("button[type=submit]").click();
  await page.getByRole("button", { name: "Continue" }).click();
}

const scenarios = {
  async "an administrator signs in, and a publisher and a viewer may less"() {
    for (const address of addresses.slice(0, 2)) {
      const page = await fresh(address);
      await signIn(page, "ada");
      await page.getByRole("link", { name: "Keys" }).waitFor();
      assert.ok(!/code=|state=/.test(page.url()), page.url());
      const cookies = await page.context().cookies(address);
      const session = cookies.find((one) => one.name === "platen_session");
      assert.ok(session.httpOnly && session.sameSite === "Strict");
      assert.ok(!cookies.some((one) => one.name === "platen_sign_in"), "its cookie is gone");
      await page.getByText("user ada").first().waitFor();
      await page.getByRole("link", { name: "Audit log" }).click();
      await page.getByText("Sign in", { exact: true }).first().waitFor();
      const idToken = cookies.find((one) => one.name === "platen_id_token");
      assert.ok(idToken.httpOnly && idToken.sameSite === "Strict");
      // The provider asks, and leads back; then it does not know her any more.
      await page.getByRole("button", { name: "Sign out" }).click();
      await page.getByRole("button", { name: "Yes, sign me out" }).click();
      await page.getByLabel("API key").waitFor();
      assert.equal(new URL(page.url()).pathname, "/studio");
      assert.deepEqual((await page.context().cookies(address)).map((one) => one.name), []);
      await page.getByRole("link", { name: "Sign in with your organization" }).click();
      await page.locator("input[name=login]").waitFor();
      const viewer = await fresh(address);
      await signIn(viewer, "vera");
      await viewer.getByText("read only").waitFor();
      assert.equal(await viewer.getByRole("link", { name: "Keys" }).count(), 0);
      const publisher = await fresh(address);
      await signIn(publisher, "paul");
      await publisher.getByRole("button", { name: "New template" }).waitFor();
      const refused = await publisher.evaluate(async () => (await fetch("keys")).status);
      assert.equal(refused, 403);
      for (const one of [page, viewer, publisher]) await one.context().close();
    }
  },

  async "who has no role, and who changes their mind, is told so"() {
    const page = await fresh(addresses[0]);
    await signIn(page, "nobody");
    await page.getByText("has no role here").waitFor();
    assert.ok(!(await page.context().cookies(addresses[0])).some((one) => one.name === "platen_session"));
    await page.context().close();
    const other = await fresh(addresses[0]);
    await other.getByRole("link", { name: "Sign in with your organization" }).click();
    await other.getByRole("link", { name: "Cancel" }).click();
    await other.getByText("was cancelled").waitFor();
    await other.context().close();
  },

  async "an answer that belongs to another browser signs nobody in"() {
    const page = await fresh(addresses[0]);
    let callback = "";
    page.on("request", (request) => { if (request.url().includes("/studio/sign-in/callback?")) callback = request.url(); });
    await signIn(page, "ada");
    await page.getByRole("link", { name: "Keys" }).waitFor();
    // Another browser with the address of this one, as an attacker would send it.
    const other = await fresh(addresses[0]);
    await other.goto(callback);
    await other.getByText("did not work").waitFor();
    assert.equal(await other.getByRole("link", { name: "Keys" }).count(), 0);
    for (const one of [page, other]) await one.context().close();
  },

  async "a provider that lies signs nobody in"() {
    assert.ok((await attempt("")).session, "it does when it does not lie");
    for (const sin of SINS) {
      const asked = liar.asked;
      const { session, location } = await attempt(sin);
      assert.equal(session, undefined, sin);
      assert.match(location, /signIn=failed/, sin);
      assert.equal(liar.asked, asked + 1, sin);
    }
    // The cookie and the state must be those of one sign-in, and the code must be there.
    const one = await begin();
    const other = await begin();
    for (const [cookie, query] of [
      [one.cookie, { code: other.code, state: other.state }], [other.cookie, { code: one.code, state: one.state }], ["", { code: one.code, state: one.state }],
      [one.cookie, { code: one.code }], [one.cookie, { state: one.state }], [one.cookie, { code: one.code, state: one.state, iss: "http://evil.example" }],
      [`${one.cookie}0`, { code: one.code, state: one.state }],
    ]) {
      const { session, location } = await answer(cookie, query);
      assert.equal(session, undefined, JSON.stringify(query));
      assert.match(location, /signIn=failed/);
    }
    assert.ok((await answer(one.cookie, { code: one.code, state: one.state })).session);
  },
};

/** Begins a sign-in at the service of the liar, which makes a code for it. */
async function begin() {
  const response = await fetch(`${addresses[2]}/studio/sign-in`, { redirect: "manual" });
  assert.equal(response.status, 303, await response.text());
  const place = new URL(response.headers.get("location"));
  const query = Object.fromEntries(place.searchParams);
  assert.equal(query.code_challenge_method, "S256");
  assert.equal(query.redirect_uri, `${addresses[2]}/studio/sign-in/callback`);
  const code = `code-${query.state.slice(0, 8)}`;
  liar.codes.set(code, { challenge: query.code_challenge, nonce: query.nonce, redirect: query.redirect_uri });
  const cookie = response.headers.get("set-cookie");
  assert.match(cookie, /HttpOnly; SameSite=Lax/);
  return { code, state: query.state, cookie: cookie.split(";")[0] };
}

async function answer(cookie, query) {
  const response = await fetch(`${addresses[2]}/studio/sign-in/callback?${new URLSearchParams(query)}`, { redirect: "manual", headers: cookie ? { Cookie: cookie } : {} });
  assert.equal(response.status, 303, await response.text());
  const cookies = response.headers.getSetCookie();
  return { location: response.headers.get("location"), session: cookies.find((one) => one.startsWith("platen_session=") && !one.includes("Max-Age=0")) };
}

async function attempt(sin) {
  liar.sin = sin;
  const { cookie, code, state } = await begin();
  return answer(cookie, { code, state }).finally(() => { liar.sin = ""; });
}

try {
  for (const [name, run] of Object.entries(scenarios)) {
    await run();
    console.log(`ok: ${name}`);
  }
} finally {
  await browser.close();
  liar.stop();
  servers.forEach((one) => one.close());
  servers.forEach((one) => one.closeAllConnections());
}
process.exit(0);
