package mbox_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
)

func reader() extract.Extractor { return native.Extractors(nil, nil)[extract.MBOX] }

const from = "From a@example.com Tue Mar  3 10:00:00 2026\n"

func TestMessages(t *testing.T) {
	t.Parallel()
	got := nativetest.Markdown(t, reader(), extract.MBOX, []byte(
		from+"Subject: One\n\nText of one.\n>From here on\nFrom there on\n\n"+
			from+"Subject: Two\nContent-Type: text/csv; name=a.csv\nContent-Disposition: attachment\n\na,b\n1,2\n\n"+
			"From b@example.com Tue Mar  3 10:00:00 2026\r\nSubject: Three\r\n\r\nThe end"))
	want := "# One\n\nText of one.  \nFrom here on  \nFrom there on\n\n# Two\n\n## a.csv\n\n| a | b |\n| - | - |\n" +
		"| 1 | 2 |\n\n# Three\n\nThe end\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A message with long lines, and one whose line is as long as the buffer before "From ".
func TestLongLines(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 64<<10)
	doc, err := nativetest.Extract(t, reader(), extract.MBOX, []byte(from+"Subject: One\n\n"+long+"From y\n\n"+from+
		"Subject: Two\n\n\n"), extract.Limits{})
	if err != nil || len(doc.Blocks) < 3 || doc.Blocks[len(doc.Blocks)-1].Text != "Two" {
		t.Errorf("%v, %d blocks", err, len(doc.Blocks))
	}
}

// Attachments of all messages count together; what is not read is named with its message.
func TestLimits(t *testing.T) {
	t.Parallel()
	var box strings.Builder
	for i := range 20 {
		fmt.Fprintf(&box, "%sSubject: %d\nContent-Type: text/x; name=a%d.txt\n\nText\n\n", from, i, i)
	}
	doc, err := nativetest.Extract(t, reader(), extract.MBOX, []byte(box.String()), extract.Limits{Files: 5})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(doc.Warnings, "\n"); !strings.HasPrefix(got, "15 attachments or parts could not be read: "+
		"message 6/a5.txt (at most 5 files") {
		t.Errorf("%s", got)
	}
}

// All mailboxes within a document have one limit of messages together: a zip archive of 70 KB holds a million.
func TestMailboxesOfAnArchive(t *testing.T) {
	t.Parallel()
	box := strings.Repeat(from+"Subject: One\n\n", 5)
	content := nativetest.Zip(t, "a.mbox", box, "b.mbox", box, "c.mbox", box)
	var missed []string
	within := &extract.Within{
		Files: 10, Pages: 10, Messages: 7, Bytes: 1 << 20, Unpacked: 1 << 20,
		Missed: func(name, reason string) { missed = append(missed, name+": "+reason) },
		Warned: func(name, warning string) { t.Errorf("%s: %s", name, warning) },
	}
	doc, err := nativetest.Extract(t, native.Extractors(nil, nil)[extract.Zip], extract.Zip, content,
		extract.Limits{Within: within})
	if err != nil {
		t.Fatal(err)
	}
	messages := 0
	for _, b := range doc.Blocks {
		if b.Text == "One" {
			messages++
		}
	}
	if all := strings.Join(missed, "\n"); messages != 7 || !strings.Contains(all, "b.mbox/message 3 and those after it") ||
		!strings.Contains(all, "c.mbox/message 1 and those after it") {
		t.Errorf("%d messages, %s", messages, all)
	}
}

func FuzzMailbox(f *testing.F) {
	f.Add([]byte(from + "Subject: One\n\nText\n\n" + from + "Subject: Two\n\n>From\n"))
	f.Add([]byte(from + "\n\nFrom \n\nFrom x\n\n"))
	e := reader()
	f.Fuzz(func(t *testing.T, content []byte) { nativetest.Fuzz(t, e, extract.MBOX, content) })
}
