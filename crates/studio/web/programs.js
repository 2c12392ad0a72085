// The call of the API that renders a template, in the languages of programs.

/** Longest sample that stands in a program, in characters; a longer one is read from a file. */
const MOST_INLINE = 4000;
/** The file that a long sample is read from. */
export const SAMPLE_FILE = "sample.json";

/**
 * Whether programs read the sample from a file.
 * @param {string} data as JSON
 */
export const isInFile = (data) => data.length > MOST_INLINE;

/**
 * A program for each language.
 * @param {string} url of the call
 * @param {string} key of the template
 * @param {string} data the sample, as JSON
 * @returns {{[language: string]: string}}
 */
export function programsOf(url, key, data) {
  const call = isInFile(data) ? fromFile(key) : inline(key, data);
  const link = JSON.stringify(url);
  return {
    curl: `${call.before.curl}curl -sS --fail-with-body ${url} \\
  -H "X-Api-Key: $PLATEN_API_KEY" -H "Content-Type: application/json" \\
  ${call.data.curl} -o ${key}.pdf`,
    TypeScript: `${call.before.TypeScript}const response = await fetch(${link}, {
  method: "POST",
  headers: { "X-Api-Key": process.env.PLATEN_API_KEY!, "Content-Type": "application/json" },
  body: JSON.stringify({ template: "${key}", data: ${call.data.TypeScript} }),
});
if (!response.ok) throw new Error((await response.json()).detail);
const pdf = new Uint8Array(await response.arrayBuffer());`,
    Python: `import json, os, urllib.request

data = ${call.data.Python}
request = urllib.request.Request(
    ${link},
    data=json.dumps({"template": "${key}", "data": data}).encode(),
    headers={"X-Api-Key": os.environ["PLATEN_API_KEY"], "Content-Type": "application/json"},
)
with urllib.request.urlopen(request) as response, open("${key}.pdf", "wb") as file:
    file.write(response.read())`,
    Rust: `let data: serde_json::Value = ${call.data.Rust};
let pdf = reqwest::Client::new()
    .post(${link})
    .header("X-Api-Key", std::env::var("PLATEN_API_KEY")?)
    .json(&serde_json::json!({"template": "${key}", "data": data}))
    .send()
    .await?
    .error_for_status()?
    .bytes()
    .await?;`,
  };
}

/** @param {string} key */
const fromFile = (key) => ({
  before: {
    curl: `{ printf '{"template": "${key}", "data": '; cat ${SAMPLE_FILE}; printf '}'; } |\n`,
    TypeScript: `import { readFileSync } from "node:fs";\n\n`,
  },
  data: {
    curl: "--data-binary @-",
    TypeScript: `JSON.parse(readFileSync("${SAMPLE_FILE}", "utf8"))`,
    Python: `json.load(open("${SAMPLE_FILE}", encoding="utf-8"))`,
    Rust: `serde_json::from_slice(&std::fs::read("${SAMPLE_FILE}")?)?`,
  },
});

/**
 * The data as a literal of each language, whatever quotes and signs of escape stand in it.
 * @param {string} key
 * @param {string} data
 */
function inline(key, data) {
  // A raw text of Rust ends at a quote with as many # as it began with.
  let marks = "#";
  while (data.includes(`"${marks}`)) marks += "#";
  return {
    before: { curl: "", TypeScript: "" },
    data: {
      curl: `-d '${`{"template": "${key}", "data": ${data}}`.replaceAll("'", "'\\''")}'`,
      TypeScript: data,
      Python: data.includes("'''") ? `json.loads(${JSON.stringify(data)})` : `json.loads(r'''${data}''')`,
      Rust: `serde_json::from_str(r${marks}"${data}"${marks})?`,
    },
  };
}
