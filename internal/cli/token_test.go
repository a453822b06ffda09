package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
)

const signingSecret = "SUPABASE_JWT_SECRET=TopSecret of at least 32 characters, for keys"

func TestTokenRefuses(t *testing.T) {
	t.Parallel()
	client := "CLIENT_ID=southhaven"
	for _, c := range []struct {
		env  []string
		args string
		code int
		text string
	}{
		{[]string{client, signingSecret}, "", exitUsage, "--role is missing"},
		{[]string{client, signingSecret}, "--role service_role", exitUsage, "reader or worker"},
		{[]string{client, signingSecret}, "--role reader --expires 59s", exitUsage, "1m to 3650d"},
		{[]string{client, signingSecret}, "--role reader --expires 3651d", exitUsage, "1m to 3650d"},
		{[]string{client, signingSecret}, "--role reader --expires soon", exitUsage, "--expires"},
		{[]string{client, signingSecret}, "--role reader --supabase-jwt-secret x", exitUsage, "unknown flag"},
		{[]string{"DATABASE_URL=postgres://x", signingSecret}, "--role reader", exitUsage, "the key's tenant"},
		{[]string{client}, "--role reader", exitConfig, "SUPABASE_JWT_SECRET_FILE"},
		{[]string{client, "SUPABASE_JWT_SECRET=TopSecret"}, "--role reader", exitConfig, "shorter than 32 bytes"},
		{[]string{client, "SUPABASE_JWT_SECRET_FILE=/nonexistent"}, "--role reader", exitConfig, "does not exist"},
		{[]string{"CLIENT_ID=South Haven", signingSecret}, "--role reader", exitConfig, "CLIENT_ID"},
	} {
		r := invoke(t, app.Tenant{}, c.env, "", append([]string{"token", "sign"}, strings.Fields(c.args)...)...)
		r.want(t, c.code, c.text)
		if r.out != "" {
			t.Errorf("%s: printed %q", c.args, r.out)
		}
	}
}

// A tenant's credentials are not the place for the secret of all tenants: one that lies there is not used.
func TestTokenLeavesCredentialsAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "SUPABASE_JWT_SECRET"), []byte(signingSecret), 0o600); err != nil {
		t.Fatal(err)
	}
	invoke(t, app.Tenant{}, []string{"CLIENT_ID=southhaven", "CREDENTIALS_DIRECTORY=" + dir}, "", "token", "sign",
		"--role", "reader").want(t, exitConfig, "is not set")
	root := t.TempDir()
	putTenant(t, root, "southhaven", "127.0.0.1:1")
	if err := os.WriteFile(filepath.Join(root, tenantsDir, "southhaven.env"),
		[]byte("LLM_PROVIDER=offline\n"+signingSecret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	onImage(t, root, "", "token", "sign", "--tenant", "southhaven", "--role", "reader").want(t, exitConfig,
		"is not set")
}

// A tenant of the machine gets a key as the help prints it: the secret is the shell's, not the tenant's.
func TestTokenSignOfATenant(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, name := range []string{"southhaven", "northhaven"} {
		putTenant(t, root, name, "127.0.0.1:1")
		args := []string{"token", "sign", "--role", "reader", "--tenant", name, "--root", root}
		got := invoke(t, app.Tenant{}, []string{signingSecret, "CLIENT_ID=eastbay"}, "", args...)
		if token, _, err := jwt.NewParser().ParseUnverified(strings.TrimSpace(got.out), jwt.MapClaims{}); got.code != exitOK ||
			err != nil || token.Claims.(jwt.MapClaims)["client_id"] != name {
			t.Errorf("%s: %v, %+v", name, err, got)
		}
	}
	invoke(t, app.Tenant{}, []string{signingSecret}, "", "token", "sign", "--role", "reader", "--tenant", "eastbay", "--root", root).
		want(t, exitConfig, "eastbay")
}

// A tenant's files are checked as its worker reads them, also for the secret that its HTTP API may verify with.
func TestTenantsSigningSecretIsChecked(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	putTenant(t, root, "southhaven", "127.0.0.1:1")
	file, err := os.OpenFile(filepath.Join(root, tenantsDir, "southhaven.env"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = file.WriteString("SUPABASE_JWT_SECRET=short\n")
	if err := errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
	onImage(t, root, "", "check-config", "--tenant", "southhaven").want(t, exitConfig, "SUPABASE_JWT_SECRET")
}

// A real PostgREST takes the keys: a reader's reads its tenant's rows and writes nothing, a worker's is a
// SUPABASE_KEY.
func TestTokenOnPostgREST(t *testing.T) {
	t.Parallel()
	api := stacktest.PostgREST(t, stacktest.PostgresWith(t, schema.Options{}))
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte(api.JWTSecret()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	token := func(args ...string) result {
		var out, errOut bytes.Buffer
		code := Run(t.Context(), append([]string{"token", "sign", "--client-id", "southhaven"}, args...),
			[]string{
				"SUPABASE_JWT_SECRET_FILE=" + secret, "LLM_PROVIDER=offline",
			}, strings.NewReader(""), &out, &errOut)
		if strings.Contains(out.String()+errOut.String(), api.JWTSecret()) {
			t.Error("the secret was printed")
		}
		return result{code, out.String(), errOut.String()}
	}
	ask := func(key, method, path, body string) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, api.URL+"/rest/v1/"+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+key)
		r.Header.Set("Content-Type", "application/json")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, string(text)
	}
	t.Cleanup(http.DefaultClient.CloseIdleConnections)

	reader, worker := token("--role", "reader", "--expires", "1m"), token("--role", "worker", "--expires", "365d")
	reader.want(t, exitOK)
	worker.want(t, exitOK, "warning: until ", "reads and writes all jobs", "southhaven")
	if reader.errOut != "" || strings.Count(worker.out, "\n") != 1 || strings.Count(worker.out, ".") != 2 {
		t.Errorf("reader: %+v, worker: %+v", reader, worker)
	}
	key := strings.TrimSpace(reader.out)
	const submit = `{"p":{"client_id":"southhaven","job_id":"a","type":"ocr","payload":{},"fingerprint":"f","max_attempts":1}}`
	if status, body := ask(key, "POST", "rpc/aw_submit", submit); status != http.StatusForbidden {
		t.Errorf("a reader writes: %d %s", status, body)
	}
	if status, body := ask(strings.TrimSpace(worker.out), "POST", "rpc/aw_submit", submit); status != http.StatusOK {
		t.Errorf("a worker writes: %d %s", status, body)
	}
	if status, body := ask(key, "GET", "own_jobs?select=id", ""); status != http.StatusOK || body != `[{"id":"a"}]` {
		t.Errorf("a reader reads: %d %s", status, body)
	}
	if status, body := ask(strings.TrimSpace(token("--role", "reader", "--client-id", "northhaven").out), "GET",
		"own_jobs?select=id", ""); status != http.StatusOK || body != `[]` {
		t.Errorf("another tenant's reader reads: %d %s", status, body)
	}
	var m signedToken
	before := time.Now().Add(12 * time.Hour)
	if err := json.Unmarshal([]byte(token("--role", "reader", "--expires", "12h", "-o", "json").out), &m); err != nil ||
		m.ClientID != "southhaven" ||
		m.Role != "async_worker_reader" || m.Expires.Sub(before).Abs() > time.Minute || m.Token == "" {
		t.Errorf("%v: %+v", err, m)
	}
}
