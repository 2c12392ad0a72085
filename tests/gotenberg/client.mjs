// Chromiumly, an npm client of Gotenberg, against an address: every route that it and the service
// have.
//
//     node client.mjs FOLDER_OF_THE_PACKAGE http://127.0.0.1:3000
import assert from 'node:assert';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const [folderOfPackage, endpoint] = process.argv.slice(2);
const client = createRequire(import.meta.url)(folderOfPackage);
client.Chromiumly.configure({ endpoint });

const page = '<!doctype html><title>T</title><h1>One</h1><p style="break-before: page">Two</p>';
const letter =
    '<?xml version="1.0" encoding="UTF-8"?>' +
    '<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"' +
    ' xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" office:version="1.2"' +
    ' office:mimetype="application/vnd.oasis.opendocument.text">' +
    '<office:body><office:text><text:p>Dear reader</text:p></office:text></office:body>' +
    '</office:document>';

const folder = mkdtempSync(join(tmpdir(), 'client-'));
const file = (name, content) => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
};
const isPdf = (answer) => {
    assert.equal(answer.subarray(0, 5).toString(), '%PDF-');
    return answer;
};
const isZip = (answer) => assert.equal(answer.subarray(0, 2).toString(), 'PK');
const isPng = (answer) => assert.equal(answer.subarray(1, 4).toString(), 'PNG');

async function chromium() {
    const html = file('page.html', page);
    const pdf = await new client.HtmlConverter().convert({
        html,
        properties: { size: { width: 5, height: 8 }, landscape: true, margins: { top: 0, bottom: 0, left: 0, right: 0 } },
        emulatedMediaType: 'screen',
        waitDelay: '10ms',
        extraHttpHeaders: { 'x-one': '1' },
        skipNetworkIdleEvent: false,
        metadata: { Author: 'Me' },
        outputFilename: 'mine',
        trace: 'trace-1',
    });
    const properties = { format: 'png', width: 200, height: 100 };
    isPng(await new client.HtmlScreenshot().capture({ html, properties }));
    const index = file('markdown.html', '<body>{{ toHTML "a.md" }}</body>');
    const markdown = { file: file('a.md', '# One\n\n* two\n'), name: 'a.md' };
    isPdf(await new client.MarkdownConverter().convert({ html: index, markdown: [markdown] }));
    return isPdf(pdf);
}

async function libreoffice() {
    const files = [file('a.fodt', letter), file('b.fodt', letter)];
    isPdf(await client.LibreOffice.convert({ files: files.slice(0, 1), pdfa: client.PdfFormat.A_2b }));
    isPdf(await client.LibreOffice.convert({ files, merge: true, quality: 80, zoom: 50, hideViewerMenubar: true }));
    isZip(await client.LibreOffice.convert({ files, merge: false, properties: { landscape: true } }));
}

async function pdfEngines(pdf) {
    const files = [file('1.pdf', pdf), file('2.pdf', pdf)];
    const merged = [file('merged.pdf', isPdf(await client.PDFEngines.merge({ files })))];
    isZip(await client.PDFEngines.split({ files: merged, options: { mode: 'intervals', span: '3' } }));
    isPdf(await client.PDFEngines.flatten(merged));
    const metadata = { Title: 'Straße', Keywords: ['a', 'b'] };
    const changed = file('changed.pdf', isPdf(await client.PDFEngines.writeMetadata({ files: merged, metadata })));
    const read = JSON.parse((await client.PDFEngines.readMetadata({ files: [changed] })).toString());
    assert.equal(read['changed.pdf'].Title, 'Straße');
    assert.equal(read['changed.pdf'].PageCount, 4);
    isPdf(await client.PDFEngines.convert({ files: files.slice(0, 1), pdfa: client.PdfFormat.A_2b }));
    await assert.rejects(client.PDFEngines.split({ files: merged, options: { mode: 'pages', span: '9' } }), /400/);
}

try {
    const health = JSON.parse((await client.System.getHealth()).toString());
    assert.equal(health.status, 'up');
    assert((await client.System.getVersion()).length > 0);
    const pdf = await chromium();
    await libreoffice();
    await pdfEngines(pdf);
    console.log('done');
} finally {
    rmSync(folder, { recursive: true });
}
