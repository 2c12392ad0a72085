// An identity provider that lies as it is told, for the refusals of a sign-in. It speaks as little of the
// protocol as the service needs, and signs with RSA.

import { createServer } from "node:http";
import { createHash, createHmac, createSign, generateKeyPairSync } from "node:crypto";

const encoded = (value) => Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");
const pair = () => generateKeyPairSync("rsa", { modulusLength: 2048 });

/** Starts the provider; `sin` of what it returns is what it does wrong. */
export async function startLiar(client, secret) {
  const known = pair();
  const unknown = pair();
  const liar = { sin: "", issuer: "", claims: { sub: "ada", groups: ["doc-admins"] }, codes: new Map(), asked: 0 };
  const server = createServer(async (request, response) => {
    const url = new URL(request.url, liar.issuer);
    let body = "";
    for await (const part of request) body += part;
    const answer = (value, status = 200) => response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(value));
    if (url.pathname === "/.well-known/openid-configuration") {
      return answer({
        issuer: liar.issuer, authorization_endpoint: `${liar.issuer}/auth`, token_endpoint: `${liar.issuer}/token`,
        jwks_uri: `${liar.issuer}/keys`, userinfo_endpoint: `${liar.issuer}/me`,
      });
    }
    if (url.pathname === "/keys") return answer({ keys: [{ ...known.publicKey.export({ format: "jwk" }), kid: "1", use: "sig", alg: "RS256" }] });
    if (url.pathname === "/me") return answer(liar.sin === "user information of somebody else" ? { sub: "eve", groups: ["doc-admins"] } : liar.claims);
    if (url.pathname !== "/token") return answer({}, 404);
    liar.asked += 1;
    const form = new URLSearchParams(body);
    const begun = liar.codes.get(form.get("code"));
    const isClient = request.headers.authorization === `Basic ${Buffer.from(`${client}:${secret}`).toString("base64")}`;
    const challenge = createHash("sha256").update(form.get("code_verifier") ?? "").digest("base64url");
    if (!begun || !isClient || challenge !== begun.challenge || form.get("redirect_uri") !== begun.redirect) return answer({ error: "invalid_grant" }, 400);
    if (liar.sin === "an error of the provider") return answer({ error: "server_error" }, 500);
    if (liar.sin === "no JSON") return response.writeHead(200).end("<html>");
    return answer({ access_token: "access", token_type: "Bearer", id_token: token(liar, begun, { known, unknown, client, secret }) });
  });
  await new Promise((done) => { server.listen(0, "127.0.0.1", done); });
  liar.issuer = `http://127.0.0.1:${server.address().port}`;
  liar.stop = () => server.close();
  return liar;
}

/** The ID token of a code, with what is wrong with it. */
function token(liar, begun, { known, unknown, client, secret }) {
  const now = Math.floor(Date.now() / 1000);
  const { sin } = liar;
  const claims = { iss: liar.issuer, aud: client, iat: now, exp: now + 300, nonce: begun.nonce, ...liar.claims };
  if (sin === "user information of somebody else") delete claims.groups;
  if (sin === "another nonce") claims.nonce = "x";
  if (sin === "no nonce") delete claims.nonce;
  if (sin === "another audience") claims.aud = "other";
  if (sin === "another party") Object.assign(claims, { aud: [client, "other"], azp: "other" });
  if (sin === "another issuer") claims.iss = "http://127.0.0.1:1";
  if (sin === "an end in the past") claims.exp = now - 120;
  const header = { alg: "RS256", kid: "1" };
  if (sin === "no signature") header.alg = "none";
  if (sin === "the client's secret as a key") header.alg = "HS256";
  if (sin === "the key of somebody else, by another name") header.kid = "2";
  const message = `${encoded(header)}.${encoded(claims)}`;
  if (header.alg === "none") return `${message}.`;
  if (header.alg === "HS256") return `${message}.${createHmac("sha256", secret).update(message).digest("base64url")}`;
  const isOther = sin.startsWith("the key of somebody else");
  const signature = createSign("RSA-SHA256").update(message).sign((isOther ? unknown : known).privateKey).toString("base64url");
  if (sin === "a changed claim") return `${encoded(header)}.${encoded({ ...claims, sub: "eve" })}.${signature}`;
  return `${message}.${signature}`;
}

/** What is refused. */
export const SINS = [
  "another nonce", "no nonce", "another audience", "another party", "another issuer", "an end in the past", "no signature",
  "the client's secret as a key", "the key of somebody else", "the key of somebody else, by another name", "a changed claim",
  "user information of somebody else", "an error of the provider", "no JSON",
];
