// gotenberg-js-client, an npm client of Gotenberg whose requests are pipes of functions, against an
// address: the examples of its README, with the base URLs and paths that newer versions of Gotenberg
// have.
//
//     node client_pipes.mjs FOLDER_OF_THE_PACKAGE http://127.0.0.1:3000
import assert from 'node:assert';
import { createRequire } from 'node:module';

const [folderOfPackage, endpoint] = process.argv.slice(2);
const {
    a4, adjust, convert, filename, gotenberg, html, landscape, markdown, merge, office, pipe, please, scale, set,
    to,
} = createRequire(import.meta.url)(folderOfPackage);
const chromium = gotenberg(`${endpoint.replace(/\/$/, '')}/forms/chromium`);
const libreoffice = gotenberg(`${endpoint.replace(/\/$/, '')}/forms/libreoffice`);
const engines = gotenberg(`${endpoint.replace(/\/$/, '')}/forms/pdfengines`);

const page = '<!doctype html><title>T</title><h1>One</h1><p style="break-before: page">Two</p>';
const letter =
    '<?xml version="1.0" encoding="UTF-8"?>' +
    '<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"' +
    ' xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" office:version="1.2"' +
    ' office:mimetype="application/vnd.oasis.opendocument.text">' +
    '<office:body><office:text><text:p>Dear reader</text:p></office:text></office:body>' +
    '</office:document>';

async function pdfOf(answer) {
    const chunks = [];
    for await (const chunk of await answer) chunks.push(chunk);
    const pdf = Buffer.concat(chunks);
    assert.equal(pdf.subarray(0, 5).toString(), '%PDF-');
    return pdf;
}

// Chromium writes its page tree in plain text.
const pagesOf = (pdf) => Number(/\/Type \/Pages\s*\/Count (\d+)/.exec(pdf.toString('latin1'))?.[1]);

const plain = await pdfOf(pipe(chromium, convert, html, please)(page));
assert.equal(pagesOf(plain), 2);
const wide = pipe(chromium, convert, html, to(a4, landscape), set(scale(0.75)), please);
const assets = {
    'index.html': page,
    'header.html': '<html><body>above</body></html>',
    'footer.html': '<html><body>below</body></html>',
};
const box = /\/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]/.exec((await pdfOf(wide(assets))).toString('latin1'));
assert(Number(box[1]) > Number(box[2]), `landscape: ${box[0]}`);
// Its name of a field for page ranges is that of Gotenberg 6.
const one = pipe(chromium, convert, html, adjust({ fields: { nativePageRanges: '2' } }), please);
assert.equal(pagesOf(await pdfOf(one(page))), 1);

const text = { 'index.html': '<body>{{ toHTML "a.md" }}</body>', 'a.md': '# One\n\n* two\n' };
await pdfOf(pipe(chromium, convert, markdown, please)(text));

const path = { url: libreoffice('').url + '/convert' };
const print = pipe(libreoffice, convert, office, adjust(path), to(landscape), set(filename('result.pdf')), please);
await pdfOf(print({ 'letter.fodt': Buffer.from(letter) }));

const both = await pdfOf(pipe(engines, merge, please)({ '1.pdf': plain, '2.pdf': plain }));
assert(both.length > plain.length);
await assert.rejects(pipe(engines, merge, please)({ 'a.txt': 'a' }), /400/);
console.log('done');
