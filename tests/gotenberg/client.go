// Forms as programs in Go send them, by mime/multipart: files first, as application/octet-stream, then
// fields, in any order, and with fields that gotenberg-go-client's own tests do not send.
//
//	go run client.go http://127.0.0.1:3000
package main

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"mime/multipart"
	"net/http"
	"os"
)

const page = "<!doctype html><title>T</title><h1>One</h1><p style='break-before: page'>Two</p>"
const letter = `<?xml version="1.0" encoding="UTF-8"?>` +
	`<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"` +
	` xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" office:version="1.2"` +
	` office:mimetype="application/vnd.oasis.opendocument.text">` +
	`<office:body><office:text><text:p>Dear reader</text:p></office:text></office:body>` +
	`</office:document>`

// send posts a form. Streamed, it has no Content-Length.
func send(route string, streamed bool, files map[string]string, fields map[string]string) []byte {
	body := &bytes.Buffer{}
	form := multipart.NewWriter(body)
	for name, content := range files {
		part, err := form.CreateFormFile("files", name)
		check(err)
		_, err = io.WriteString(part, content)
		check(err)
	}
	for name, value := range fields {
		check(form.WriteField(name, value))
	}
	check(form.Close())
	var reader io.Reader = body
	if streamed {
		reader = io.MultiReader(body)
	}
	request, err := http.NewRequest(http.MethodPost, os.Args[1]+"/forms/"+route, reader)
	check(err)
	request.Header.Set("Content-Type", form.FormDataContentType())
	request.Header.Set("Gotenberg-Output-Filename", "mine")
	answer, err := http.DefaultClient.Do(request)
	check(err)
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	check(err)
	if answer.StatusCode != http.StatusOK {
		log.Fatalf("%s: %s: %s", route, answer.Status, content)
	}
	return content
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func begins(content []byte, with string) string {
	if !bytes.HasPrefix(content, []byte(with)) {
		log.Fatalf("not %q: %q", with, content[:min(len(content), 40)])
	}
	return string(content)
}

func main() {
	pdf := begins(send("chromium/convert/html", false, map[string]string{"index.html": page},
		map[string]string{"paperWidth": "8.27", "paperHeight": "11.7", "marginTop": "0", "landscape": "true",
			"scale": "0.75", "printBackground": "true", "nativePageRanges": "1-2"}), "%PDF-")
	begins(send("chromium/screenshot/html", true, map[string]string{"index.html": page},
		map[string]string{"format": "png", "width": "300", "height": "200", "clip": "true"}), "\x89PNG")
	begins(send("libreoffice/convert", true, map[string]string{"a.fodt": letter, "b.fodt": letter},
		map[string]string{"merge": "true", "exportNotesInMargin": "false", "exportLinksRelativeFsys": "false",
			"allowDuplicateFieldNames": "true", "exportBookmarksToPdfDestination": "false",
			"convertOooTargetToPdfTarget": "false", "losslessImageCompression": "false", "quality": "90",
			"reduceImageResolution": "true", "maxImageResolution": "150"}), "%PDF-")
	files := map[string]string{"1.pdf": pdf, "2.pdf": pdf}
	merged := begins(send("pdfengines/merge", true, files, nil), "%PDF-")
	begins(send("pdfengines/split", false, map[string]string{"m.pdf": merged},
		map[string]string{"splitMode": "pages", "splitSpan": "1-2", "splitUnify": "true"}), "%PDF-")
	begins(send("pdfengines/metadata/write", false, map[string]string{"m.pdf": merged},
		map[string]string{"metadata": `{"Title":"T"}`}), "%PDF-")
	fmt.Println("done")
}
