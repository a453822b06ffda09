package ingest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/handlers/ingest"
	"github.com/seed-7227ef26/async-worker/internal/enrich"
	"github.com/seed-7227ef26/async-worker/internal/privacy"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

func (b *bench) connect() *pgx.Conn {
	b.Helper()
	conn, err := pgx.Connect(b.Context(), b.URL)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = conn.Close(context.WithoutCancel(b.Context())) }) // at the end of the test
	return conn
}

// document is the row of a document.
type document struct {
	Title, Language string
	Outline         []struct {
		Level int
		Text  string
		Chunk *int
	}
	Properties   map[string]any
	PersonalData *struct {
		Mode, Detector string
		Found          map[string]int
		Incomplete     bool
	} `json:"personal_data"`
	ChunkLanguages []*string `json:"chunk_languages"`
}

func (b *bench) document() (d document) {
	b.Helper()
	var row []byte
	if err := b.connect().QueryRow(b.Context(), `select to_jsonb(d) || jsonb_build_object('chunk_languages',
		(select jsonb_agg(language order by position) from document_chunks)) from documents d`).Scan(&row); err != nil {
		b.Fatal(err)
	}
	if err := json.Unmarshal(row, &d); err != nil {
		b.Fatal(err)
	}
	return d
}

// prose returns a document of n sections in English.
func prose(n int) string {
	var s strings.Builder
	for i := range n {
		fmt.Fprintf(&s, "# Section %d\n\n", i)
		s.WriteString("The harbour was built in the last century, and most of the cranes that stand on its quays " +
			"are older than those who work there. " +
			"Nobody remembers who paid for them, although every winter somebody asks whether they should not be " +
			"replaced by something new. " +
			"When the tide is low, ships wait outside until the pilot comes on board, which may take a whole night " +
			"or even longer than that.\n\n")
	}
	return s.String()
}

// The properties of a document are in its row and in the result, and survive a task that finds it unchanged.
func TestEnrichment(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Put("handbook.md", "---\nauthor: Ada\ncreated: 2024-05-06\n---\n"+prose(20)+"\n# Kleines Nachwort\n\n"+
		strings.Repeat("Der Hafen wurde im letzten Jahrhundert gebaut, und die meisten Kräne sind älter als die "+
			"Menschen, die dort arbeiten. ", 5))
	for range 2 {
		if r := b.ingest(handbook, task.Hints{}); r.Title != "Section 0" || r.Language != "en" {
			t.Errorf("result: title %q, language %q", r.Title, r.Language)
		}
	}
	d := b.document()
	if d.Title != "Section 0" || d.Language != "en" || len(d.Outline) != 21 || d.PersonalData != nil {
		t.Errorf("row: %+v", d)
	}
	if h := d.Outline[20]; h.Text != "Kleines Nachwort" || h.Level != 1 || h.Chunk == nil ||
		*h.Chunk != len(d.ChunkLanguages)-1 {
		t.Errorf("last heading: %+v of %d chunks", h, len(d.ChunkLanguages))
	}
	if first, last := d.ChunkLanguages[0], d.ChunkLanguages[len(d.ChunkLanguages)-1]; first == nil || *first != "en" ||
		last == nil || *last != "de" {
		t.Errorf("chunks' languages: %v … %v", first, last)
	}
	if p := d.Properties; p["author"] != "Ada" || p["created"] != "2024-05-06T00:00:00Z" ||
		p["title_source"] != "heading" {
		t.Errorf("properties: %v", p)
	}
}

// private is a document with personal data in every place.
const private = `---
title: Letters of ada@example.org
author: Ada <ada@example.org>
---
# Contact ada@example.org

Write to ada@example.org, call +49 30 1234567, or pay to DE89 3704 0044 0532 0130 00.

| who | card |
| --- | --- |
| ada@example.org | 4111 1111 1111 1111 |

- at 203.0.113.77, or 536-90-4399

` + "```\nmail ada@example.org\n```\n"

// secrets are the parts of it that must not leak, in any case or grouping.
var secrets = []string{"ada@example", "1234567", "DE89", "0532 0130", "4111", "203.0.113", "536-90"}

func watch(mode privacy.Mode, d privacy.Detector) func(*ingest.Deps) {
	return func(deps *ingest.Deps) {
		deps.Privacy = privacy.NewFilter(privacy.Options{
			Mode: mode, Detector: d, Language: func(text string) string { return enrich.Detect(text).Code },
		})
	}
}

// everything returns the text of every row of every table.
func (b *bench) everything() string {
	b.Helper()
	conn := b.connect()
	rows, err := conn.Query(b.Context(),
		`select format('select coalesce(string_agg(t::text, E''\n''), '''') from %I.%I t', schemaname, tablename)
		from pg_tables where schemaname not in ('pg_catalog', 'information_schema')`)
	if err != nil {
		b.Fatal(err)
	}
	queries, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(queries) < 8 {
		b.Fatalf("%d tables, %v", len(queries), err)
	}
	var all strings.Builder
	for _, q := range queries {
		var text string
		if err := conn.QueryRow(b.Context(), q).Scan(&text); err != nil {
			b.Fatal(err)
		}
		all.WriteString(text)
	}
	return all.String()
}

// byChance matches ids, hashes and times, which may contain digits of a secret.
var byChance = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b[0-9a-f]{64}\b|\d\d:\d\d:\d\d\.\d+`)

func (b *bench) wantNoSecret(where, text string) {
	b.Helper()
	text = byChance.ReplaceAllString(text, "…")
	for _, s := range secrets {
		if at := strings.Index(text, s); at >= 0 {
			b.Errorf("%q is in %s: …%s…", s, where, text[max(at-80, 0):min(at+80, len(text))])
		}
	}
}

// Neither the model nor the database nor the result gets redacted text.
func TestRedacted(t *testing.T) {
	t.Parallel()
	b := newBench(t, watch(privacy.Redact, privacy.Patterns{}))
	b.Put("private.md", private)
	c := b.Begin(`{"filename":"private.md","document_set":"d"}`, task.Hints{})
	out, err := b.handler.Handle(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	result, err := json.Marshal(out.Result)
	if err != nil {
		t.Fatal(err)
	}
	b.complete(c, out)
	b.wantNoSecret("the result", string(result))
	for _, r := range b.model.Received() {
		b.wantNoSecret("what the model got", strings.Join(r.Inputs, "\n"))
	}
	all := b.everything()
	b.wantNoSecret("the database", all)
	if !strings.Contains(all, "Contact [EMAIL]") || !strings.Contains(all, "[CREDIT_CARD]") {
		t.Errorf("the redacted text is missing:\n%s", all)
	}
	d := b.document()
	if d.Title != "Letters of [EMAIL]" || d.Outline[0].Text != "Contact [EMAIL]" ||
		d.Properties["author"] != "Ada <[EMAIL]>" {
		t.Errorf("row: %+v", d)
	}
	p := d.PersonalData
	if p == nil || p.Mode != "redact" || p.Detector != "patterns@3" || p.Incomplete ||
		fmt.Sprint(p.Found) != "map[CREDIT_CARD:1 EMAIL:6 IBAN:1 IP_ADDRESS:1 NATIONAL_ID:1 PHONE:1]" {
		t.Errorf("personal data: %+v", p)
	}
}

// The sender's title is redacted for the model, too.
func TestRedactedTitle(t *testing.T) {
	t.Parallel()
	b := newBench(t, watch(privacy.Redact, privacy.Patterns{}))
	b.Put("fine.md", "# Fine\n\nA text.")
	b.ingest(`{"filename":"fine.md","document_set":"d","metadata":{"title":"For ada@example.org"}}`, task.Hints{})
	var got []string
	for _, r := range b.model.Received() {
		got = append(got, r.Inputs...)
	}
	if all := strings.Join(got, "\n"); strings.Contains(all, "ada@") || !strings.Contains(all, "For [EMAIL]") {
		t.Errorf("the model got %q", all)
	}
}

// Tagging doesn't change the text. Another mode reads the document again.
func TestTagged(t *testing.T) {
	t.Parallel()
	b := newBench(t, watch(privacy.Tag, privacy.Patterns{}))
	b.Put("private.md", private)
	payload := `{"filename":"private.md","document_set":"d"}`
	b.ingest(payload, task.Hints{})
	if d := b.document(); d.PersonalData == nil || d.PersonalData.Mode != "tag" || d.PersonalData.Found["EMAIL"] != 6 ||
		d.Outline[0].Text != "Contact ada@example.org" {
		t.Errorf("row: %+v", d)
	}
	b.rebuild(watch(privacy.Redact, privacy.Patterns{}))
	if r := b.ingest(payload, task.Hints{}); r.Unchanged || r.Version != 2 {
		t.Errorf("result %+v; want a new version", r)
	}
	var chunks, row string // results of earlier tasks stay with them
	if err := b.connect().QueryRow(t.Context(),
		"select (select string_agg(c::text, '') from document_chunks c), (select d::text from documents d)").
		Scan(&chunks, &row); err != nil {
		t.Fatal(err)
	}
	b.wantNoSecret("the document after the change of mode", chunks+row)
}

// broken is a detector that fails.
type broken struct{}

func (broken) Find(context.Context, []string, string) ([][]privacy.Finding, error) {
	return nil, taskerr.Blame(taskerr.Privacy, taskerr.Errorf(taskerr.DependencyUnavailable, "the detector is down"))
}
func (broken) Version() string { return "broken@1" }

// While the detector is down, redacting fails the attempt before any text leaves; tagging continues with a warning.
func TestDetectorDown(t *testing.T) {
	t.Parallel()
	b := newBench(t, watch(privacy.Redact, broken{}))
	b.Put("private.md", private)
	_, err := b.handler.Handle(t.Context(), b.Begin(`{"filename":"private.md","document_set":"d"}`, task.Hints{}))
	if e, ok := errors.AsType[*taskerr.Error](err); !ok || !taskerr.Classes[e.Class].Retryable ||
		e.Dependency != taskerr.Privacy {
		t.Errorf("got %v", err)
	}
	if b.model.Requests() > 0 {
		t.Error("the model was asked")
	}
	b.wantNoSecret("the database", b.everything())
	if needs := b.handler.Spec().Needs; needs[len(needs)-1] != taskerr.Privacy {
		t.Errorf("needs %v", needs)
	}

	b = newBench(t, watch(privacy.Tag, broken{}))
	b.Put("private.md", private)
	r := b.ingest(`{"filename":"private.md","document_set":"d"}`, task.Hints{})
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0],
		"personal data were not looked for in all of the text: the detector is down") {
		t.Errorf("warnings %q", r.Warnings)
	}
	if p := b.document().PersonalData; p == nil || !p.Incomplete || bytes.Contains(fmt.Append(nil, p), []byte("ada")) {
		t.Errorf("personal data %+v", p)
	}
}
