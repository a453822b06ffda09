package dashboard_test

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/dashboard"
	"github.com/seed-7227ef26/async-worker/internal/schedule"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// world is a tenant in the middle of a working day.
type world struct {
	running, streaming, failed, letter, document, delivery, answered, schedule, replayed string
}

// furnish fills the tenant's tables.
func (b *bench) furnish() (w world) {
	b.Helper()
	b.history(1400)
	w.document = b.documents()
	w.running = "contract-renewal-2026.pdf-4b1c"
	h := b.begin(w.running, "ingest", `{"filename":"contract-renewal-2026.pdf","document_set":"contracts","metadata":{"owner":"legal"}}`,
		func(m *store.Begin) {
			m.TraceParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
			m.WebhookURL = "https://app.example.com/hooks/documents"
		})
	b.walk(h, time.Now().Add(-74*time.Second), []string{"fetching_source", "parsing", "chunking", "embedding"},
		[]int{2, 12, 50, 68}, []int{0, 3, 41, 46})
	w.streaming = "question-berths"
	h = b.begin(w.streaming, "agent", `{"prompt":"At what wind speed are the quay cranes parked and pinned to the rail?","document_set":"harbour"}`)
	b.walk(h, time.Now().Add(-9*time.Second), []string{"preparing_context", "sending_prompt", "streaming_response"},
		[]int{0, 10, 24}, []int{0, 1, 4})
	b.report(h, store.Event{Stage: "streaming_response", Progress: 30, Metadata: delta("The quay cranes are parked and pinned to the rail at a ")})
	for i, name := range []string{"scan-0417.pdf", "board-minutes.docx", "supplier-list.xlsx"} {
		b.submit(fmt.Sprintf("wait-%d", i), name)
	}
	for i, f := range []struct {
		name    string
		class   taskerr.Class
		message string
	}{
		{"tender-annex-b.pdf", taskerr.CorruptionDetected, "open tender-annex-b.pdf: password-protected; remove the password and upload it again"},
		{"plan-of-works.dwg", taskerr.UnsupportedFormat, "no extractor takes plan-of-works.dwg (image/vnd.dwg)"},
		{"tender-annex-c.pdf", taskerr.CorruptionDetected, "open tender-annex-c.pdf: password-protected; remove the password and upload it again"},
		{"safety-manual.pdf", taskerr.NetworkTimeout, "the model service did not answer within 30 s"},
	} {
		id := fmt.Sprintf("%s-%d", f.name, i)
		h := b.begin(id, "ingest", fmt.Sprintf(`{"filename":%q,"document_set":"contracts"}`, f.name), func(m *store.Begin) {
			m.WebhookURL = "https://app.example.com/hooks/documents"
		})
		b.walk(h, time.Now().Add(-time.Duration(20+i*31)*time.Minute), []string{"fetching_source", "parsing"}, []int{2, 12}, []int{0, 2})
		w.letter, w.failed = b.fail(h, f.class, f.message), id
		b.ended(id, 4*time.Second)
	}
	w.answered = "answer-marina"
	h = b.begin(w.answered, "agent", `{"prompt":"How much is a night in the marina?","document_set":"harbour"}`)
	b.walk(h, time.Now().Add(-40*time.Minute), []string{"preparing_context", "sending_prompt", "streaming_response"}, []int{0, 10, 20}, []int{0, 1, 3})
	b.complete(h, `{"answer":"A night in the marina is 38 euros for boats up to 10 metres, and 4 euros for each metre more. Electricity is included.",
		"model":"gpt-4o-mini","steps":3,"prompt_tokens":2210,"completion_tokens":64,"citations":[{"document_id":"`+w.document+`",
		"filename":"marina-guests.html","chunk_id":"`+noID+`","page":2,"quote":"Boats up to 10 m: 38 EUR per night, each further metre 4 EUR"}]}`)
	b.ended(w.answered, 6*time.Second)
	w.delivery, w.schedule = b.deliveries(), "nightly-reports"
	b.schedules(w.schedule)
	v := b.visit("operate")
	w.replayed = strings.TrimPrefix(v.want(v.post("dead-letters/replay", "class", string(taskerr.CorruptionDetected), "rate", "1"),
		http.StatusOK, "Replayed 2 of 2").url, dashboard.Root+"/")
	return w
}

const noID = "00000000-0000-4000-8000-000000000000"

func delta(piece string) json.RawMessage {
	raw, _ := json.Marshal(map[string]string{"delta": piece}) // a text
	return raw
}

// walk reports stages that began some seconds after a time.
func (b *bench) walk(h store.Holder, from time.Time, stages []string, progress, seconds []int) {
	b.Helper()
	conn := b.super()
	for i, s := range stages {
		b.report(h, store.Event{Stage: s, Progress: progress[i]})
		if _, err := conn.Exec(b.Context(), `update job_events set at = $1 where job_id = $2 and stage = $3`,
			from.Add(time.Duration(seconds[i])*time.Second), h.JobID, s); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := conn.Exec(b.Context(), `update jobs set created_at = $1::timestamptz - interval '2 s', started_at = $1,
		series_started_at = $1 where id = $2`, from, h.JobID); err != nil {
		b.Fatal(err)
	}
	if _, err := conn.Exec(b.Context(), `update job_events set at = $1 where job_id = $2 and seq = 1`, from, h.JobID); err != nil {
		b.Fatal(err)
	}
}

// ended sets how long a job that has ended took.
func (b *bench) ended(id string, took time.Duration) {
	b.Helper()
	for _, set := range []string{
		`update jobs set completed_at = started_at + $2::interval, updated_at = started_at + $2::interval,
			processing_time_ms = extract(epoch from $2::interval) * 1000 where id = $1`,
		`update job_events e set at = j.completed_at from jobs j where j.id = $1 and e.job_id = j.id and e.seq = j.event_seq
			and $2::interval > interval '0'`,
		`update dead_letters d set created_at = j.completed_at, processing_time_ms = j.processing_time_ms from jobs j
			where j.id = $1 and d.job_id = j.id and $2::interval > interval '0'`,
	} {
		if _, err := b.super().Exec(b.Context(), set, id, took); err != nil {
			b.Fatal(err)
		}
	}
}

func (b *bench) super() *pgx.Conn {
	b.Helper()
	conn, err := pgx.Connect(b.Context(), b.url)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = conn.Close(b.Context()) })
	return conn
}

// history adds jobs that have ended in the last week, more of them by day and in the last hours.
func (b *bench) history(n int) {
	b.Helper()
	random := rand.New(rand.NewPCG(1, 2)) // the same each time
	var rows [][]any
	names := []string{"invoice", "lease", "minutes", "handbook", "survey", "tariff"}
	for i := range n {
		ago := time.Duration(random.Float64() * random.Float64() * float64(7*24*time.Hour))
		end := time.Now().Add(-ago - 2*time.Minute)
		if random.Float64() > 0.35+0.65*float64(12-abs(12-end.Hour()))/12 {
			continue
		}
		took := time.Duration((0.4 + random.ExpFloat64()*3.2) * float64(time.Second))
		status, result := "succeeded", `{"chunks_embedded":11,"chunks_reused":34,"tokens_embedded":3190,"tokens_reused":9860,"prompt_tokens":180,"completion_tokens":22}`
		switch x := random.Float64(); {
		case x < 0.035:
			status, result = "failed", ""
		case x < 0.05:
			status, result = "canceled", ""
		}
		kind := []string{"ingest", "ingest", "ingest", "summarize", "ocr"}[random.IntN(5)]
		name := fmt.Sprintf("%s-%04d.pdf", names[random.IntN(len(names))], i)
		row := []any{
			tenant, fmt.Sprintf("%s-%x", name, random.Uint32()), kind, status, 1, 3,
			json.RawMessage(fmt.Sprintf(`{"filename":%q,"document_set":"contracts"}`, name)),
			end.Add(-took - time.Second), end, end.Add(-took), end.Add(-took), end, 100, nil, nil, nil, nil,
		}
		if result != "" {
			row[13] = json.RawMessage(result)
		}
		if status == "failed" {
			row[14], row[15], row[16] = "network_timeout", "INGEST_NETWORK_TIMEOUT", "the model service did not answer within 30 s"
		}
		rows = append(rows, row)
	}
	if _, err := b.super().CopyFrom(b.Context(), pgx.Identifier{"jobs"}, []string{
		"client_id", "id", "type", "status", "attempts", "max_attempts", "payload", "created_at", "updated_at", "started_at",
		"series_started_at", "completed_at", "progress", "result", "error_class", "error_code", "error_message",
	}, pgx.CopyFromRows(rows)); err != nil {
		b.Fatal(err)
	}
}

func abs(n int) int { return max(n, -n) }

// documents adds some documents, and returns the id of one with two versions.
func (b *bench) documents() (id string) {
	b.Helper()
	for _, d := range []struct{ set, name, title string }{
		{"contracts", "lease-2025.pdf", "Lease of berth 14"},
		{"harbour", "first-week.md", "Your first week"},
		{"harbour", "marina-guests.html", "Guests of the marina"},
		{"harbour", "harbour-handbook.pdf", "Harbour handbook"},
		{"harbour", "harbour-handbook.pdf", "Harbour handbook"},
	} {
		id = b.ingest(d.set, d.name, d.title)
	}
	return id
}

var samplePassages = []string{
	"The harbour is open day and night. Ships report on channel 12 an hour before they arrive.",
	"At wind speeds above 20 m/s the quay cranes are parked and pinned to the rail. The shift leader decides about lower speeds.",
	"| crane | load | outreach |\n|---|---|---|\n| 1 | 40 t | 38 m |\n| 2 | 65 t | 46 m |",
	"Pilots board two miles off the breakwater. In fog the pilot boat waits at the outer buoy.",
}

// sampleBoxes are where the passages would be on pages of the handbook.
var sampleBoxes = []store.Box{
	{Page: 1, Left: .096, Top: .150, Right: .883, Bottom: .198},
	{Page: 1, Left: .096, Top: .211, Right: .851, Bottom: .242},
	{Page: 2, Left: .096, Top: .124, Right: .901, Bottom: .172},
	{Page: 2, Left: .096, Top: .207, Right: .888, Bottom: .255},
}

// upload puts a sample into the bucket, and returns its hash; empty: there is no such sample.
func (b *bench) upload(blob, name string) (sum string) {
	b.Helper()
	content, err := os.ReadFile(filepath.Join("../../dev/samples", name))
	if errors.Is(err, os.ErrNotExist) {
		return ""
	}
	if err == nil {
		_, err = b.bucket.Put(b.Context(), blob, bytes.NewReader(content), "application/pdf")
	}
	if err != nil {
		b.Fatal(err)
	}
	return fmt.Sprintf("%x", sha256.Sum256(content))
}

func (b *bench) ingest(set, name, title string) (id string) {
	b.Helper()
	payload, err := json.Marshal(map[string]string{"filename": name, "document_set": set})
	if err != nil {
		b.Fatal(err)
	}
	h := b.begin("ingest-"+uuid.NewString()[:8], "ingest", string(payload))
	s, err := b.store.StageDocument(b.Context(), store.Staging{Holder: h, DocumentSet: set, Filename: name, Blob: "in/" + name})
	if err != nil {
		b.Fatal(err)
	}
	sum := b.upload("in/"+name, name)
	var chunks []store.Chunk
	for i, text := range samplePassages {
		if s.Version > 1 && i == 3 {
			text += " Boats with fresh fruit go first."
		}
		chunks = append(chunks, store.Chunk{
			Position: i, Content: text, HeadingPath: []string{title, []string{"Arrival", "Cranes", "Cranes", "Pilots"}[i]},
			Pages: []int{i/2 + 1}, Kind: []string{"text", "text", "table", "text"}[i], Tokens: 30,
			Boxes: []store.Box{sampleBoxes[i]},
			Key:   name + text, Embedding: []float32{1, float32(i), 0, 1, 0, 1, 0, 1},
		})
		if s.Version > 1 && i != 3 {
			chunks[i].Embedding = nil // that of the version before
		}
	}
	if missing, err := b.store.StageChunks(b.Context(), store.ChunkBatch{
		Holder: h, DocumentID: s.DocumentID, Version: s.Version, Model: "offline-hash-1", Chunks: chunks,
	}); err != nil || len(missing) > 0 {
		b.Fatal(missing, err)
	}
	result, err := json.Marshal(map[string]any{
		"document_id": s.DocumentID, "document_set": set, "filename": name, "version": s.Version, "pages": 2, "chunks": 4,
		"warnings": []string{"page 2: the table has merged cells"},
	})
	if err != nil {
		b.Fatal(err)
	}
	b.complete(h, string(result), store.Effect{
		Kind: store.EffectActivateDocument, Args: store.Activation{
			Reading: store.Reading{
				ContentSHA256: cmp.Or(sum, fmt.Sprintf("sha-%s-%d", name, s.Version)), TextSHA256: "t", Format: "pdf", Pipeline: "p1", Pages: 2,
				Characters: 4123, Extractor: "native", PageLog: []store.PageReading{
					{First: 1, Last: 1, Method: "native", Confidence: 1},
					{First: 2, Last: 2, Method: "ocr", Confidence: 0.93, Reason: "unreadable characters"},
				}, Enrichment: store.Enrichment{
					Title: title, Language: "en", Outline: []store.Heading{
						{Level: 1, Text: title, Page: 1, Chunk: new(0)},
						{Level: 2, Text: "Arrival", Page: 1, Chunk: new(0)},
						{Level: 2, Text: "Cranes", Page: 1, Chunk: new(1)},
						{Level: 2, Text: "Pilots", Page: 2, Chunk: new(3)},
					},
				},
			},
			DocumentID: s.DocumentID, Version: s.Version, Chunks: len(chunks), Blob: "in/" + name, SourceETag: uuid.NewString(),
		},
	})
	return s.DocumentID
}

func (b *bench) submit(id, name string) {
	b.Helper()
	if _, err := b.store.Submit(b.Context(), store.Submission{
		Task: store.Task{
			JobID: id, Type: "ingest", Payload: json.RawMessage(fmt.Sprintf(`{"filename":%q,"document_set":"inbox"}`, name)),
			Hints: json.RawMessage(`{}`), Priority: "normal", Fingerprint: id, MaxAttempts: 3, RequestedBy: "frontend",
		},
		Queue: tenant + "-tasks", Message: `{"task_id":"` + id + `"}`,
	}); err != nil {
		b.Fatal(err)
	}
}

// deliveries sends some webhooks: one fails for good; it returns its id.
func (b *bench) deliveries() (failed string) {
	b.Helper()
	claimed, err := b.store.ClaimDeliveries(b.Context(), store.Claim{Worker: "w", Max: 100, Lease: time.Minute})
	if err != nil || len(claimed.Deliveries) < 3 {
		b.Fatal(len(claimed.Deliveries), err)
	}
	for i, d := range claimed.Deliveries {
		o := store.DeliveryOutcome{
			ID: d.ID, Fence: d.Fence, Status: store.DeliveryDelivered, ResponseStatus: 204, Latency: 41 * time.Millisecond,
		}
		switch i {
		case 0:
			o.Status, o.ResponseStatus, o.Error = store.DeliveryFailed, 410, "the receiver answered 410 Gone; it is not asked again"
			failed = d.ID
		case 1:
			o.Status, o.ResponseStatus, o.Error = store.DeliveryPending, 503, "the receiver answered 503 Service Unavailable"
			o.NextAfter = 5 * time.Minute
		}
		if _, err := b.store.SettleDelivery(b.Context(), o); err != nil {
			b.Fatal(err)
		}
	}
	return failed
}

// schedules adds one that has fired for a week and failed once, one that is paused, and one that a worker has stopped.
func (b *bench) schedules(id string) {
	b.Helper()
	last := time.Now().UTC().Truncate(24 * time.Hour).Add(2 * time.Hour)
	if last.After(time.Now()) {
		last = last.AddDate(0, 0, -1)
	}
	task := json.RawMessage(`{"task_type":"ingest","payload":{"prefix":"reports/","document_set":"reports"}}`)
	next := last.AddDate(0, 0, 1)
	for _, s := range []store.Schedule{
		{ID: id, Cron: "0 2 * * *", NextAt: &next, FiresAt: &next},
		{ID: "weekly-digest", Cron: "0 7 * * 1", Paused: true},
		{ID: "hourly-mirror", Cron: "@hourly"},
	} {
		s.TimeZone, s.Task, s.Overlap = "UTC", task, store.OverlapSkip
		if _, err := b.store.AddSchedule(b.Context(), s); err != nil {
			b.Fatal(err)
		}
	}
	for i := range 4 {
		h := b.begin(schedule.JobID(id, last.AddDate(0, 0, -i)), "ingest", string(task))
		if i == 2 {
			b.fail(h, taskerr.NetworkTimeout, "the container did not answer within 30 s")
			continue
		}
		b.complete(h, `{"submitted":3}`)
	}
	for _, sql := range []string{
		`update schedules set last_job_id = $1, last_at = $2, fired = 7, skipped = 1, created_at = $2::timestamptz - interval '9 days'
			where id = 'nightly-reports'`,
		`update schedules set paused = true, problem = 'the task names a set that a submitter may not write' || left($1, 0) ||
			left($2::timestamptz::text, 0) where id = 'hourly-mirror'`,
	} {
		if _, err := b.super().Exec(b.Context(), sql, schedule.JobID(id, last), last); err != nil {
			b.Fatal(err)
		}
	}
}

// addresses are a page of each kind, by name.
func (w world) addresses() map[string]string {
	return map[string]string{
		"overview": "", "overview-week": "?of=week", "jobs": "jobs", "events": "jobs/" + w.running + "/events", "children": "jobs/" + w.running + "/children",
		"replayed": w.replayed, "jobs-failed": "jobs?q=status:failed+since:1d",
		"job-running": "jobs/" + w.running, "job-streaming": "jobs/" + w.streaming, "job-failed": "jobs/" + w.failed,
		"job-answered": "jobs/" + w.answered, "cancel": "jobs/" + w.running + "/cancel", "bulk": "change-jobs?action=retry&all=yes&q=status:failed",
		"dead-letters": "dead-letters", "dead-letter": "dead-letters/" + w.letter, "replay": "dead-letters/" + w.letter + "/replay",
		"replay-all": "dead-letters/replay?rate=30", "documents": "documents", "document": "documents/" + w.document,
		"sheet": "documents/" + w.document + "/pages/1?chunk=1", "upload": "documents/upload",
		"search": "search?q=quay+cranes+wind", "ask": "ask", "webhooks": "webhooks", "resend": "webhooks/" + w.delivery + "/resend",
		"schedules": "schedules", "schedule": "schedules/" + w.schedule, "pause": "schedules/" + w.schedule + "/pause",
		"new-schedule": "new-schedule", "settings": "settings?all=1", "doctor": "doctor", "not-found": "jobs/nothing",
	}
}
