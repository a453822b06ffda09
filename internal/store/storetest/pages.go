package storetest

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

func testPageResults(t *testing.T, b *bench) {
	of := store.PageSource{Source: "0a1b", Reader: "tesseract|5.3.0|eng|300 dpi"}
	get := func(b *bench, s store.PageSource, first, count int) []store.PageResult {
		t.Helper()
		found, err := b.PageResults(b.ctx(), s, first, count)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	keep := func(b *bench, pages ...store.PageResult) {
		t.Helper()
		if err := b.KeepPageResults(b.ctx(), of, pages); err != nil {
			t.Fatal(err)
		}
	}
	if found := get(b, of, 1, 64); len(found) != 0 {
		t.Fatalf("%v", found)
	}
	any256 := make([]byte, 256) // no byte is special
	for i := range any256 {
		any256[i] = byte(i)
	}
	one, two, large := store.PageResult{Page: 1, Reading: any256}, store.PageResult{Page: 2, Reading: []byte{0}},
		store.PageResult{Page: 64, Reading: bytes.Repeat([]byte{7}, store.MaxReading)}
	keep(b, two, large)
	keep(b, one, store.PageResult{Page: 1, Reading: []byte("a twin in one call")})
	keep(b, one) // replaced
	if found := get(b, of, 1, 64); !reflect.DeepEqual(found, []store.PageResult{one, two, large}) {
		t.Errorf("found %.100v", found)
	}
	if found := get(b, of, 2, 10); !reflect.DeepEqual(found, []store.PageResult{two}) {
		t.Errorf("from 2: %v", found)
	}
	if err := b.KeepPageResults(b.ctx(), of,
		[]store.PageResult{{Page: 3, Reading: make([]byte, store.MaxReading+1)}}); err == nil {
		t.Error("a reading over the limit was kept")
	}
	other := of
	other.Reader = "another"
	if found := get(b, other, 1, 64); len(found) != 0 {
		t.Errorf("another reader's: %v", found)
	}
	stranger := newBench(t, b.open)
	if found := get(stranger, of, 1, 64); len(found) != 0 {
		t.Errorf("I10: another client's pages: %v", found)
	}

	keep(stranger, one)
	expire := func(olderThan time.Duration, want int) {
		t.Helper()
		if n, err := b.ExpirePageResults(b.ctx(), olderThan, 2); err != nil || n != want {
			t.Errorf("expired %d, want %d: %v", n, want, err)
		}
	}
	expire(time.Hour, 0) // none is an hour old
	expire(0, 2)         // at most two
	expire(0, 1)
	expire(0, 0)
	if found := get(stranger, of, 1, 64); len(found) != 1 {
		t.Error("I10: another client's pages expired")
	}
	for range 5 { // jobs with the same scan, whose file names the links have
		m, _ := b.run()
		of.JobID = m.JobID
		keep(b, one)
	}
	expire(0, 2) // one result, and two links
	expire(0, 2)
	expire(0, 1)
	expire(0, 0)
}

// testCanceledReadings: a cancel removes the page results of the job, also while its worker is dead. They stay if
// another job or document uses them, and if the job fails.
func testCanceledReadings(t *testing.T, b *bench) {
	read := func(b *bench, job, source string) {
		t.Helper()
		if err := b.KeepPageResults(b.ctx(), store.PageSource{Source: source, Reader: "r", JobID: job},
			[]store.PageResult{{Page: 1, Reading: []byte("read")}}); err != nil {
			t.Fatal(err)
		}
	}
	cancel := func(h store.Holder) {
		t.Helper()
		if _, err := b.RequestCancel(b.ctx(), h.JobID, "ann"); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Canceled(b.ctx(), h, nil); err != nil {
			t.Fatal(err)
		}
	}
	neighbour := newBench(t, b.open)
	m, h := b.run()
	twin, _ := neighbour.run(func(other *store.Begin) { other.JobID = m.JobID })
	read(b, m.JobID, "alone")
	read(neighbour, twin.JobID, "alone")
	cancel(h)
	b.wantReadings("alone", 0)
	neighbour.wantReadings("alone", 1) // I10
	read(b, m.JobID, "alone")          // by a worker that does not know of the cancel
	b.wantReadings("alone", 0)

	m, h = b.run()
	read(b, m.JobID, "dead")
	b.loseWorker(h)
	if j, err := b.RequestCancel(b.ctx(), m.JobID, "ann"); err != nil || j.Status != "canceled" {
		t.Fatalf("%+v, %v", j, err)
	}
	b.wantReadings("dead", 0)

	_, one := b.run()
	_, two := b.run()
	read(b, one.JobID, "shared")
	found, err := b.PageResults(b.ctx(), store.PageSource{Source: "shared", Reader: "r", JobID: two.JobID}, 1, 64)
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	cancel(one)
	b.wantReadings("shared", 1)
	cancel(two)
	b.wantReadings("shared", 0)

	b.ingest("scan.pdf", "its text") // of the bytes sha-1
	_, h = b.run()
	read(b, h.JobID, "sha-1")
	cancel(h)
	b.wantReadings("sha-1", 1)
	b.keepReading("older") // by an older worker, which sends no job id
	_, h = b.run()
	cancel(h)
	b.wantReadings("older", 1)

	m, h = b.run()
	read(b, m.JobID, "failed")
	b.fail(h, m)
	b.wantReadings("failed", 1) // a replay reads no page again
}

// testPageLog: the version has the page log, and the result has it also if nothing changed.
func testPageLog(t *testing.T, b *bench) {
	_, h := b.run()
	s, err := b.StageDocument(b.ctx(), staging(h, "scan.pdf"))
	if err != nil {
		t.Fatal(err)
	}
	b.stage(h, s, "one")
	e := activate(s, 1)
	args, ok := e.Args.(store.Activation)
	if !ok {
		t.Fatalf("%T", e.Args)
	}
	type decision map[string]any
	args.PageLog = []decision{
		{"first": 1, "last": 4, "method": "ocr", "confidence": 0.9, "reason": "no text"},
		{"first": 5, "last": 9, "method": "native", "confidence": 1, "reason": "text"},
		{"first": 10, "last": 10, "method": "mixed", "confidence": 0.8, "reason": "stamp"},
	}
	e.Args = args
	ocrPages := func(settled store.Settlement) int {
		var result struct {
			OCRPages int `json:"ocr_pages"`
		}
		if err := json.Unmarshal(settled.Result, &result); err != nil {
			t.Fatal(err)
		}
		return result.OCRPages
	}
	if n := ocrPages(b.complete(h, e)); n != 5 {
		t.Errorf("ocr_pages: %d", n)
	}
	_, h = b.run()
	if s, err = b.StageDocument(b.ctx(), staging(h, "scan.pdf")); err != nil {
		t.Fatal(err)
	}
	keep := store.Effect{
		Kind: store.EffectKeepDocument, Args: store.Retention{DocumentID: s.DocumentID, Version: s.Version, Blob: "b"},
	}
	if n := ocrPages(b.complete(h, keep)); n != 5 {
		t.Errorf("ocr_pages when kept: %d", n)
	}
}
