// What pdf.js, the reader of browsers, finds in a PDF file: FOLDER FILE [PASSWORD]. Prints JSON:
// the words of each page, and what the file permits (null for everything).
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [folder, file, password] = process.argv.slice(2);
// It says that it cannot draw without a package that is not needed for texts.
console.warn = () => {};
console.log = () => {};
const { getDocument } = await import(
  pathToFileURL(`${folder}/node_modules/pdfjs-dist/legacy/build/pdf.mjs`)
);
const data = new Uint8Array(readFileSync(file));
try {
  const pdf = await getDocument({ data, password, verbosity: 0 }).promise;
  const pages = [];
  for (let number = 1; number <= pdf.numPages; number += 1) {
    const page = await pdf.getPage(number);
    const { items } = await page.getTextContent();
    pages.push(items.map((item) => item.str).join(" ").split(/\s+/).filter(Boolean));
  }
  const permissions = await pdf.getPermissions();
  process.stdout.write(JSON.stringify({ pages, permissions }));
} catch (error) {
  process.stdout.write(JSON.stringify({ error: error.name }));
}
