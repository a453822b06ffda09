package e2e

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2/sas"

	"github.com/seed-7227ef26/async-worker/internal/stack"
	"github.com/seed-7227ef26/async-worker/webhook/receiver"
)

// snippet is a block of docs/frontend.md that begins with the name of its file.
var snippet = regexp.MustCompile("(?s)```(?:js|python)\n(?://|#) (\\w+\\.(?:mjs|py))[^\n]*\n(.*?)```")

// notRun are the blocks of docs/frontend.md that this test doesn't run, by how they begin, with the reason.
func notRun() map[string]string {
	return map[string]string{
		"```sh\naz storage cors add ":               "it needs an account of Azure: Azurite has no control plane",
		"```js\nawait supabase.realtime.setAuth() ": "Realtime's server doesn't run here; TestRealtime tries what it reads",
		"```sql\ngrant async_worker_reader to ":     "TestRealtime grants it, and reads as that role",
		"```sql\n-- claims.sql":                     "TestClaimsHook (internal/api) runs it, and asks the API with its claims",
	}
}

// snippets writes those of docs/frontend.md into a folder where they find their imports.
func snippets(t *testing.T) (folder string) {
	t.Helper()
	root, err := stack.Root()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "docs/frontend.md"))
	if err != nil {
		t.Fatal(err)
	}
	folder = t.TempDir()
	for begin := range notRun() {
		if !bytes.Contains(text, []byte("\n"+begin)) {
			t.Errorf("no block begins with %q", begin)
		}
	}
	all := snippet.FindAllSubmatch(text, -1)
	named := len(all) + len(notRun())
	if fences := bytes.Count(text, []byte("\n```")) / 2; named != fences || len(all) < 11 {
		t.Fatalf("%d of %d blocks have the name of a file or a reason not to be run", named, fences)
	}
	for _, m := range all {
		if err := os.WriteFile(filepath.Join(folder, string(m[1])), m[2], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(root, "dev/node_modules"), filepath.Join(folder, "node_modules")); err != nil {
		t.Fatal(err)
	}
	return folder
}

// frontend is the code around a snippet: it prints its results as JSON.
type frontend struct {
	Job struct {
		ID        string         `json:"id"`
		Status    string         `json:"status"`
		Result    map[string]any `json:"result"`
		ErrorType string         `json:"error_type"`
	} `json:"job"`
	Upload     string            `json:"upload"` // its id
	Stages     []string          `json:"stages"`
	Rest       int               `json:"rest"`   // how many events follow the first one
	Fault      string            `json:"fault"`  // what a call says of a gateway's page
	Status     int               `json:"status"` // of that
	Hits       []map[string]any  `json:"hits"`
	Webhook    receiver.Delivery `json:"webhook"`
	Forged     string            `json:"forged"`     // why a changed webhook was refused
	Secretless string            `json:"secretless"` // why a receiver without a secret to speak of takes nothing
	Overwrite  string            `json:"overwrite"`  // why a second upload was refused
	Unasked    string            `json:"unasked"`    // why a call that is not a reader's was refused
	Overflow   string            `json:"overflow"`   // why a webhook of no time was refused
	AtOnce     atOnce            `json:"at_once"`
}

// atOnce is what became of a task that was submitted with its row, twice, and of another one under its id.
type atOnce struct {
	First  map[string]any `json:"first"`
	Second map[string]any `json:"second"`
	Status string         `json:"status"` // of the row, right after that
	Other  string         `json:"other"`  // why the other one was refused
}

// queueAddress is the tenant's queue with a signature that may add messages, over http too: Azurite has no other.
func (b *bed) queueAddress() string {
	b.t.Helper()
	parts := map[string]string{}
	for part := range strings.SplitSeq(b.azure, ";") {
		name, value, _ := strings.Cut(part, "=")
		parts[name] = value
	}
	key, err := azqueue.NewSharedKeyCredential(parts["AccountName"], parts["AccountKey"])
	if err != nil {
		b.t.Fatal(err)
	}
	signed, err := sas.QueueSignatureValues{
		Protocol: sas.ProtocolHTTPSandHTTP, ExpiryTime: time.Now().Add(time.Hour), QueueName: b.client + "-tasks",
		Permissions: (&sas.QueuePermissions{Add: true}).String(),
	}.SignWithSharedKey(key)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.queue().URL() + "?" + signed.Encode()
}

// TestFrontend runs the snippets of docs/frontend.md as a frontend would: upload, send, follow, search, verify.
func TestFrontend(t *testing.T) {
	t.Parallel()
	b := newBed(t, "LLM_PROVIDER=offline")
	b.start()
	folder := snippets(t)
	address := b.queueAddress()
	b.upload("in/tides & <more>.md", []byte("# Tides\n\n## Spring tide\n\nTwice a month the water is highest.\n"))
	for name, c := range map[string]struct{ command, file, text string }{
		"JavaScript": {"node", "main.mjs", inJavaScript},
		"Python":     {"python3", "main.py", inPython},
	} {
		if err := os.WriteFile(filepath.Join(folder, c.file), []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		gateway := newFaulty(t, b.api, func(r *http.Request) bool { return faultyCalls().MatchString(r.URL.Path) })
		cmd := exec.CommandContext(b.ctx, c.command, c.file)
		cmd.Dir = folder
		cmd.Env = []string{
			"PATH=" + os.Getenv("PATH"), "TENANT=" + b.client, "AZURE_STORAGE_CONNECTION_STRING=" + b.azure,
			"QUEUE_ADDRESS=" + address,
			"SUPABASE_URL=" + gateway.URL, "READER_KEY=" + b.reader, "WORKER_KEY=" + b.workerKey(), "WEBHOOK_SECRET=" + receiver.Secret,
		}
		var problems bytes.Buffer
		cmd.Stderr = &problems
		out, err := cmd.Output()
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, problems.String())
			continue
		}
		var got frontend
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		if got.Job.Status != "succeeded" || got.Job.Result["chunks"] != 1.0 || got.Webhook.TaskID != got.Job.ID ||
			got.Webhook.Status != "completed" {
			t.Errorf("%s: the job is %+v, the webhook is %+v", name, got.Job, got.Webhook)
		}
		if len(got.Hits) == 0 || !strings.Contains(got.Hits[0]["content"].(string), "highest") {
			t.Errorf("%s finds %v", name, got.Hits)
		}
		b.expectPatience(name, gateway, got)
		if got.Forged != "the signature is wrong" || got.Secretless != "WEBHOOK_SECRET is too short" {
			t.Errorf("%s takes a changed webhook: %q, or one without a secret: %q", name, got.Forged, got.Secretless)
		}
		if name == "JavaScript" && (got.Upload == "" || got.Job.ID != "ingest-"+got.Upload || !slices.Contains(got.Stages, "embedding") ||
			got.Stages[len(got.Stages)-1] != "completed" ||
			!strings.Contains(got.Overwrite, "upload: 403") || !strings.Contains(got.Unasked, "permission denied")) {
			t.Errorf("%s: stages %v; a second upload: %q; a cancel: %q", name, got.Stages, got.Overwrite, got.Unasked)
		}
		if name == "JavaScript" {
			b.expectAtOnce(got.AtOnce)
		} else if got.Overflow != "ValueError('the webhook is too old, or no webhook')" {
			t.Errorf("%s: a webhook with a time of 400 digits gets %s", name, got.Overflow)
		}
	}
}

// workerKey is the tenant's key, as its worker has it.
func (b *bed) workerKey() string {
	b.t.Helper()
	for _, setting := range b.env {
		if key, ok := strings.CutPrefix(setting, "SUPABASE_KEY="); ok {
			return key
		}
	}
	b.t.Fatal("the worker has no key")
	return ""
}

// expectAtOnce checks a task of aw_enqueue: it has its row when the call returns, and with Azure's queue its message waits there
// until a sweep sends it.
func (b *bed) expectAtOnce(got atOnce) {
	b.t.Helper()
	if got.First["job_id"] != "at-once" || got.First["created"] != true || got.Second["created"] != false || got.Status != "pending" ||
		!strings.Contains(got.Other, "has another type or payload") {
		b.t.Errorf("submitted with its row: %+v", got)
	}
	expect(b, "the message waits for a sweep", true, `select case when sent_at is null then message is not null
		else sent_at >= created_at + interval '2 minutes' end from jobs where client_id = $1 and id = 'at-once'`, b.client)
}

// faultyCalls are those that the gateway of TestFrontend lets fail.
func faultyCalls() *regexp.Regexp { return regexp.MustCompile(`/rpc/aw_(job|events|result)$`) }

// expectPatience checks what a frontend made of its gateway's faults: it goes on following, and a single call says the status.
func (b *bed) expectPatience(name string, gateway *faulty, got frontend) {
	b.t.Helper()
	if got.Status != 502 || !strings.Contains(got.Fault, "502") {
		b.t.Errorf("%s: a gateway's page is an error with the status %d: %q", name, got.Status, got.Fault)
	}
	if all, _ := gateway.had("/rest/v1/rpc/aw_job"); !all {
		b.t.Errorf("%s had not all faults of aw_job", name)
	}
	if name != "JavaScript" {
		return
	}
	if all, _ := gateway.had("/rest/v1/rpc/aw_events"); !all {
		b.t.Errorf("%s had not all faults of aw_events", name)
	}
	if got.Rest != len(got.Stages)-1 {
		b.t.Errorf("%s: after the first of %d events follow %d", name, len(got.Stages), got.Rest)
	}
}
