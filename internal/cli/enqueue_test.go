package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/queue"
	"github.com/seed-7227ef26/async-worker/queue/memory"
)

// kept is a container in memory.
type kept struct {
	blob.Bucket
	blobs map[string]string
	fail  error // of Stat
}

func (*kept) Ensure(context.Context) error { return nil }

func (k *kept) Stat(_ context.Context, name string) (blob.Properties, error) {
	if k.fail != nil {
		return blob.Properties{}, k.fail
	}
	if _, ok := k.blobs[name]; !ok {
		return blob.Properties{}, blob.ErrNotFound
	}
	return blob.Properties{Name: name}, nil
}

func (k *kept) Put(_ context.Context, name string, body io.Reader, _ string) (blob.Properties, error) {
	b, err := io.ReadAll(body)
	k.blobs[name] = string(b)
	return blob.Properties{Name: name, Size: int64(len(b))}, err
}

// office is a tenant that tasks can be sent to.
func office(s *rows) (app.Tenant, *kept) {
	service, names, bucket := memory.New(memory.Options{}), task.QueueNames("southhaven"),
		&kept{blobs: map[string]string{}}
	return app.Tenant{Store: s, Bucket: bucket, Queues: engine.Queues{
		High: service.Queue(names.High), Normal: service.Queue(names.Normal), Low: service.Queue(names.Low),
		DeadLetter: service.Queue(names.DeadLetter),
	}}, bucket
}

// delivered decodes what is on the tenant's queues, as a worker would.
func delivered(t *testing.T, o app.Tenant) []task.Task {
	t.Helper()
	var all []task.Task
	for _, q := range []queue.Queue{o.Queues.High, o.Queues.Normal, o.Queues.Low} {
		if err := q.Ensure(t.Context()); err != nil {
			t.Fatal(err)
		}
		peeked, err := q.Peek(t.Context(), 32)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range peeked {
			d, err := task.Decode(m.Text, task.Options{ClientID: "southhaven"})
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, d.Task)
		}
	}
	return all
}

func TestEnqueueFromFlags(t *testing.T) {
	t.Parallel()
	o, _ := office(&rows{})
	r := invoke(t, o, testEnv(), "", "enqueue", "--id", "t-1", "--filename", "2026/a.pdf", "--document-set", "reports",
		"--payload", `{"metadata":{"n":12345678901234567890}}`,
		"--priority", "high", "--webhook-url", "https://x.example/hook", "--requested-by", "ann", "--force",
		"--timeout", "90s")
	r.want(t, exitOK)
	if r.out != "t-1\n" {
		t.Errorf("printed %q", r.out)
	}
	got := delivered(t, o)
	if len(got) != 1 {
		t.Fatalf("%d messages", len(got))
	}
	m := got[0]
	if m.ID != "t-1" || m.Type != task.Ingest || m.Priority != task.PriorityHigh ||
		m.WebhookURL != "https://x.example/hook" || m.RequestedBy != "ann" ||
		!m.Hints.Force || m.Hints.TimeoutSec != 90 {
		t.Errorf("message %+v", m)
	}
	if want := `{"document_set":"reports","filename":"2026/a.pdf","metadata":{"n":12345678901234567890}}`; string(
		m.Payload) != want {
		t.Errorf("payload %s, want %s", m.Payload, want)
	}
}

func TestEnqueuePrompt(t *testing.T) {
	t.Parallel()
	o, _ := office(&rows{})
	invoke(t, o, testEnv(), "", "enqueue", "--prompt", "Why?", "--document-set", "s", "--payload", `{"max_steps":3}`).
		want(t, exitOK)
	invoke(t, o, testEnv(), "", "enqueue", "--type", "ai", "--prompt", "Why?").want(t, exitOK)
	got := delivered(t, o)
	if len(got) != 2 || got[0].Type != task.Agent ||
		string(got[0].Payload) != `{"document_set":"s","max_steps":3,"prompt":"Why?"}` || got[1].Type != task.AI {
		t.Errorf("messages %+v", got)
	}
	invoke(t, o, testEnv(), "", "enqueue", "--type", "agent", "--document-set", "s").want(t, exitUsage,
		"an agent task needs payload.prompt", "--prompt")
}

func TestEnqueueDelete(t *testing.T) {
	t.Parallel()
	o, _ := office(&rows{})
	invoke(t, o, testEnv(), "", "enqueue", "--delete", "--filename", "a.pdf", "--document-set", "s").want(t, exitOK)
	if got := delivered(t, o); len(got) != 1 ||
		string(got[0].Payload) != `{"delete":true,"document_set":"s","filename":"a.pdf"}` {
		t.Errorf("messages %+v", got)
	}
	invoke(t, o, testEnv(), "", "enqueue", "--delete", "--upload", "enqueue_test.go", "--document-set", "s").want(t,
		exitUsage, "can't be combined with --upload")
}

func TestEnqueueSources(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args    []string
		payload string
	}{
		{
			[]string{"--source-uri", "https://example.com/a.pdf"},
			`{"document_set":"s","source_uri":"https://example.com/a.pdf"}`,
		},
		{[]string{"--source-uri", "blob:in/a.pdf"}, `{"document_set":"s","source_uri":"blob:in/a.pdf"}`},
		{[]string{"--prefix", "in/"}, `{"document_set":"s","prefix":"in/"}`},
		{[]string{"--prefix", "", "--delete-missing"}, `{"delete_missing":true,"document_set":"s","prefix":""}`},
	} {
		o, _ := office(&rows{})
		invoke(t, o, testEnv(), "", append([]string{"enqueue", "--document-set", "s"}, c.args...)...).want(t, exitOK)
		if got := delivered(t, o); len(got) != 1 || string(got[0].Payload) != c.payload {
			t.Errorf("%q: %+v", c.args, got)
		}
	}
}

func TestEnqueueMessages(t *testing.T) {
	t.Parallel()
	const message = `{"task_id":"%","task_type":"ingest","payload":{"filename":"a.pdf","document_set":"s"}}`
	path := filepath.Join(t.TempDir(), "m.json")
	if err := os.WriteFile(path, []byte(strings.Replace(message, "%", "from-file", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &rows{}
	o, _ := office(s)
	r := invoke(t, o, testEnv(), strings.Replace(message, "%", "from-stdin", 1), "enqueue", path, "-", "-o", "json")
	r.want(t, exitOK)
	var sent []enqueued
	if err := json.Unmarshal([]byte(r.out), &sent); err != nil || len(sent) != 2 || sent[0].ID != "from-file" ||
		sent[1].ID != "from-stdin" || !sent[0].Created {
		t.Errorf("%v: %s", err, r.out)
	}
	if got := delivered(t, o); len(got) != 2 {
		t.Errorf("%d messages", len(got))
	}
	// The same again is the same task; the same id with another payload is a conflict (I5).
	invoke(t, o, testEnv(), "", "enqueue", path).want(t, exitOK, "from-file already exists and is pending")
	if got := delivered(t, o); len(got) != 2 {
		t.Errorf("%d messages", len(got))
	}
	invoke(t, o, testEnv(), "", "enqueue", "--id", "from-file", "--filename", "b.pdf", "--document-set", "s").want(t,
		exitFailed, "another payload", "choose another id")
	invoke(t, o, testEnv(), "nonsense", "enqueue", "-").want(t, exitUsage, "message -", "JSON")
	invoke(t, o, testEnv(), `{"claim_check":{"blob":"x"}}`, "enqueue", "-").want(t, exitUsage, "claim check")
	invoke(t, o, testEnv(), strings.Replace(message, `"task_id"`, `"client_id":"other","task_id"`, 1), "enqueue", "-").
		want(t, exitUsage, "client_id")
	invoke(t, o, testEnv(), "", "enqueue", path+".missing").want(t, exitFailed, "check the path")
}

func TestEnqueueMistakes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		text string
	}{
		{nil, "nothing to enqueue"},
		{[]string{"--document-set", "s"}, "nothing to enqueue"},
		{[]string{"m.json", "--type", "ocr"}, "--type can't be combined with message files"},
		{[]string{"--upload", "a", "--upload", "b", "--id", "x"}, "only one document, not 2"},
		{[]string{"--filename", "a"}, "payload.document_set"},
		{[]string{"--source-uri", "https://me:s3cret@h/a", "--document-set", "s"}, "payload.source_uri has a user name"},
		{[]string{"--source-uri", "http://h/a", "--document-set", "s"}, "payload.source_uri has the scheme"},
		{[]string{"--source-uri", "https://h/a"}, "payload.document_set"},
		{[]string{"--source-uri", "https://h/a", "--blob", "a", "--document-set", "s"}, "payload.blob"},
		{[]string{"--source-uri", "https://h/a", "--upload", "a", "--document-set", "s"}, "--upload can't be combined"},
		{[]string{"--prefix", "in/", "--filename", "a", "--document-set", "s"}, "payload.prefix"},
		{[]string{"--filename", "a", "--delete-missing", "--document-set", "s"}, "--delete-missing needs --prefix"},
		{[]string{"--payload", "[]"}, "not a JSON object"},
		{[]string{"--payload", "null"}, "not a JSON object"},
		{[]string{"--payload", "{} {}"}, "not a JSON object"},
		{[]string{"--payload", "{"}, "not a JSON object"},
		{[]string{"--filename", "a", "--document-set", "s", "--id", "a b"}, "task_id"},
		{[]string{"--filename", "a", "--document-set", "s", "--priority", "urgent"}, "priority"},
		{[]string{"--filename", "a", "--document-set", "s", "--webhook-url", "nowhere"}, "webhook_url"},
	} {
		s := &rows{}
		o, _ := office(s)
		r := invoke(t, o, testEnv(), "", append([]string{"enqueue"}, c.args...)...)
		r.want(t, exitUsage, c.text, "what to do:")
		if len(s.submitted) != 0 {
			t.Errorf("%v: something was recorded", c.args)
		}
	}
}

func TestEnqueueWatch(t *testing.T) {
	t.Parallel()
	s := someRows() // "good" is over already, as for a quick worker
	o, _ := office(s)
	invoke(t, o, testEnv(), "", "enqueue", "--id", "good", "--filename", "a.pdf", "--document-set", "s", "--watch").
		want(t, exitOK, "succeeded after")
	s.fail = taskerr.Errorf(taskerr.TransientStorage, "connection refused")
	invoke(t, o, testEnv(), "", "enqueue", "--id", "t-9", "--filename", "a.pdf", "--document-set", "s").
		want(t, exitUnavailable, "to repeat the same task: async-worker enqueue --id t-9")
}

// A mistake in the arguments is reported before settings that are missing, and a database that is down without the
// queue.
func TestEnqueueRefusals(t *testing.T) {
	t.Parallel()
	for args, text := range map[string]string{
		"--type ingst --payload {}":                           `unknown task_type "ingst"`,
		"--filename a --document-set s --priority urgent":     `enqueue: priority is "urgent"`,
		"--type ocr --payload {\"filename\":\"/etc/passwd\"}": "payload.filename",
	} {
		r := invoke(t, app.Tenant{}, nil, "", append([]string{"enqueue"}, strings.Fields(args)...)...)
		r.want(t, exitUsage, text, "what to do:")
	}
	wrong := filepath.Join(t.TempDir(), "wrong.json")
	if err := os.WriteFile(wrong, []byte(`{"task_type": "ingst", "payload": {}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for command, text := range map[string]string{
		"enqueue " + wrong:                 "task_id",
		"summarize a.pdf --style loud":     "style",
		"dlq replay d1 --message " + wrong: "task_id",
	} {
		invoke(t, app.Tenant{}, nil, "", strings.Fields(command)...).want(t, exitUsage, text)
	}
	// Whether a message is for this client is known only with the settings.
	invoke(t, app.Tenant{}, nil, `{"client_id": "southhaven", "task_id": "a", "task_type": "ai", "payload": {}}`,
		"enqueue", "-").want(t, exitConfig, "SUPABASE_URL")
	s := &rows{fail: &taskerr.Error{Class: taskerr.TransientStorage, Dependency: taskerr.Database, Message: "down"}}
	o, _ := office(s)
	r := invoke(t, o, testEnv(), "", "enqueue", "--filename", "a", "--document-set", "s")
	r.want(t, exitUnavailable, "is the database up", "to repeat the same task")
	if strings.Contains(r.errOut, "storage account") {
		t.Errorf("the queue did not fail: %s", r.errOut)
	}
}

// TestEnqueueChecks: what every worker would refuse is refused before it is sent.
func TestEnqueueChecks(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ kind, payload, says string }{
		{"translate", `{}`, `"translate"`},
		{"ocr", `{"filename": "a.png", "pages": "x"}`, "payload.pages"},
		{"ingest", `{"filename": "../a.pdf", "document_set": "s"}`, "payload.filename"},
	} {
		s := &rows{}
		r := invoke(t, app.Tenant{Store: s}, testEnv(), "", "enqueue", "--type", tt.kind, "--payload", tt.payload)
		r.want(t, exitUsage, tt.says, "docs/contract.md")
		message := fmt.Sprintf(`{"task_id":"t1","task_type":%q,"payload":%s}`, tt.kind, tt.payload)
		invoke(t, app.Tenant{Store: s}, testEnv(), message, "enqueue", "-").want(t, exitUsage, tt.says)
		if len(s.submitted) > 0 {
			t.Errorf("%s was sent", tt.kind)
		}
	}
}

// What the worker would only log is said to the sender, once, and stops nothing.
func TestEnqueueWarnsOfIgnoredFields(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ stdin, args, ignored string }{
		{"", "--type summarize --filename a.pdf --document-set s", "the worker ignores payload.document_set: a task of the type summarize"},
		{
			`{"task_id":"t1","task_type":"summarize","colour":"red","payload":{"filename":"a.pdf"}}`, "-",
			"the worker ignores colour:",
		},
		{"", "--type summarize --filename a.pdf", ""},
		{"", "--filename a.pdf --document-set s", ""},
	} {
		o, _ := office(&rows{})
		r := invoke(t, o, testEnv(), tt.stdin, append([]string{"enqueue"}, strings.Fields(tt.args)...)...)
		r.want(t, exitOK)
		said := strings.Join(strings.Fields(r.errOut), " ")
		if strings.Contains(said, "ignores") != (tt.ignored != "") || !strings.Contains(said, tt.ignored) ||
			len(delivered(t, o)) != 1 {
			t.Errorf("%s: %s", tt.args, r.errOut)
		}
	}
}

// A failure to send shows a command that sends the same task again.
func TestTheSameTaskCanBeRepeated(t *testing.T) {
	t.Parallel()
	local := filepath.Join(t.TempDir(), "my notes.md")
	if err := os.WriteFile(local, []byte("# Tides"), 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "m.json")
	if err := os.WriteFile(file, []byte(`{"task_id":"t1","task_type":"ai","payload":{"prompt":"why"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"ask|it's why|--set|s":               `--type agent --payload '{"document_set":"s","prompt":"it'\''s why"}' --watch`,
		"summarize|a.pdf":                    `--type summarize --payload '{"filename":"a.pdf"}' --watch`,
		"summarize|--upload|" + local:        `--type summarize --payload '{"blob":"uploads/`,
		"ask|" + strings.Repeat("why ", 200): "jobs get",
		"enqueue|" + file:                    "to repeat the same task: async-worker enqueue " + file,
		"enqueue|--document-set|s|--upload|" + local + "|--upload|" + file: "--upload '" + local + "' …",
	} {
		o, bucket := office(&rows{fail: &taskerr.Error{Class: taskerr.TransientStorage, Dependency: taskerr.Database, Message: "down"}})
		bucket.blobs["a.pdf"] = "there"
		r := invoke(t, o, testEnv(), "", strings.Split(args, "|")...)
		r.want(t, exitUnavailable, "is the database up", "to repeat the same task: ", want)
		if strings.HasPrefix(args, "ask|it") {
			_, command, _ := strings.Cut(strings.Join(strings.Fields(r.errOut), " "), "async-worker enqueue --id ")
			if id, _, _ := strings.Cut(command, " "); len(id) != len("00000000-0000-0000-0000-000000000000") {
				t.Errorf("the id is %q: %s", id, r.errOut)
			}
		}
	}
}
