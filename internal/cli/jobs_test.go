package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func someRows() *rows {
	started, done, status, trouble := noon, noon.Add(3210*time.Millisecond), 503, "Service Unavailable"
	return &rows{
		jobs: []store.Job{
			{
				ID: "good", ClientID: "southhaven", Type: "ingest", Status: "succeeded", Stage: "finalizing",
				Progress: 100, Attempts: 1, MaxAttempts: 3,
				Payload: json.RawMessage(`{"filename":"a.pdf"}`), Result: json.RawMessage(`{"chunks":7}`),
				CreatedAt: noon, StartedAt: &started, CompletedAt: &done,
			},
			{
				ID: "bad", Type: "ingest", Status: "failed", Stage: "parsing", Progress: 12, Attempts: 3,
				MaxAttempts: 3, CreatedAt: noon,
				ErrorCode: "INGEST_CORRUPTION_DETECTED", ErrorMessage: "broken \x1b[31mfile\nreally",
				Payload: json.RawMessage(`{}`),
			},
			{ID: "busy", Type: "ingest", Status: "running", Stage: "embedding", Progress: 60, CreatedAt: noon},
		},
		events: map[string][]store.JobEvent{
			"good": {{
				Seq: 1, JobID: "good", At: noon, Stage: "parsing", Progress: 12, Attempt: 1,
				Message: "page 1 of 9",
			}},
		},
		deliveries: []store.DeliveryStatus{
			{
				ID: "msg_1", URL: "https://x.example/h", Status: "pending", Attempts: 2, ResponseStatus: &status,
				LastError: &trouble,
			},
		},
		letters: []store.DeadLetter{{
			ID: "d1", JobID: "bad", TaskType: "ingest", Reason: "permanent", ErrorClass: "corruption_detected",
			ErrorMessage: "broken",
			Attempts:     3, Original: "{\"task_id\":\n\"bad\x1b]0;\"}", CreatedAt: noon,
		}},
	}
}

func TestJobsList(t *testing.T) {
	t.Parallel()
	r := invoke(t, app.Tenant{Store: someRows()}, testEnv(), "", "jobs", "list")
	r.want(t, exitOK, "ID", "good", "a.pdf", "100%", "3/3", "broken [31mfile really")
	if strings.Contains(r.out, "\x1b") || strings.Count(r.out, "\n") != 5 { // the error has a line of its own
		t.Errorf("control characters of a row reached the terminal: %q", r.out)
	}
	scan := someRows()
	scan.jobs[0].Result = json.RawMessage(
		`{"chunks":0,"warnings":["3 of 3 pages have no text","nothing can be found"]}`)
	invoke(t, app.Tenant{Store: scan}, testEnv(), "", "jobs", "list").want(t, exitOK, "succeeded",
		"! 3 of 3 pages have no text; nothing can be found")
	invoke(t, app.Tenant{Store: scan}, testEnv(), "", "jobs", "get", "good").want(t, exitOK, "warnings", "3 of 3 pages")
	invoke(t, app.Tenant{Store: scan}, testEnv(), "", "jobs", "watch", "good").want(t, exitOK, ", but: 3 of 3 pages")
	var jobs []store.Job
	r = invoke(t, app.Tenant{Store: someRows()}, testEnv(), "", "jobs", "list", "--status", "failed", "-o", "json")
	if err := json.Unmarshal([]byte(r.out), &jobs); err != nil || len(jobs) != 1 || jobs[0].ID != "bad" {
		t.Errorf("%v: %s", err, r.out)
	}
	r = invoke(t, app.Tenant{Store: &rows{}}, testEnv(), "", "jobs", "list", "-o", "json")
	if strings.TrimSpace(r.out) != "[]" {
		t.Errorf("an empty list is %q", r.out)
	}
}

func TestJobsGet(t *testing.T) {
	t.Parallel()
	r := invoke(t, app.Tenant{Store: someRows()}, testEnv(), "", "jobs", "get", "good")
	r.want(t, exitOK, `{"chunks":7}`, "page 1 of 9", "msg_1", "503", "Service Unavailable", "https://x.example/h")
	var history struct {
		ID         string
		Events     []store.JobEvent
		Deliveries []store.DeliveryStatus `json:"webhook_deliveries"`
	}
	wide := someRows()
	wide.events["good"][0].Message = strings.Repeat("page 1 of 9 ", 20)
	wide.deliveries[0].URL = "https://x.example/" + strings.Repeat("h", 200)
	long := strings.Repeat("nothing of the document can be found ", 10)
	wide.jobs[0].Payload = json.RawMessage(`{"filename": "` + long + `"}`)
	wide.jobs[0].Result = json.RawMessage(`{"chunks": 0, "warnings": ["` + long + `"]}`)
	wide.jobs[2].Type, wide.jobs[2].Result = "agent", json.RawMessage(`{"answer": "`+long+`"}`)
	out := invoke(t, app.Tenant{Store: wide}, testEnv(), "", "jobs", "get", "good").out +
		invoke(t, app.Tenant{Store: wide}, testEnv(), "", "jobs", "get", "busy").out
	if !strings.Contains(out, "\nwarnings  ") || !strings.Contains(out, "\nANSWER\n") {
		t.Errorf("warnings or answer are missing:\n%s", out)
	}
	for line := range strings.Lines(out) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > maxLineWidth {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	r = invoke(t, app.Tenant{Store: someRows()}, testEnv(), "", "jobs", "get", "good", "-o", "json")
	if err := json.Unmarshal([]byte(r.out), &history); err != nil || history.ID != "good" || len(history.Events) != 1 ||
		len(history.Deliveries) != 1 {
		t.Errorf("%v: %s", err, r.out)
	}
	invoke(t, app.Tenant{Store: someRows()}, testEnv(), "", "jobs", "get", "ghost").want(t, exitFailed, `"ghost"`,
		"not found", "jobs list")
}

func TestJobsCancel(t *testing.T) {
	t.Parallel()
	s := someRows()
	invoke(t, app.Tenant{Store: s}, testEnv(), "", "jobs", "cancel", "typo", "busy").want(t, exitFailed,
		"busy is running and will stop", "typo", "not found", "--in-advance")
	if len(s.canceled) != 1 || s.canceled[0] != "busy" {
		t.Errorf("asked for %v", s.canceled)
	}
	invoke(t, app.Tenant{Store: s}, testEnv(), "", "jobs", "cancel", "--in-advance", "early").want(t, exitOK,
		"early is not known yet")
	invoke(t, app.Tenant{Store: s}, testEnv(), "", "jobs", "cancel", "good").want(t, exitFailed, "already over",
		"jobs get")
}

func TestDeadLetters(t *testing.T) {
	t.Parallel()
	invoke(t, app.Tenant{Store: someRows()}, testEnv(), "", "dlq", "list").want(t, exitOK, "d1", "bad",
		"corruption_detected", "permanent")
	r := invoke(t, app.Tenant{Store: someRows()}, testEnv(), "", "dlq", "show", "d1")
	r.want(t, exitOK, "original message:\n{\"task_id\":\n\"bad]0;\"}")
	invoke(t, app.Tenant{Store: someRows()}, testEnv(), "", "dlq", "show", "d1", "-o", "json").want(t, exitOK,
		`"original_message"`)
	invoke(t, app.Tenant{Store: someRows()}, testEnv(), "", "dlq", "show", "d2").want(t, exitFailed, "not found")
}

// What goes wrong with the database says what to do next, with the exit code for it.
func TestStoreTroubles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		code int
		text string
	}{
		{store.ErrSchema, exitConfig, "async-worker migrate"},
		{store.ErrDimensions, exitConfig, "set EMBEDDING_DIMENSIONS"},
		{store.ErrForbidden, exitPermission, "client_id claim"},
		{
			taskerr.Errorf(taskerr.TransientStorage, "connection refused"), exitUnavailable,
			"check SUPABASE_URL",
		},
		{taskerr.Errorf(taskerr.NetworkTimeout, "too slow"), exitTemporary, "check SUPABASE_URL"},
	} {
		for _, args := range []string{"jobs list", "jobs get x", "dlq list", "search x"} {
			r := invoke(t, app.Tenant{Store: &rows{fail: c.err}, Embedder: oneVector{}}, testEnv(), "",
				strings.Fields(args)...)
			r.want(t, c.code, c.text, "what to do:")
		}
	}
}

// oneVector embeds everything as the same vector.
type oneVector struct{ llm.Embedder }

func (oneVector) Embed(_ context.Context, in []string) (llm.Embeddings, error) {
	return llm.Embeddings{Vectors: make([][]float32, len(in))}, nil
}

func TestSearch(t *testing.T) {
	t.Parallel()
	s := &rows{hits: []store.Hit{
		{
			ChunkID: "a", Filename: "a.pdf", DocumentSet: "reports", Pages: []int{3, 4}, HeadingPath: []string{"Results", "Revenue"},
			Content: "it\ngrew\x07 " + strings.Repeat("x", 400), Score: 0.0325, Similarity: 0.5, Matched: true,
		},
		{ChunkID: "b", Filename: "b.md", Content: "short"},
	}}
	parts := app.Tenant{Store: s, Embedder: oneVector{}}
	r := invoke(t, parts, testEnv(), "", "search", "annual", "growth", "--set", "reports", "-n", "2")
	r.want(t, exitOK, "1. a.pdf · pages 3-4 · Results › Revenue", "score 0.0325", "it grew xx", "2. b.md\n",
		"similarity 0.00, by meaning only, set")
	if strings.Contains(r.out, "Nothing has a word") || strings.Count(r.out, "by meaning only") != 1 {
		t.Errorf("one of two matches: %s", r.out)
	}
	if s.asked.Text != "annual growth" || s.asked.DocumentSet != "reports" || s.asked.Limit != 10 { // copies may be among them
		t.Errorf("asked %+v", s.asked)
	}
	var hits []store.Hit
	r = invoke(t, parts, testEnv(), "", "search", "x", "-o", "json")
	if err := json.Unmarshal([]byte(r.out), &hits); err != nil || len(hits) != 2 {
		t.Errorf("%v: %s", err, r.out)
	}
	invoke(t, app.Tenant{Store: &rows{}, Embedder: oneVector{}}, testEnv(), "", "search", "x").want(t, exitOK,
		"Nothing found. async-worker jobs list")
	invoke(t, app.Tenant{Store: &rows{}, Embedder: oneVector{}}, testEnv(), "", "search", "x", "--explain", "--set", "s", "--language", "de").
		want(t, exitOK, "Nothing found with --set, --language. Without, the search is among all documents.")
	neighbours := app.Tenant{
		Store: &rows{hits: []store.Hit{{Filename: "b.md", Content: "short"}}}, Embedder: oneVector{},
	}
	invoke(t, neighbours, testEnv(), "", "search", "x").want(t, exitOK,
		"No document contains a word of the query. These are the nearest by meaning:\n1. b.md")
	invoke(t, parts, testEnv(), "", "search", " ").want(t, exitUsage, "empty")
	invoke(t, parts, testEnv(), "", "search", "-draft notice").want(t, exitUsage, "unknown shorthand flag",
		"put -- before")
	invoke(t, parts, testEnv(), "", "search", "--", "-draft notice").want(t, exitOK, "1. a.pdf")
}

// TestSearchDays: a day is one of UTC, as the days of documents are, wherever the command is run. It runs in a process of
// its own, in another zone: goroutines of other tests read that of this one.
func TestSearchDays(t *testing.T) {
	t.Parallel()
	const zone = "TZ=Etc/GMT+5"
	if !slices.Contains(os.Environ(), zone) {
		program, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), program, "-test.run=^TestSearchDays$")
		cmd.Env = append(os.Environ(), zone)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	s := &rows{}
	parts := app.Tenant{Store: s, Embedder: oneVector{}}
	invoke(t, parts, testEnv(), "", "search", "x", "--from", "2024-03-01", "--to", "2024-03-01").want(t, exitOK)
	day := time.Date(2024, 3, 1, 0, 0, 0, 0, time.UTC)
	if w := s.asked.Within; w == nil || !w.From.Equal(day) || !w.To.Equal(day.AddDate(0, 0, 1).Add(-time.Second)) {
		t.Errorf("asked within %+v", w)
	}
	invoke(t, parts, testEnv(), "", "search", "x", "--from", "2024-03-01 00:00:00").want(t, exitOK)
	if w := s.asked.Within; w == nil || !w.From.Equal(day.Add(5*time.Hour)) {
		t.Errorf("a time without a zone is not of this place: %+v", w)
	}
	invoke(t, parts, testEnv(), "", "search", "x", "--metadata", `{"n": 9007199254740993}`).want(t, exitOK)
	if n := fmt.Sprint(s.asked.Within.Metadata["n"]); n != "9007199254740993" {
		t.Errorf("asked for the number %s", n)
	}
	invoke(t, parts, testEnv(), "", "search", "x", "--metadata", "null").want(t, exitUsage, "not a JSON object")
}

// A finished job is shown at once.
func TestWatchOfWhatIsOver(t *testing.T) {
	t.Parallel()
	invoke(t, app.Tenant{Store: someRows()}, testEnv(), "", "jobs", "watch", "good").want(t, exitOK, "parsing",
		"page 1 of 9", "succeeded after 3.21s")
	invoke(t, app.Tenant{Store: someRows()}, testEnv(), "", "jobs", "watch", "good", "bad").want(t, exitFailed,
		"succeeded", "failed: INGEST_CORRUPTION_DETECTED: broken [31mfile really")
	invoke(t, app.Tenant{Store: someRows()}, testEnv(), "", "jobs", "watch", "ghost").want(t, exitFailed, "not found",
		"what to do")
	r := invoke(t, app.Tenant{Store: someRows()}, testEnv(), "", "jobs", "watch", "good", "-o", "json")
	if r.want(t, exitOK); !strings.HasPrefix(r.out, `{"event":`) || !strings.Contains(r.out, "\n"+`{"job":`) {
		t.Errorf("%s", r.out)
	}
}

// TestNoJobs: an empty listing says why, beside the output, and names the types if the one asked for does not exist.
func TestNoJobs(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"jobs list":                 "There are no jobs of",
		"jobs list --status failed": "No job matches",
		"jobs list --type ingest":   "No job matches",
		"jobs list --type ingset":   "No job is of the type ingset; the types are agent, ai,",
	} {
		r := invoke(t, app.Tenant{Store: &rows{}}, testEnv(), "", strings.Fields(args)...)
		r.want(t, exitOK, want)
		if strings.Contains(r.out, want) {
			t.Errorf("%s: in the output that a program reads: %s", args, r.out)
		}
	}
	if r := invoke(t, app.Tenant{Store: &rows{}}, testEnv(), "", "jobs", "list", "-o", "json"); r.errOut != "" {
		t.Errorf("with -o json: %s", r.errOut)
	}
}

// TestLongEventIsPrintedWhole: the message of a dropped duplicate ends with what to do.
func TestLongEventIsPrintedWhole(t *testing.T) {
	t.Parallel()
	s := someRows()
	s.events["good"] = []store.JobEvent{{
		Seq: 1, JobID: "good", At: noon, Message: "sent again after it had failed; the message was dropped. To do the " +
			"task again, send it under a new task_id or with hints.force",
	}}
	r := invoke(t, app.Tenant{Store: s}, testEnv(), "", "jobs", "get", "good")
	if !strings.Contains(strings.Join(strings.Fields(r.out), " "), "under a new task_id or with hints.force") {
		t.Errorf("%s", r.out)
	}
}
