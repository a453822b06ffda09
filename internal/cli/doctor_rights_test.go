package cli

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/azure"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
)

// signed is a connection string with a shared access signature of some rights, for both services.
// Source: https://learn.microsoft.com/rest/api/storageservices/create-account-sas (string to sign of version
// 2020-08-04).
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
	end := time.Now().AddDate(1, 0, 0).UTC().Format(time.RFC3339) // one that ends soon has a warning
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
	// makes the queues and the container
	if sick, code := w.sick(t, w.env(), only...); code != exitOK || len(sick) != 0 {
		t.Fatalf("exit %d: %+v", code, sick)
	}
	all := "rwdlacup"
	if sick, code := w.sick(t, w.env("AZURE_STORAGE_CONNECTION_STRING="+w.signed(t, all)), only...); code != exitOK ||
		names(sick) != "warn blob sign" || !strings.Contains(sick["blob sign"].Remedy, "EXPORT_URL_HOURS=0") {
		t.Fatalf("with %s: exit %d: %+v", all, code, sick)
	}
	for letter, want := range map[string]string{
		"r": "fail blob read, fail queue metadata, fail queue peek, warn container",
		"a": "fail queue put",
		"u": "fail queue update",
		"p": "fail queue delete, fail queue receive",
		"w": "fail blob write",
		"d": "warn blob delete",
		"l": "warn blob list",
	} {
		w.sick(t, w.env(), only...) // the key may delete: c is a right to write what isn't there
		sick, code := w.sick(t, w.env("EXPORT_URL_HOURS=0", "AZURE_STORAGE_CONNECTION_STRING="+
			w.signed(t, strings.Replace(all, letter, "", 1))), only...)
		exit := exitPermission
		if strings.HasPrefix(want, "warn") {
			exit = exitOK
		}
		if names(sick) != want || code != exit {
			t.Errorf("without %s: exit %d, %s; want %s", letter, code, names(sick), want)
		}
		for check, r := range sick {
			if !strings.Contains(r.Remedy, "signature lacks "+letter+",") ||
				!strings.Contains(r.Remedy, "az storage account generate-sas") {
				t.Errorf("without %s, %s: the remedy is %q", letter, check, r.Remedy)
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
		case q.Get("comp") == "list":
			return azure.BlobList
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
	// By default it would say that on the standard log, which is that of a command of another test.
	proxy.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }
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
		azure.QueueMetadata.Action: "fail queue metadata", azure.QueueCreate.Action: "warn queue create",
		azure.QueuePeek.Action:    "fail queue peek",
		azure.QueueReceive.Action: "fail queue receive", azure.QueueUpdate.Action: "fail queue update",
		azure.QueueDelete.Action: "fail queue delete",
		azure.QueuePut.Action:    "fail queue put", azure.ContainerRead.Action: "warn container",
		azure.ContainerCreate.Action: "warn container create",
		azure.BlobRead.Action:        "fail blob read, warn blob list", azure.BlobWrite.Action: "fail blob write",
		azure.BlobDelete.Action: "warn blob delete",
		azure.BlobSign.Action:   "", // a key signs here
	}
	for _, right := range azure.Rights() {
		g.refuse.Store(&right)
		sick, code := w.sick(t, env, only...)
		want, exit := checks[right.Action], exitPermission
		if !strings.HasPrefix(want, "fail") {
			exit = exitOK
		}
		if names(sick) != want || code != exit {
			t.Errorf("without %s: exit %d, %s; want %d, %s", right.Action, code, names(sick), exit, want)
		}
	}
	w.empty(t)
}

// storeChecks leaves only the checks of the database and the machine.
func storeChecks() []string {
	return []string{"--skip", "queues,container,models,docling,webhooks,clock"}
}

// lacks removes a right or an object, and wants a check to fail with the statement that restores it.
func (w ward) lacks(t *testing.T, sql, want string) {
	t.Helper()
	super, err := pgx.Connect(t.Context(), w.database)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = super.Close(context.WithoutCancel(t.Context())) }()
	if _, err := super.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
	sick, code := w.sick(t, w.env(), storeChecks()...)
	state, exit := "fail ", exitPermission
	if strings.HasPrefix(sql, "grant create") { // the functions are safe even so
		state, exit = "warn ", exitOK
	}
	if names(sick) != state+want || code != exit {
		t.Fatalf("after %s: exit %d, %+v; want %s", sql, code, sick, want)
	}
	if _, err := super.Exec(t.Context(), sick[want].Remedy); err != nil {
		t.Fatalf("%s: %v", sick[want].Remedy, err)
	}
	if sick, code := w.sick(t, w.env(), storeChecks()...); code != exitOK || len(sick) != 0 {
		t.Fatalf("after %s, mended: exit %d, %+v", sql, code, sick)
	}
}

// TestDoctorNamesAMissingMember runs beside no other test: members of roles are the whole cluster's.
func TestDoctorNamesAMissingMember(t *testing.T) { //nolint:paralleltest // see above
	newWard(t).lacks(t, "revoke async_worker from authenticator", "store")
}

// TestDoctorNamesWhatTheKeyLacks: one thing at a time is taken from the key in the database (storetest.RunLacks does
// that with every single one), and the reported statement gives it back.
func TestDoctorNamesWhatTheKeyLacks(t *testing.T) {
	t.Parallel()
	w := newWard(t)
	for sql, want := range map[string]string{
		"revoke execute on function aw_begin from async_worker":   "store functions",
		"revoke execute on function aw_examine from async_worker": "store functions",
		"revoke insert on jobs from aw_owner":                     "store tables",
		"revoke usage on schema public from async_worker, public": "store schema",
		"drop policy tenant on documents":                         "row-level security",
		"alter table jobs disable row level security":             "row-level security",
		"grant select on webhook_deliveries to async_worker":      "row-level security",
		"grant create on schema public to public":                 "store schema",
	} {
		w.lacks(t, sql, want)
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
		if sick, code := w.sick(t, w.env("SUPABASE_KEY="+c.key), storeChecks()...); names(sick) != c.want ||
			code != c.code {
			t.Errorf("%s: exit %d, %+v; want %d, %s", name, code, sick, c.code, c.want)
		}
	}
	if sick, code := w.sick(t, w.env("EMBEDDING_DIMENSIONS=3072"),
		storeChecks()...); names(sick) != "fail store schema" || code != exitConfig {
		t.Errorf("another width: exit %d, %+v", code, sick)
	}
	if sick, code := w.sick(t, w.env("DATABASE_URL="+stacktest.EmptyPostgres(t)),
		storeChecks()...); names(sick) != "fail store schema" || code != exitConfig {
		t.Errorf("an empty database: exit %d, %+v", code, sick)
	}
}
