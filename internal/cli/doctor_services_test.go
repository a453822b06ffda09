package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/service"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2"

	"github.com/seed-7227ef26/async-worker/internal/docling/doclingtest"
	"github.com/seed-7227ef26/async-worker/internal/doctor"
	"github.com/seed-7227ef26/async-worker/internal/llm/llmtest"
	"github.com/seed-7227ef26/async-worker/internal/rerank/reranktest"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// ward is a tenant on real services for the doctor to look at.
type ward struct {
	client     string
	connection string // of the storage account, with its key
	database   string
	key, url   string // of PostgREST
}

func newWard(t *testing.T) ward {
	t.Helper()
	database := stacktest.Postgres(t)
	api := stacktest.PostgREST(t, database)
	client := stacktest.UniqueName("w")
	return ward{client, stacktest.Azurite(t), database, api.TenantKey(t, client), api.URL}
}

// env is the settings of the tenant, with others that win.
func (w ward) env(more ...string) []string {
	return append([]string{
		"CLIENT_ID=" + w.client, "AZURE_STORAGE_CONNECTION_STRING=" + w.connection, "SUPABASE_URL=" + w.url,
		"SUPABASE_KEY=" + w.key,
		"LLM_PROVIDER=offline", "WEBHOOK_SECRET=" + testSigning,
	}, more...)
}

// sick is the checks that failed or warned, with their results, and the exit code.
func (w ward) sick(t *testing.T, env []string, args ...string) (map[string]doctor.Result, int) {
	t.Helper()
	r := doctorOnServices(t.Context(), env, append([]string{"-o", "json", "--skip", "unit,machine"}, args...)...)
	var report doctorReport
	if err := json.Unmarshal([]byte(r.out), &report); err != nil {
		t.Fatalf("%v: %+v", err, r)
	}
	if report.Exit != r.code || report.ClientID != w.client {
		t.Errorf("exit %d of client %s, and the report says %d of %s", r.code, w.client, report.Exit, report.ClientID)
	}
	for _, secret := range []string{"Eby8vdM02x", "sig=", w.key, testSigning} {
		if strings.Contains(r.out+r.errOut, secret) {
			t.Errorf("a secret was printed: %+v", r)
		}
	}
	found := map[string]doctor.Result{}
	for _, r := range report.Results {
		if r.State == doctor.Fail || r.State == doctor.Warn {
			found[r.Check] = r
		}
	}
	return found, r.code
}

// names are the checks of results, sorted.
func names(results map[string]doctor.Result) string {
	var all []string
	for name, r := range results {
		all = append(all, string(r.State)+" "+name)
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// TestDoctorFindsNothing: with all rights nothing is wrong, nothing is left behind, and a waiting task is not touched.
func TestDoctorFindsNothing(t *testing.T) {
	t.Parallel()
	w := newWard(t)
	if sick, code := w.sick(t, w.env()); code != exitOK || len(sick) != 0 {
		t.Fatalf("exit %d: %+v", code, sick)
	}
	queues, err := azqueue.NewServiceClientFromConnectionString(w.connection, nil)
	if err != nil {
		t.Fatal(err)
	}
	normal := queues.NewQueueClient(task.QueueNames(w.client).Normal)
	if _, err := normal.EnqueueMessage(t.Context(), "a task", nil); err != nil {
		t.Fatal(err)
	}
	r := doctorOnServices(t.Context(), w.env())
	if r.code != exitOK && r.code != exitConfig { // without poppler 78
		t.Errorf("%+v", r)
	}
	if _, err := exec.LookPath("pdfdetach"); err == nil && strings.Contains(r.out, "apt install poppler-utils") {
		t.Errorf("poppler is installed: %s", r.out)
	}
	if !strings.Contains(r.out, "3 of 4 queues; "+task.QueueNames(w.client).Normal+": tasks wait") {
		t.Errorf("a waiting task is not reported:\n%s", r.out)
	}
	peeked, err := normal.PeekMessages(t.Context(), nil)
	if err != nil || len(peeked.Messages) != 1 || *peeked.Messages[0].DequeueCount != 0 {
		t.Errorf("the waiting task was touched: %+v, %v", peeked.Messages, err)
	}
	if sick, code := w.sick(t, w.env(), "--take"); code != exitOK || len(sick) != 0 {
		t.Errorf("with --take: exit %d: %+v", code, sick)
	}
	if peeked, err = normal.PeekMessages(t.Context(), nil); err != nil || len(peeked.Messages) != 1 ||
		*peeked.Messages[0].DequeueCount != 1 {
		t.Errorf("the waiting task was not taken, or not given back: %+v, %v", peeked.Messages, err)
	}
	if _, err := normal.ClearMessages(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if again := doctorOnServices(t.Context(), w.env(), "--skip", "machine"); again.code != exitOK {
		t.Errorf("%+v", again)
	}
	w.empty(t)
	blobs, err := service.NewClientFromConnectionString(w.connection, nil)
	if err != nil {
		t.Fatal(err)
	}
	page, err := blobs.NewContainerClient(w.client + "-documents").NewListBlobsFlatPager(nil).NextPage(t.Context())
	if err != nil || len(page.Segment.BlobItems) != 0 {
		t.Errorf("blobs were left: %+v, %v", page.Segment, err)
	}
}

// empty wants no message in any queue, hidden ones included.
func (w ward) empty(t *testing.T) {
	t.Helper()
	queues, err := azqueue.NewServiceClientFromConnectionString(w.connection, nil)
	if err != nil {
		t.Fatal(err)
	}
	names := task.QueueNames(w.client)
	for _, name := range []string{names.High, names.Normal, names.Low, names.DeadLetter} {
		if p, err := queues.NewQueueClient(name).GetProperties(t.Context(), nil); err != nil ||
			*p.ApproximateMessagesCount != 0 {
			t.Errorf("queue %s was left with messages: %v", name, err)
		}
	}
}

// TestDoctorOnServices: models, docling and receivers that refuse or are down; and which exit code wins.
func TestDoctorOnServices(t *testing.T) {
	t.Parallel()
	w := newWard(t)
	model, converter := llmtest.New(t, llmtest.Options{}), doclingtest.New(t, doclingtest.Options{})
	rater := reranktest.New(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	receiver := "http://" + listener.Addr().String() + "/hook?token=TopSecret"
	t.Cleanup(func() { _ = listener.Close() })
	good := w.env("LLM_PROVIDER=openai", "OPENAI_API_KEY="+llmtest.Key, "OPENAI_BASE_URL="+model.URL(),
		"DOCLING_URL="+converter.URL(),
		"DOCLING_API_KEY="+doclingtest.Key, "RERANK_URL="+rater.URL+reranktest.Cohere,
		"RERANK_MODEL="+reranktest.Model, "RERANK_API_KEY="+reranktest.Key, "WEBHOOK_ALLOW_CIDRS=127.0.0.0/8")
	for name, c := range map[string]struct {
		env  []string
		want string
		code int
	}{
		"all well":        {nil, "", exitOK},
		"wrong model key": {[]string{"OPENAI_API_KEY=wrong"}, "fail chat model, fail embedding model", exitPermission},
		"wrong width": {
			[]string{"EMBEDDING_DIMENSIONS=8", "OPENAI_EMBEDDING_MODEL=fixed-width"},
			"fail embedding model", exitConfig,
		},
		"docling's key":     {[]string{"DOCLING_API_KEY=wrong"}, "fail docling", exitPermission},
		"docling is down":   {[]string{"DOCLING_URL=http://127.0.0.1:1"}, "fail docling", exitUnavailable},
		"re-ranker's key":   {[]string{"RERANK_API_KEY=wrong"}, "fail re-ranker", exitPermission},
		"re-ranker's model": {[]string{"RERANK_MODEL=other"}, "fail re-ranker", exitConfig},
		"guarded receiver":  {[]string{"WEBHOOK_ALLOW_CIDRS="}, "fail webhooks", exitConfig},
		"permission before outage": {
			[]string{"OPENAI_API_KEY=wrong", "DOCLING_URL=http://127.0.0.1:1"},
			"fail chat model, fail docling, fail embedding model", exitPermission,
		},
		"configuration before all": {
			[]string{"OPENAI_API_KEY=wrong", "DOCLING_URL=http://127.0.0.1:1", "POLL_MAX_MS=never"},
			"fail chat model, fail docling, fail embedding model, fail settings", exitConfig,
		},
	} {
		sick, code := w.sick(t, slices.Concat(good, c.env), "--skip", "queues,container,store,clock", "--webhook-url",
			receiver)
		if names(sick) != c.want || code != c.code {
			t.Errorf("%s: exit %d, %s: %+v; want %d, %s", name, code, names(sick), sick, c.code, c.want)
		}
		if strings.Contains(fmt.Sprint(sick), "TopSecret") {
			t.Errorf("%s: the token of a receiver's URL was printed: %+v", name, sick)
		}
	}
	down := w.env("AZURE_STORAGE_CONNECTION_STRING=AccountName=acme;AccountKey=VG9wU2VjcmV0;QueueEndpoint=http://127.0.0.1:1/acme;BlobEndpoint=http://127.0.0.1:1/acme",
		"SUPABASE_URL=http://127.0.0.1:1")
	sick, code := w.sick(t, down, "--skip", "models,docling,webhooks,clock")
	if want := "fail container, fail queue metadata, fail store"; names(sick) != want || code != exitUnavailable {
		t.Errorf("nothing answers: exit %d, %s: %+v; want %s", code, names(sick), sick, want)
	}
}

// TestDoctorReadsTheUnitsFiles: --tenant reads what systemd gives the unit, and the modes of these files are looked
// at.
func TestDoctorReadsTheUnitsFiles(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	etc := filepath.Join(root, "etc", "async-worker")
	secrets := filepath.Join(etc, "credentials", "southhaven")
	if err := errors.Join(os.MkdirAll(secrets, 0o700), os.MkdirAll(filepath.Join(root, "etc", "default"), 0o755),
		os.WriteFile(filepath.Join(root, "etc", "default", "async-worker"),
			[]byte("LLM_PROVIDER=offline\nPOLL_MAX_MS=never\n"), 0o600),
		os.WriteFile(filepath.Join(etc, "southhaven.env"),
			[]byte("# ours\nPOLL_MAX_MS=\"5000\"\nSUPABASE_URL=http://127.0.0.1:1\nWEBHOOK_SECRET="+testSigning+"\n"),
			0o600),
		os.Chmod(filepath.Join(etc, "southhaven.env"), 0o644),
		os.WriteFile(filepath.Join(secrets, "SUPABASE_KEY"), []byte("sb_secret_TopSecret"), 0o600),
		os.WriteFile(filepath.Join(secrets, "AZURE_STORAGE_CONNECTION_STRING"), []byte("UseDevelopmentStorage=true"),
			0o600)); err != nil {
		t.Fatal(err)
	}
	w := ward{client: "southhaven", key: "TopSecret"}
	sick, code := w.sick(t, nil, "--root", root, "--tenant", "southhaven", "--skip", "queues,container,webhooks,clock")
	if names(sick) != "fail store" || code != exitUnavailable {
		t.Errorf("exit %d: %+v", code, sick)
	}
	var out, errOut bytes.Buffer
	code = Run(t.Context(), []string{
		"doctor", "--root", root, "--tenant", "southhaven", "--skip",
		"queues,container,webhooks,clock,store,machine,models",
	}, nil, strings.NewReader(""), &out, &errOut)
	said := strings.Join(strings.Fields(out.String()), " ") // where a line is broken depends on the folder's name
	if code != exitPermission || !strings.Contains(said, "southhaven.env has mode 0644") ||
		!strings.Contains(said, "chmod 0640") {
		t.Errorf("exit %d: %s%s", code, out.String(), errOut.String())
	}
	for tenant, want := range map[string]int{"nobody": exitConfig, "../etc": exitUsage} {
		if code := Run(t.Context(), []string{"doctor", "--root", root, "--tenant", tenant}, nil, strings.NewReader(""),
			&out, &errOut); code != want {
			t.Errorf("--tenant %s: exit %d, want %d", tenant, code, want)
		}
	}
	if code := Run(t.Context(), []string{"doctor", "--skip", "everything"}, nil, strings.NewReader(""), &out,
		&errOut); code != exitUsage {
		t.Errorf("an unknown group: exit %d", code)
	}
}

// TestDoctorBesideAWorker: a worker that does tasks meanwhile never sees what the doctor puts, and loses none.
func TestDoctorBesideAWorker(t *testing.T) {
	t.Parallel()
	w := newWard(t)
	env := w.env("DATABASE_URL="+w.database, "POLL_MIN_MS=10", "POLL_MAX_MS=20", "LOG_FORMAT=text")
	command := func(args ...string) result {
		return onServices(t.Context(), env, args...)
	}
	stop, ended := serve(t, env)
	sample := filepath.Join("..", "..", "dev", "samples", "first-week.md")
	for i := range 3 {
		id := fmt.Sprint("task-", i)
		command("enqueue", "--id", id, "--upload", sample, "--document-set", "samples").want(t, exitOK)
		if sick, code := w.sick(t, env, "--take"); code != exitOK || names(sick) != "" {
			t.Errorf("exit %d: %+v", code, sick)
		}
		command("jobs", "watch", id).want(t, exitOK, "succeeded")
	}
	command("dlq", "list", "-o", "json").want(t, exitOK, "[]")
	stop()
	if r := <-ended; r.code != exitOK {
		t.Errorf("run: %+v", r)
	}
}
