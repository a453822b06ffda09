package dashboard_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/dashboard"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// hostile is what somebody may put wherever a name or a text goes.
const hostile = `"><script>alert(1)</script><img src=x onerror=alert(1)>'};{{.}}<!--`

// No name, payload, error, event, document or query of a task becomes markup, wherever it is shown, nor a link that runs
// a script, whoever sent it.
func TestMarkup(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	payload, err := json.Marshal(map[string]string{
		"filename": hostile, "document_set": hostile, "source_uri": "javascript:alert(1)", "prompt": hostile,
	})
	if err != nil {
		t.Fatal(err)
	}
	document := b.ingest(hostile, hostile, hostile)
	running := b.begin("running", "ingest", string(payload), func(m *store.Begin) {
		m.RequestedBy, m.TraceParent = hostile, "00-"+hostile+"-b-01" // as no decoder lets it pass
		m.WebhookURL = "https://evil.example/x"
	})
	b.report(running, store.Event{Stage: "parsing", Progress: 1, Message: hostile, Metadata: delta(hostile)})
	letter := b.fail(b.begin("failed", "ingest", string(payload)), taskerr.ContentMissing, hostile)
	odd := b.fail(b.begin("odd", "summarize", `{"filename":"javascript:alert(1)"}`), "class\"><script>", hostile)
	answer, err := json.Marshal(map[string]any{
		"answer": hostile, "document_id": "javascript:alert(1)", "citations": []any{map[string]any{
			"document_id": "javascript:alert(1)//", "chunk_id": hostile, "filename": hostile, "quote": hostile,
		}}, "n": json.Number("12345678901234567890123"),
	})
	if err != nil {
		t.Fatal(err)
	}
	b.complete(b.begin("answered", "agent", string(payload)), string(answer))
	q := "?q=" + strings.ReplaceAll(strings.ReplaceAll(hostile, " ", "+"), ";", "%3B")
	v := b.visit("operate")
	for _, path := range []string{
		"", "jobs", "jobs" + q, "jobs/running", "jobs/failed", "jobs/answered", "jobs/odd", "jobs/failed/retry", "jobs/running/cancel",
		"change-jobs?action=cancel&all=yes", "change-jobs" + q + "&action=retry&all=yes", "dead-letters", "dead-letters/" + letter,
		"dead-letters/" + odd, "dead-letters?class=" + q[3:], "dead-letters/replay", "documents", "documents" + q,
		"documents/" + document, "documents/" + document + "?view=text", "documents/upload?set=" + q[3:], "search" + q,
		"search?q=quay&set=" + q[3:], "ask", "webhooks", "webhooks?status=" + q[3:], "jobs/" + q[3:],
		"webhooks/" + q[3:] + "/resend", "jobs/answered?notice=" + q[3:],
	} {
		a := v.get(path)
		if a.status >= 500 {
			t.Errorf("%s: %d", path, a.status)
		}
		for _, bad := range []string{"<script>alert", "<img src=x", `href="javascript:`, `href='javascript:`, "<!--", "{{.}}}"} {
			if strings.Contains(a.text, bad) {
				t.Errorf("%s has %q", path, bad)
			}
		}
	}
	if a := v.get("jobs/answered"); !strings.Contains(a.text, "12345678901234567890123") {
		t.Error("a large number is not exact")
	}
}

// inline is what the policy forbids.
var inline = regexp.MustCompile(`(?i)<script(?:>| [^>]*>)\s*[^<\s]|\sstyle=|<style|\son[a-z]+=|src="(?:https?:)?//|href="https?:`)

// Each page has the policy, nothing inline and nothing from elsewhere, and weighs less than 60 KB with all that it loads.
func TestPolicy(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	w := b.furnish()
	v := b.visit("operate")
	files := map[string]int{}
	loads := regexp.MustCompile(`(?:src|href)="(static/[^"]+)"`)
	for name, path := range w.addresses() {
		a := v.get(path)
		policy := a.header.Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "form-action 'self'"} {
			if !strings.Contains(policy, part) || strings.Contains(policy, "unsafe") {
				t.Errorf("%s: the policy is %s", name, policy)
			}
		}
		if a.header.Get("Cache-Control") != "no-store" || a.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v", name, a.header)
		}
		if found := inline.FindString(a.text); found != "" {
			t.Errorf("%s has inline or foreign parts: %s", name, found)
		}
		weight := a.packed
		for _, m := range loads.FindAllStringSubmatch(a.text, -1) {
			if _, ok := files[m[1]]; !ok {
				file := v.want(v.get(m[1]), http.StatusOK)
				files[m[1]] = file.packed
				if !strings.Contains(file.header.Get("Cache-Control"), "immutable") {
					t.Errorf("%s: %v", m[1], file.header)
				}
			}
			weight += files[m[1]]
		}
		if weight > 60<<10 || len(files) < 4 {
			t.Errorf("%s weighs %d bytes", name, weight)
		}
		t.Logf("%s: %d bytes, the page itself %d", name, weight, a.packed)
	}
	v.want(v.get("static/000000/app.css"), http.StatusOK)
	v.want(v.get("static/000000/none.css"), http.StatusNotFound)
}

// file is a form with a file.
func file(t *testing.T, set, name, content string) (kind string, body *bytes.Buffer) {
	t.Helper()
	body = &bytes.Buffer{}
	form := multipart.NewWriter(body)
	if set != "-" {
		if err := form.WriteField("set", set); err != nil {
			t.Fatal(err)
		}
	}
	if name != "-" {
		part, err := form.CreateFormFile("file", name)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = part.Write([]byte(content)) // to memory
	}
	if err := form.Close(); err != nil {
		t.Fatal(err)
	}
	return form.FormDataContentType(), body
}

// An upload is written under a name of its own, and a form that lacks something is refused with what to do.
func TestUpload(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	v := b.visit("submit")
	send := func(set, name, content string) answer {
		kind, body := file(t, set, name, content)
		return v.do(http.MethodPost, "documents/upload", body, "Content-Type", kind)
	}
	for range 2 { // the same again is another version
		a := v.want(send("harbour", "../../etc/tide table.pdf", "content"), http.StatusOK, "The job was submitted", "tide table.pdf")
		j, err := b.store.Job(t.Context(), a.path[strings.LastIndex(a.path, "/")+1:])
		if err != nil || !strings.Contains(string(j.Payload), `"uploads/`) || strings.Contains(string(j.Payload), "..") {
			t.Errorf("%s, %v", j.Payload, err)
		}
		b.complete(b.begin(j.ID, j.Type, string(j.Payload)), `{}`)
	}
	for _, c := range [][3]string{
		{"", "a.pdf", "x"},
		{"-", "a.pdf", "x"},
		{"s", "-", ""},
		{"s", "", "x"},
		{"s", "a.pdf", ""},
		{"s", "..", "x"},
		{"s", "a\x00.pdf", "x"},
		{strings.Repeat("s", 2000), "a.pdf", "x"},
		{"s", strings.Repeat("n", 1100), "x"},
	} {
		if a := send(c[0], c[1], c[2]); a.status != http.StatusBadRequest || !strings.Contains(a.text, "Not valid") {
			t.Errorf("set %.20q, name %.20q: %d %s", c[0], c[1], a.status, plainOf(a.text))
		}
	}
	v.want(v.post("documents/upload", "set", "s"), http.StatusBadRequest)
	v.want(send("s", "large.bin", strings.Repeat("x", 33<<20)), http.StatusRequestEntityTooLarge)
}

// What is not there, or is nonsense, is said so; nothing fails.
func TestNonsense(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	v := b.visit("operate")
	for path, want := range map[string]int{
		"jobs/none": 404, "jobs/none/cancel": 404, "jobs/none/explode": 404, "jobs/none/live": 406, "live": 406, "live/jobs": 406, "dead-letters/none": 404,
		"dead-letters/none/replay": 404, "documents/none": 404, "documents/" + noID: 404, "documents/none/delete": 404,
		"webhooks?after=x": 400, "jobs?after=x": 400, "jobs?after=bnVsbA": 400, "documents?after=!": 400, "dead-letters?after=e30x": 400,
		"change-jobs?action=explode": 404, "nowhere": 404, "change-jobs?action=cancel&id=none": 200, "?of=century": 200,
		"jobs?q=" + strings.Repeat("x", 5000): 200, "jobs?q=status:odd+since:never+priority:x": 200, "documents?q=%ff%00": 200,
		"search?q=" + strings.Repeat("x", 3000): 200, "dead-letters/replay?limit=99999": 200, "dead-letters/replay?limit=-1": 200,
	} {
		if a := v.get(path); a.status != want {
			t.Errorf("%.60s: %d, want %d: %s", path, a.status, want, plainOf(a.text))
		}
	}
	b.complete(b.begin("over", "ingest", `{"filename":"a","document_set":"s"}`), `{}`)
	v.want(v.get("jobs/over/cancel"), http.StatusOK, "This is not possible: the job is succeeded")
	v.want(v.post("jobs/over/cancel"), http.StatusConflict, "Not possible now", "has ended")
	v.want(v.post("webhooks/none/resend"), http.StatusNotFound)
	v.want(v.post("dead-letters/none/explode"), http.StatusNotFound)
	v.want(v.post("ask", "prompt", "  "), http.StatusBadRequest, "There is no question")
}

// Behind a proxy that hands requests on below a prefix, all addresses of a page are below it.
func TestPrefix(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.begin("job-1", "ingest", `{"filename":"a.pdf","document_set":"s"}`)
	v := b.visit("operate")
	a := v.do(http.MethodGet, "jobs/job-1", nil, "X-Forwarded-Prefix", "/t/southhaven")
	v.want(a, http.StatusOK, `<base href="/t/southhaven`+dashboard.Root+`/">`)
	for _, m := range regexp.MustCompile(`(?:href|src|action|hx-sse:connect)="([^"]*)"`).FindAllStringSubmatch(a.text, -1) {
		if strings.HasPrefix(m[1], "/") && !strings.HasPrefix(m[1], "/t/southhaven/") {
			t.Errorf("%s is not below the prefix", m[1])
		}
	}
	if strings.Contains(fmt.Sprint(v.do(http.MethodGet, "", nil, "X-Forwarded-Prefix", "//evil.example").text), "evil") {
		t.Error("a prefix leads to another host")
	}
}
