package main

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/service"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2"
	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/azure"
	"github.com/seed-7227ef26/async-worker/internal/docling/doclingtest"
	"github.com/seed-7227ef26/async-worker/internal/doctor"
	"github.com/seed-7227ef26/async-worker/internal/llm/llmtest"
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
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections) // supabase-go has no other
	return ward{client, stacktest.Azurite(t), database, api.TenantKey(t, client), api.URL}
}

// env is the settings of the tenant, with others that win.
func (w ward) env(more ...string) []string {
	return append([]string{
		"CLIENT_ID=" + w.client, "AZURE_STORAGE_CONNECTION_STRING=" + w.connection, "SUPABASE_URL=" + w.url, "SUPABASE_KEY=" + w.key,
		"LLM_PROVIDER=offline", "WEBHOOK_SECRET=" + testSigning,
	}, more...)
}

// sick is the checks that failed or warned, with their results, and the exit code.
func (w ward) sick(t *testing.T, env []string, args ...string) (map[string]doctor.Result, int) {
	t.Helper()
	var out, errOut bytes.Buffer
	code := run(t.Context(), append([]string{"doctor", "-o", "json", "--skip", "unit,machine"}, args...), env, strings.NewReader(""), &out, &errOut)
	var report examined
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		t.Fatalf("%v: exit %d, %s%s", err, code, out.String(), errOut.String())
	}
	if report.Exit != code || report.ClientID != w.client {
		t.Errorf("exit %d of client %s, and the report says %d of %s", code, w.client, report.Exit, report.ClientID)
	}
	for _, secret := range []string{"Eby8vdM02x", "sig=", w.key, testSigning} {
		if strings.Contains(out.String()+errOut.String(), secret) {
			t.Errorf("a secret was printed: %s%s", out.String(), errOut.String())
		}
	}
	found := map[string]doctor.Result{}
	for _, r := range report.Results {
		if r.State == doctor.Fail || r.State == doctor.Warn {
			found[r.Check] = r
		}
	}
	return found, code
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
	var out, errOut bytes.Buffer
	if code := run(t.Context(), []string{"doctor"}, w.env(), strings.NewReader(""), &out, &errOut); code != exitOK && code != exitConfig { // without poppler 78
		t.Errorf("exit %d: %s%s", code, out.String(), errOut.String())
	}
	if !strings.Contains(out.String(), "3 of 4 queues; "+task.QueueNames(w.client).Normal+": tasks wait") {
		t.Errorf("a waiting task is not told of:\n%s", out.String())
	}
	peeked, err := normal.PeekMessages(t.Context(), nil)
	if err != nil || len(peeked.Messages) != 1 || *peeked.Messages[0].DequeueCount != 0 {
		t.Errorf("the waiting task was touched: %+v, %v", peeked.Messages, err)
	}
	if sick, code := w.sick(t, w.env(), "--take"); code != exitOK || len(sick) != 0 {
		t.Errorf("with --take: exit %d: %+v", code, sick)
	}
	if peeked, err = normal.PeekMessages(t.Context(), nil); err != nil || len(peeked.Messages) != 1 || *peeked.Messages[0].DequeueCount != 1 {
		t.Errorf("the waiting task was not taken, or not given back: %+v, %v", peeked.Messages, err)
	}
	if _, err := normal.ClearMessages(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	var again bytes.Buffer
	if code := run(t.Context(), []string{"doctor", "--skip", "machine"}, w.env(), strings.NewReader(""), &again, &errOut); code != exitOK {
		t.Errorf("exit %d: %s", code, again.String())
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
		if p, err := queues.NewQueueClient(name).GetProperties(t.Context(), nil); err != nil || *p.ApproximateMessagesCount != 0 {
			t.Errorf("queue %s was left with messages: %v", name, err)
		}
	}
}

// signed is a connection string with a shared access signature of some rights, for both services.
// Source: https://learn.microsoft.com/rest/api/storageservices/create-account-sas (string to sign of version 2020-08-04).
func (w ward) signed(t *testing.T, rights string) string {
	t.Helper()
	part := map[string]string{}
	var endpoints strings.Builder
	for p := range strings.SplitSeq(w.connection, ";") {
		name, value, _ := strings.Cut(p, "=")
		part[name] = value
		if strings.HasSuffix(name, "Endpoint") {
			endpoints.WriteString(";" + p)
		}
	}
	key, err := base64.StdEncoding.DecodeString(part["AccountKey"])
	if err != nil {
		t.Fatal(err)
	}
	end := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s\n%s\nbq\nsco\n\n%s\n\nhttps,http\n2020-08-04\n", part["AccountName"], rights, end)
	q := url.Values{
		"sv": {"2020-08-04"}, "ss": {"bq"}, "srt": {"sco"}, "sp": {rights}, "se": {end}, "spr": {"https,http"},
		"sig": {base64.StdEncoding.EncodeToString(mac.Sum(nil))},
	}
	return "SharedAccessSignature=" + q.Encode() + endpoints.String()
}

// TestDoctorNamesEachLetter: a shared access signature without one of its rights.
func TestDoctorNamesEachLetter(t *testing.T) {
	t.Parallel()
	w := newWard(t)
	only := []string{"--skip", "store,models,docling,webhooks,clock"}
	if sick, code := w.sick(t, w.env(), only...); code != exitOK || len(sick) != 0 { // makes the queues and the container
		t.Fatalf("exit %d: %+v", code, sick)
	}
	all := "rwdacup"
	if sick, code := w.sick(t, w.env("AZURE_STORAGE_CONNECTION_STRING="+w.signed(t, all)), only...); code != exitOK || len(sick) != 0 {
		t.Fatalf("with %s: exit %d: %+v", all, code, sick)
	}
	for letter, want := range map[string]string{
		"r": "fail blob read, fail queue metadata, fail queue peek, warn container",
		"a": "fail queue put",
		"u": "fail queue update",
		"p": "fail queue delete, fail queue receive",
		"w": "fail blob write",
		"d": "warn blob delete",
	} {
		w.sick(t, w.env(), only...) // the key may delete: c is a right to write what isn't there
		sick, code := w.sick(t, w.env("AZURE_STORAGE_CONNECTION_STRING="+w.signed(t, strings.Replace(all, letter, "", 1))), only...)
		exit := exitPermission
		if strings.HasPrefix(want, "warn") {
			exit = exitOK
		}
		if names(sick) != want || code != exit {
			t.Errorf("without %s: exit %d, %s; want %s", letter, code, names(sick), want)
		}
		for check, r := range sick {
			if !strings.Contains(r.Mend, "signature lacks "+letter+",") || !strings.Contains(r.Mend, "az storage account generate-sas") {
				t.Errorf("without %s, %s: mend by %q", letter, check, r.Mend)
			}
		}
	}
}

// gate passes requests on to Azurite, and refuses one kind of them as Azure does.
type gate struct {
	refuse atomic.Pointer[azure.Right]
}

// rightOf is the right that a request needs.
func rightOf(r *http.Request) azure.Right {
	q, parts := r.URL.Query(), strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	if r.Header.Get("x-gate") == "blob" {
		switch {
		case q.Get("restype") == "container" && r.Method == http.MethodPut:
			return azure.ContainerCreate
		case q.Get("restype") == "container":
			return azure.ContainerRead
		case r.Method == http.MethodPut:
			return azure.BlobWrite
		case r.Method == http.MethodDelete:
			return azure.BlobDelete
		}
		return azure.BlobRead
	}
	switch {
	case len(parts) == 2 && r.Method == http.MethodPut:
		return azure.QueueCreate
	case len(parts) == 2:
		return azure.QueueMetadata
	case q.Get("peekonly") == "true":
		return azure.QueuePeek
	case r.Method == http.MethodGet:
		return azure.QueueReceive
	case r.Method == http.MethodPost:
		return azure.QueuePut
	case r.Method == http.MethodPut:
		return azure.QueueUpdate
	}
	return azure.QueueDelete
}

func (g *gate) open(t *testing.T, service, endpoint string) string {
	t.Helper()
	target, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	proxy := &httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = target.Scheme, target.Host, target.Host
		r.Out.Header.Del("x-gate")
	}}
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		r.Header.Set("x-gate", service)
		if refused := g.refuse.Load(); refused != nil && rightOf(r).Action == refused.Action {
			const code = "AuthorizationPermissionMismatch"
			rw.Header().Set("x-ms-error-code", code)
			rw.Header().Set("Content-Type", "application/xml")
			rw.WriteHeader(http.StatusForbidden)
			fmt.Fprintf(rw, `<?xml version="1.0" encoding="utf-8"?><Error><Code>%s</Code><Message>This request is not authorized to perform this operation using this permission.</Message></Error>`, code)
			return
		}
		proxy.ServeHTTP(rw, r)
	}))
	t.Cleanup(func() { server.Close(); transport.CloseIdleConnections() })
	return server.URL + target.Path
}

// TestDoctorNamesEachOperation: each single operation on the storage account is refused in turn.
func TestDoctorNamesEachOperation(t *testing.T) {
	t.Parallel()
	w := newWard(t)
	only := []string{"--skip", "store,models,docling,webhooks,clock"}
	var g gate
	parts := strings.Split(strings.TrimRight(w.connection, ";"), ";")
	for i, part := range parts {
		switch name, value, _ := strings.Cut(part, "="); name {
		case "QueueEndpoint":
			parts[i] = name + "=" + g.open(t, "queue", value)
		case "BlobEndpoint":
			parts[i] = name + "=" + g.open(t, "blob", value)
		}
	}
	env := w.env("AZURE_STORAGE_CONNECTION_STRING=" + strings.Join(parts, ";"))
	if sick, code := w.sick(t, env, only...); code != exitOK || len(sick) != 0 {
		t.Fatalf("exit %d: %+v", code, sick)
	}
	checks := map[string]string{
		azure.QueueMetadata.Action: "fail queue metadata", azure.QueueCreate.Action: "warn queue create", azure.QueuePeek.Action: "fail queue peek",
		azure.QueueReceive.Action: "fail queue receive", azure.QueueUpdate.Action: "fail queue update", azure.QueueDelete.Action: "fail queue delete",
		azure.QueuePut.Action: "fail queue put", azure.ContainerRead.Action: "warn container", azure.ContainerCreate.Action: "warn container create",
		azure.BlobRead.Action: "fail blob read", azure.BlobWrite.Action: "fail blob write",
		azure.BlobDelete.Action: "warn blob delete",
	}
	for _, right := range azure.Rights() {
		g.refuse.Store(&right)
		sick, code := w.sick(t, env, only...)
		want, exit := checks[right.Action], exitPermission
		if strings.HasPrefix(want, "warn") {
			exit = exitOK
		}
		if names(sick) != want || code != exit {
			t.Errorf("without %s: exit %d, %s; want %d, %s", right.Action, code, names(sick), exit, want)
		}
	}
	w.empty(t)
}

// TestDoctorNamesWhatTheKeyLacks: one thing at a time is taken from the key in the database (storetest.RunLacks does
// that with every single one), and the statement that is told gives it back.
func TestDoctorNamesWhatTheKeyLacks(t *testing.T) {
	t.Parallel()
	w := newWard(t)
	only := []string{"--skip", "queues,container,models,docling,webhooks,clock"}
	super, err := pgx.Connect(t.Context(), w.database)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = super.Close(context.Background()) })
	for sql, want := range map[string]string{
		"revoke execute on function aw_begin from async_worker":   "store functions",
		"revoke execute on function aw_examine from async_worker": "store functions",
		"revoke insert on jobs from aw_owner":                     "store tables",
		"revoke usage on schema public from async_worker, public": "store schema",
		"revoke async_worker from authenticator":                  "store",
		"drop policy tenant on documents":                         "row-level security",
		"alter table jobs disable row level security":             "row-level security",
		"grant select on webhook_deliveries to async_worker":      "row-level security",
		"grant create on schema public to public":                 "store schema",
	} {
		if _, err := super.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
		sick, code := w.sick(t, w.env(), only...)
		state, exit := "fail ", exitPermission
		if strings.HasPrefix(sql, "grant create") { // the functions are safe even so
			state, exit = "warn ", exitOK
		}
		if names(sick) != state+want || code != exit {
			t.Fatalf("after %s: exit %d, %+v; want %s", sql, code, sick, want)
		}
		if _, err := super.Exec(t.Context(), sick[want].Mend); err != nil {
			t.Fatalf("%s: %v", sick[want].Mend, err)
		}
		if sick, code := w.sick(t, w.env(), only...); code != exitOK || len(sick) != 0 {
			t.Fatalf("after %s, mended: exit %d, %+v", sql, code, sick)
		}
	}

	api := stacktest.Supabase{}
	for name, c := range map[string]struct {
		key, want string
		code      int
	}{
		"another client's key": {api.TenantKey(t, "mallory"), "fail store", exitPermission},
		"a key of no client":   {api.TenantKey(t, ""), "fail store", exitPermission},
		"no key at all":        {"sb_secret_wrong", "fail store", exitPermission},
		"the service key":      {api.ServiceKey(t), "warn store", exitOK},
	} {
		if sick, code := w.sick(t, w.env("SUPABASE_KEY="+c.key), only...); names(sick) != c.want || code != c.code {
			t.Errorf("%s: exit %d, %+v; want %d, %s", name, code, sick, c.code, c.want)
		}
	}
	if sick, code := w.sick(t, w.env("EMBEDDING_DIMENSIONS=3072"), only...); names(sick) != "fail store schema" || code != exitConfig {
		t.Errorf("another width: exit %d, %+v", code, sick)
	}
	if sick, code := w.sick(t, w.env("DATABASE_URL="+stacktest.EmptyPostgres(t)), only...); names(sick) != "fail store schema" || code != exitConfig {
		t.Errorf("an empty database: exit %d, %+v", code, sick)
	}
}

// TestDoctorOnServices: models, docling and receivers that refuse or are down; and which exit code wins.
func TestDoctorOnServices(t *testing.T) {
	t.Parallel()
	w := newWard(t)
	model, converter := llmtest.New(t, llmtest.Options{}), doclingtest.New(t, doclingtest.Options{})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	receiver := "http://" + listener.Addr().String() + "/hook?token=TopSecret"
	t.Cleanup(func() { _ = listener.Close() })
	good := w.env("LLM_PROVIDER=openai", "OPENAI_API_KEY="+llmtest.Key, "OPENAI_BASE_URL="+model.URL(), "DOCLING_URL="+converter.URL(),
		"DOCLING_API_KEY="+doclingtest.Key, "WEBHOOK_ALLOW_CIDRS=127.0.0.0/8")
	for name, c := range map[string]struct {
		env  []string
		want string
		code int
	}{
		"all well":         {nil, "", exitOK},
		"wrong model key":  {[]string{"OPENAI_API_KEY=wrong"}, "fail chat model, fail embedding model", exitPermission},
		"wrong width":      {[]string{"EMBEDDING_DIMENSIONS=8", "OPENAI_EMBEDDING_MODEL=fixed-width"}, "fail embedding model", exitConfig},
		"docling's key":    {[]string{"DOCLING_API_KEY=wrong"}, "fail docling", exitPermission},
		"docling is down":  {[]string{"DOCLING_URL=http://127.0.0.1:1"}, "fail docling", exitUnavailable},
		"guarded receiver": {[]string{"WEBHOOK_ALLOW_CIDRS="}, "fail webhooks", exitConfig},
		"permission before outage": {
			[]string{"OPENAI_API_KEY=wrong", "DOCLING_URL=http://127.0.0.1:1"},
			"fail chat model, fail docling, fail embedding model", exitPermission,
		},
		"configuration before all": {
			[]string{"OPENAI_API_KEY=wrong", "DOCLING_URL=http://127.0.0.1:1", "POLL_MAX_MS=never"},
			"fail chat model, fail docling, fail embedding model, fail settings", exitConfig,
		},
	} {
		sick, code := w.sick(t, slices.Concat(good, c.env), "--skip", "queues,container,store,clock", "--webhook-url", receiver)
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

// TestDoctorReadsTheUnitsFiles: --tenant reads what systemd gives the unit, and the modes of these files are looked at.
func TestDoctorReadsTheUnitsFiles(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	etc := filepath.Join(root, "etc", "async-worker")
	secrets := filepath.Join(etc, "credentials", "southhaven")
	if err := errors.Join(os.MkdirAll(secrets, 0o700), os.MkdirAll(filepath.Join(root, "etc", "default"), 0o755),
		os.WriteFile(filepath.Join(root, "etc", "default", "async-worker"), []byte("LLM_PROVIDER=offline\nPOLL_MAX_MS=never\n"), 0o600),
		os.WriteFile(filepath.Join(etc, "southhaven.env"), []byte("# ours\nPOLL_MAX_MS=\"5000\"\nSUPABASE_URL=http://127.0.0.1:1\nWEBHOOK_SECRET="+testSigning+"\n"), 0o600),
		os.Chmod(filepath.Join(etc, "southhaven.env"), 0o644),
		os.WriteFile(filepath.Join(secrets, "SUPABASE_KEY"), []byte("sb_secret_TopSecret"), 0o600),
		os.WriteFile(filepath.Join(secrets, "AZURE_STORAGE_CONNECTION_STRING"), []byte("UseDevelopmentStorage=true"), 0o600)); err != nil {
		t.Fatal(err)
	}
	w := ward{client: "southhaven", key: "TopSecret"}
	sick, code := w.sick(t, nil, "--root", root, "--tenant", "southhaven", "--skip", "queues,container,webhooks,clock")
	if names(sick) != "fail store" || code != exitUnavailable {
		t.Errorf("exit %d: %+v", code, sick)
	}
	var out, errOut bytes.Buffer
	code = run(t.Context(), []string{"doctor", "--root", root, "--tenant", "southhaven", "--skip", "queues,container,webhooks,clock,store,machine,models"}, nil, strings.NewReader(""), &out, &errOut)
	if code != exitPermission || !strings.Contains(out.String(), "southhaven.env has mode 0644") || !strings.Contains(out.String(), "chmod 0640") {
		t.Errorf("exit %d: %s%s", code, out.String(), errOut.String())
	}
	for tenant, want := range map[string]int{"nobody": exitFailed, "../etc": exitUsage} {
		if code := run(t.Context(), []string{"doctor", "--root", root, "--tenant", tenant}, nil, strings.NewReader(""), &out, &errOut); code != want {
			t.Errorf("--tenant %s: exit %d, want %d", tenant, code, want)
		}
	}
	if code := run(t.Context(), []string{"doctor", "--skip", "everything"}, nil, strings.NewReader(""), &out, &errOut); code != exitUsage {
		t.Errorf("an unknown group: exit %d", code)
	}
}

// TestDoctorBesideAWorker: a worker that does tasks meanwhile never sees what the doctor puts, and loses none.
func TestDoctorBesideAWorker(t *testing.T) {
	t.Parallel()
	w := newWard(t)
	env := w.env("DATABASE_URL="+w.database, "POLL_MIN_MS=10", "POLL_MAX_MS=20", "LOG_FORMAT=text")
	command := func(args ...string) result {
		var out, errOut bytes.Buffer
		code := run(t.Context(), args, env, strings.NewReader(""), &out, &errOut)
		return result{code, out.String(), errOut.String()}
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
