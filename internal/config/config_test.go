package config_test

import (
	"errors"
	"io/fs"
	"log/slog"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/config"
)

const (
	azurite = "DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;AccountKey=c2VjcmV0LWtleQ==;" +
		"QueueEndpoint=http://127.0.0.1:1/devstoreaccount1;BlobEndpoint=http://127.0.0.1:2/devstoreaccount1;"
	signing = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="
)

// minimal returns the fewest settings that `run` can start with.
func minimal(more ...string) []string {
	return append([]string{
		"AZURE_STORAGE_CONNECTION_STRING=" + azurite, "SUPABASE_URL=https://p.supabase.co",
		"SUPABASE_KEY=sb_secret_x", "LLM_PROVIDER=offline", "WEBHOOK_SECRET=" + signing,
	}, more...)
}

type files map[string]string

func (f files) read(name string) ([]byte, error) {
	if text, ok := f[name]; ok {
		if text == "forbidden" {
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
		}
		return []byte(text), nil
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

func load(t *testing.T, env []string, flags map[string]string, f files) (config.Config, []config.Problem) {
	t.Helper()
	cfg, err := config.Load(config.Sources{Flags: flags, Environ: env, ReadFile: f.read}, config.All)
	if err == nil {
		return cfg, nil
	}
	errs, ok := errors.AsType[*config.Errors](err)
	if !ok {
		t.Fatalf("not *config.Errors: %v", err)
	}
	return cfg, errs.Problems
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	c, problems := load(t, minimal(), nil, nil)
	if problems != nil {
		t.Fatal(problems)
	}
	for _, check := range []struct {
		name      string
		got, want any
	}{
		{"ClientID", c.ClientID, "default"},
		{"QueueBackend", c.QueueBackend, "azure"},
		{"Container", c.Azure.Container, "default-documents"},
		{"DBSchema", c.DBSchema, "public"},
		{"BaseURL", c.OpenAI.BaseURL, "https://api.openai.com/v1"},
		{"EmbeddingModel", c.OpenAI.EmbeddingModel, "text-embedding-3-small"},
		{"ChatModel", c.OpenAI.ChatModel, "gpt-4o-mini"},
		{"Dimensions", c.EmbeddingDimensions, 1536},
		{"Extractor", c.Extractor, "native"},
		{"OCREngine", c.OCREngine, "tesseract"},
		{"Concurrency", c.Concurrency, 4},
		{"LeaseTTL", c.LeaseTTL, time.Minute},
		{"PollMin", c.PollMin, 100 * time.Millisecond},
		{"PollMax", c.PollMax, 10 * time.Second},
		{"Retry", c.Retry, config.Retry{}},
		{"TaskTimeout", c.TaskTimeout, 30 * time.Minute},
		{"StepTimeout", c.StepTimeout, 30 * time.Second},
		{"MaxBlobBytes", c.MaxBlobBytes, int64(512 << 20)},
		{"DrainMax", c.DrainMax, 5 * time.Minute},
		{"VersionKeep", c.VersionKeep, 30 * 24 * time.Hour},
		{"HTTPAddr", c.HTTPAddr, ""},
		{"LogLevel", c.LogLevel, slog.LevelInfo},
		{"LogFormat", c.LogFormat, "auto"},
		{"TenantKey", c.Supabase.TenantKey, true},
		{"warnings", len(c.Warnings()), 0},
	} {
		if check.got != check.want {
			t.Errorf("%s is %v, want %v", check.name, check.got, check.want)
		}
	}
	d := config.Default()
	if d.ClientID != "default" || d.Concurrency != 4 || d.Azure.Container != "default-documents" {
		t.Errorf("Default() is %+v", d)
	}
}

func TestPrecedence(t *testing.T) {
	t.Parallel()
	env := minimal("CREDENTIALS_DIRECTORY=/cred", "HTTP_ADDR=[::1]:1", "HTTP_ADDR_FILE=/f",
		"RUNTIME_DIRECTORY=/run/a:/run/b")
	f := files{"/f": "[::1]:2\n", "/cred/tenant_HTTP_ADDR": "[::1]:3\n", "/cred/HTTP_ADDR": "[::1]:4\n"}
	flags := map[string]string{"HTTP_ADDR": "[::1]:5"}
	for _, want := range []struct{ value, origin string }{
		{"[::1]:5", "--http-addr"},
		{"[::1]:4", "credential"},
		{"[::1]:3", "credential"},
		{"[::1]:2", "HTTP_ADDR_FILE"},
		{"[::1]:1", "environment"},
		{"", "default"},
	} {
		c, problems := load(t, env, flags, f)
		if problems != nil {
			t.Fatal(problems)
		}
		row := c.Effective()[slices.IndexFunc(c.Effective(), func(r config.Row) bool { return r.Name == "HTTP_ADDR" })]
		if c.HTTPAddr != want.value || row.Value != want.value || row.Origin != want.origin {
			t.Errorf("got %q as %+v, want %+v", c.HTTPAddr, row, want)
		}
		if c.RuntimeDir != "/run/a" {
			t.Errorf("RuntimeDir %q", c.RuntimeDir)
		}
		switch want.origin { // remove the source that won
		case "--http-addr":
			flags = nil
		case "credential":
			delete(f, map[string]string{"[::1]:4": "/cred/HTTP_ADDR", "[::1]:3": "/cred/tenant_HTTP_ADDR"}[want.value])
		case "HTTP_ADDR_FILE":
			env = slices.DeleteFunc(env, func(s string) bool { return strings.HasPrefix(s, "HTTP_ADDR_FILE=") })
		case "environment":
			env = append(env, "HTTP_ADDR=")
		}
	}
}

func TestValues(t *testing.T) {
	t.Parallel()
	c, problems := load(t, minimal("CLIENT_ID=south-haven", "WEBHOOK_ALLOW_CIDRS=10.1.2.3/8, ::1", "LOG_LEVEL=Debug",
		"SUPABASE_URL=https://p.supabase.co/", "SUPABASE_SERVICE_ROLE_KEY=service", "RETRY_BACKOFF_MS=250",
		"WEBHOOK_SECRET="+signing+"  "+signing), map[string]string{"CLIENT_ID": "south-haven"}, nil)
	if problems != nil {
		t.Fatal(problems)
	}
	want := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	if !slices.Equal(c.Webhook.AllowCIDRs, want) {
		t.Errorf("AllowCIDRs %v", c.Webhook.AllowCIDRs)
	}
	if c.Azure.Container != "south-haven-documents" || c.LogLevel != slog.LevelDebug ||
		c.Supabase.URL != "https://p.supabase.co" ||
		c.Supabase.Key.Reveal() != "sb_secret_x" || c.Retry.Backoff != 250*time.Millisecond ||
		c.Webhook.Secret.Reveal() != signing+" "+signing {
		t.Errorf("%+v", c)
	}
}

// A command reads only the groups that it needs: mistakes in other groups don't matter.
func TestGroups(t *testing.T) {
	t.Parallel()
	src := config.Sources{Environ: []string{"WORKER_CONCURRENCY=x", "DATABASE_URL=postgres://h/d"}}
	c, err := config.Load(src, config.Tenant|config.Store)
	if err != nil || c.Concurrency != 4 {
		t.Errorf("%v, concurrency %d", err, c.Concurrency)
	}
	src.Environ = []string{"SUPABASE_URL=https://p", "SUPABASE_KEY=k"}
	_, err = config.Load(src, config.Database|config.Schema)
	if err == nil || !strings.Contains(err.Error(), "DATABASE_URL") {
		t.Errorf("migrate without DATABASE_URL: %v", err)
	}
	if _, err := config.Load(config.Sources{}, config.Extract|config.Log); err != nil {
		t.Errorf("a command that needs nothing: %v", err)
	}
}

// The emulator's shortcut is expanded where the credentials are made.
func TestDevelopmentStorage(t *testing.T) {
	t.Parallel()
	c, err := config.Load(config.Sources{
		Environ: []string{"AZURE_STORAGE_CONNECTION_STRING=UseDevelopmentStorage=true"},
	}, config.Queue)
	if err != nil || c.Azure.ConnectionString.Reveal() != "UseDevelopmentStorage=true" {
		t.Errorf("got %v, %v", c.Azure, err)
	}
}

func TestPII(t *testing.T) {
	t.Parallel()
	c, problems := load(t, minimal("PII_MODE=Redact", "PII_KINDS=email, Person,EMAIL",
		"PII_DETECTOR_URL=http://localhost:5002/",
		"PII_DETECTOR_LANGUAGES=de,EN", "WEBHOOK_SECRET="), nil, nil)
	if problems != nil {
		t.Fatal(problems)
	}
	want := config.PII{
		Mode: config.PIIRedact, Kinds: []string{"EMAIL", "PERSON"}, DetectorURL: "http://localhost:5002",
		DetectorLanguages: []string{"de", "en"},
	}
	if !reflect.DeepEqual(c.PII, want) {
		t.Errorf("got %+v", c.PII)
	}
	c, problems = load(t, minimal("PII_DETECTOR_URL=http://presidio:3000"), nil, nil)
	if problems != nil {
		t.Fatal(problems)
	}
	var warned []string
	for _, w := range c.Warnings() {
		if w.Name == "PII_DETECTOR_URL" {
			warned = append(warned, w.Problem)
		}
	}
	if len(warned) != 2 || c.PII.Mode != config.PIIOff || !slices.Equal(c.PII.DetectorLanguages, []string{"en"}) {
		t.Errorf("warned of %q; %+v", warned, c.PII)
	}
}
