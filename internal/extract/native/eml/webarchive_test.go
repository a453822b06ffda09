package eml_test

import (
	"strings"
	"testing"
)

const saved = "From: <Saved by Blink>\nSubject: Page\nMIME-Version: 1.0\n"

// resource is a part of a web archive.
func resource(kind, location, content string) string {
	return "Content-Type: " + kind + "\nContent-ID: <" + location + "@mhtml.blink>\nContent-Location: https://example.com/" +
		location + "\n\n" + content
}

// Of a web archive, as browsers and Confluence write it, only the page is text.
func TestWebArchive(t *testing.T) {
	t.Parallel()
	root := resource("text/html", "index.html", "<p>The page.</p>")
	for name, tt := range map[string]struct{ mail, want string }{
		"browser": {
			saved + multi("related", "b", root, resource("text/css", "a.css", "p { color: red }"),
				resource("image/png", "a.png", "PNG"), resource("text/html", "frame", "<p>An advertisement.</p>"),
				resource("text/javascript", "a.js", "run()"), resource("font/woff2", "a.woff2", "font")),
			"# Page\n\nThe page.\n",
		},
		"frame without a location": {
			saved + multi("related", "b", root, "Content-Type: text/html\n\n<p>A frame.</p>"), "# Page\n\nThe page.\n",
		},
		"Confluence": {
			"Subject: Exported From Confluence\n" + multi("related", "b", root,
				"Content-Type: application/octet-stream\nContent-Location: file:///C:/0f1e\n\nPNG"),
			"# Exported From Confluence\n\nThe page.\n",
		},
		"Internet Explorer": {
			strings.Replace(saved, "<Saved by Blink>", `"Saved by Internet Explorer 11"`, 1) + multi("related", "b", root),
			"# Page\n\nThe page.\n",
		},
		"in a message": {
			head + multi("mixed", "b", plain, attach("page.eml", []byte(saved+multi("related", "c", root, root)))),
			"# S\n\nFrom: a@example.com\n\nThe plain text.\n\n## Page\n\nThe page.\n",
		},
		"attachments of a page that was sent": {
			head + multi("related", "b", root, attach("a.txt", []byte("Notes.")), strings.Replace(attach("b.txt", []byte("More.")),
				"Content-Disposition: attachment; file", "Content-Location: b.txt\nContent-Disposition: inline; file", 1)),
			"# S\n\nFrom: a@example.com\n\nThe page.\n\n## a.txt\n\nNotes.\n\n## b.txt\n\nMore.\n",
		},
		"pages without locations": {head + multi("related", "b", page, page), "# S\n\nFrom: a@example.com\n\nThe page.\n\nThe page.\n"},
		"style and picture of a message": {
			head + multi("mixed", "b", plain, "Content-Type: text/css\n\np { color: red }",
				"Content-Type: image/png\nContent-Location: logo.png\n\nPNG"),
			"# S\n\nFrom: a@example.com\n\nThe plain text.\n",
		},
		"person": {
			"From: Saved by Grace <s@example.com>\nSubject: S\n\nText.", "# S\n\nFrom: Saved by Grace &lt;s@example.com>\n\nText.\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := markdown(t, tt.mail); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
			doc := read(t, tt.mail)
			if author := doc.Properties["author"]; unread(doc) != "" || strings.HasPrefix(tt.mail, saved) && author != "" {
				t.Errorf("author %q, warnings %q", author, doc.Warnings)
			}
		})
	}
}
