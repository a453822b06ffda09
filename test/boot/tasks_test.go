package boot

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/ocr/ocrtest"
	"github.com/seed-7227ef26/async-worker/internal/stack"
)

// The tenants. The dash fails with a wrong specifier in the unit (%I instead of %i).
const (
	south = "southhaven"
	east  = "east-bay"
)

func tenants() []string { return []string{south, east} }

// twoTenants adds and enables two tenants, and runs a task of each.
func twoTenants(b *bed) {
	for _, client := range tenants() {
		b.add(client, nil)
	}
	b.m.run("systemctl", "enable", "--now", unit(south), unit(east))
	for _, client := range tenants() {
		if got := b.show(client, "ActiveState"); got != "active" {
			b.Fatalf("%s is %s\n%s", client, got, b.journal(client))
		}
		b.figure("%s: ready %d ms after the start of its process, started with another", client, b.ready(client))
	}
	b.works("first")
	for _, client := range tenants() {
		if n := query[int](b.h, "select count(*) from document_chunks where client_id = $1 and content like $2", client,
			"%first-"+client+"%"); n != 1 {
			b.Errorf("%s has %d chunks of its document, want 1", client, n)
		}
	}
	b.figure("a task of each tenant: done once, in Postgres, with one signed webhook")
}

// ready is the time from the start of a tenant's process to readiness, in milliseconds.
func (b *bed) ready(client string) int {
	b.Helper()
	return (b.number(client, "ActiveEnterTimestampMonotonic") - b.number(client,
		"ExecMainStartTimestampMonotonic")) / 1000
}

// documents has a PDF ingested and a scan read: poppler and tesseract work in the sandbox.
func documents(b *bed) {
	root, err := stack.Root()
	if err != nil {
		b.Fatal(err)
	}
	pdf, err := os.ReadFile(filepath.Join(root, "dev", "samples", "harbour-handbook.pdf"))
	if err != nil {
		b.Fatal(err)
	}
	scan, err := os.ReadFile(ocrtest.Write(b, ocrtest.Page{
		Image: ocrtest.Scan(b, 0, "The harbour master keeps a record", "of every ship that leaves the port.").Gray,
	}))
	if err != nil {
		b.Fatal(err)
	}
	b.h.send(south, "pdf", "ingest", "handbook.pdf", pdf)
	b.h.send(south, "scan", "ocr", "scan.pdf", scan)
	b.h.once(south, "pdf", 1)
	b.h.once(south, "scan", 1)
	if n := query[int](b.h, `select count(*) from document_chunks c
		join documents d on d.client_id = c.client_id and d.id = c.document_id and d.active_version = c.version
		where d.client_id = $1 and d.filename = 'handbook.pdf'`, south); n == 0 {
		b.Error("the PDF left no chunks")
	}
	read := b.h.webhook(b.T, "scan").Result
	if confidence, _ := read["mean_confidence"].(float64); read["ocr_engine"] != "tesseract" || confidence < 0.8 {
		b.Errorf("the scan was read as %v", read)
	}
	b.figure("in the sandbox: a PDF ingested, a scan read by %v with a confidence of %v", read["ocr_engine"],
		read["mean_confidence"])
}

// story checks the journal's entries of one task, and the status line.
func story(b *bed) {
	b.h.send(south, "tale", "ingest", "tale.txt", []byte("A tale of a ship."))
	b.h.once(south, "tale", 1)
	var entries string
	b.eventually("the journal's entries of the task", func() (string, bool) {
		entries = b.journal(south, "TASK_ID=tale")
		return entries, strings.Contains(entries, "succeeded")
	})
	for line := range strings.Lines(entries) {
		if !strings.Contains(line, "tale") {
			b.Errorf("in the entries of the task: %s", line)
		}
	}
	for _, other := range []string{"first", "pdf", "scan"} {
		if strings.Contains(entries, "task_id="+other) {
			b.Errorf("the task %s is in the entries of another:\n%s", other, entries)
		}
	}
	if all := b.journal(east, "TASK_ID=tale"); all != "" {
		b.Errorf("another tenant's journal has the task:\n%s", all)
	}
	b.figure("journalctl -u %s TASK_ID=tale: %d lines, of this task alone", unit(south), strings.Count(entries, "\n")+1)
	status := b.show(south, "StatusText")
	b.contains("systemctl status", b.m.run("systemctl", "status", "--no-pager", "--full", unit(south)),
		`Status: "`+status+`"`)
	b.figure("systemctl status: %q", status)
}
