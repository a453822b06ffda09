package config_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/config"
)

// Each mistake gives one error, with the right name and a remedy.
func TestMistakes(t *testing.T) {
	t.Parallel()
	anon := "eyJhbGciOiJIUzI1NiJ9.eyJyb2xlIjoiYW5vbiJ9.c2ln"
	for _, c := range []struct {
		env           string
		name, problem string
	}{
		{"CLIENT_ID=South", "CLIENT_ID", `"South" is not a valid name`},
		{"CLIENT_ID=a--b", "CLIENT_ID", "not a valid name"},
		{"CLIENT_ID=abcdefghijklmnopqrstuvwxyzabc", "CLIENT_ID", "not a valid name"},
		{"QUEUE_BACKEND=pgmq", "DATABASE_URL", "QUEUE_BACKEND is pgmq"},
		{"QUEUE_BACKEND=nats", "NATS_URL", "it is not set"},
		{"BLOB_BACKEND=dir", "BLOB_DIR", "it is not set"},
		{"EVENTS_URL=amqp://host", "EVENTS_URL", "neither an address of NATS nor of HTTP"},
		{"EVENTS_URL=https://user:pass@host/x", "EVENTS_URL", "a user name or password"},
		{"EVENTS_URL=nats://host:4222,https://host", "EVENTS_URL", "not all of its addresses"},
		{"EVENTS_URL=nats://", "EVENTS_URL", "names no host"},
		{"EVENTS_KEY=k", "EVENTS_URL", "an EVENTS_KEY but no address"},
		{"EVENTS_URL=tls://host:4222|EVENTS_KEY=two words", "EVENTS_KEY", "nor the whole seed of an NKey"},
		{
			"EVENTS_URL=tls://host:4222|EVENTS_KEY=SUAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "EVENTS_KEY",
			"nor the whole seed of an NKey",
		},
		{
			"NATS_URL=tls://host:4222|QUEUE_BACKEND=nats|NATS_CREDS=SUAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
			"NATS_CREDS", "nor the seed of an NKey",
		},
		{"EVENTS_URL=tls://host:4222|EVENTS_KEY=/etc/nats/user.creds", "EVENTS_KEY", "the name of a file"},
		{"EVENTS_URL=tls://host:4222|EVENTS_KEY=user.creds", "EVENTS_KEY", "the name of a file"},
		{"EVENTS_URL=tls://host:4222|EVENTS_KEY=/etc/nats/token", "EVENTS_KEY", "the name of a file"},
		{"EVENTS_URL=https://host|EVENTS_KEY=one\ntwo", "EVENTS_KEY", "a line break"},
		{"OTEL_EXPORTER_OTLP_HEADERS=s3cret", "OTEL_EXPORTER_OTLP_HEADERS", "number 1 of its headers is not name=value"},
		{"OTEL_EXPORTER_OTLP_HEADERS=a=b,=s3cret", "OTEL_EXPORTER_OTLP_HEADERS", "number 2 of its headers has no name"},
		{"EVENTS_KEEP_DAYS=0", "EVENTS_KEEP_DAYS", ""},
		{"GATEWAY_URL=gateway:80", "GATEWAY_URL", "does not begin with https"},
		{"GATEWAY_URL=https://u:p@h", "GATEWAY_URL", "user name or password"},
		{"GATEWAY_TIMEOUT_MS=10", "GATEWAY_TIMEOUT_MS", ""},
		{"GATEWAY_HEALTH_PATH=health", "GATEWAY_HEALTH_PATH", "not a valid name"},
		{"GATEWAY_HEALTH_PATH=//other/health", "GATEWAY_HEALTH_PATH", "not a valid name"},
		{"CONTEXT_MODE=model|LLM_PROVIDER=offline", "CONTEXT_MODE", "no model to ask"},
		{"CONTEXT_MODE=on", "CONTEXT_MODE", "not one of its values"},
		{"CONTEXT_MAX_TOKENS=10", "CONTEXT_MAX_TOKENS", ""},
		{"GATEWAY_CONCURRENCY=0", "GATEWAY_CONCURRENCY", ""},
		{"CHECK_CONFIDENCE=1.5", "CHECK_CONFIDENCE", "not a number from 0 to 1"},
		{"CHECK_CONFIDENCE=NaN", "CHECK_CONFIDENCE", "not a number from 0 to 1"},
		{"QUEUE_BACKEND=kafka", "QUEUE_BACKEND", "not one of its values"},
		{"AZURE_STORAGE_CONNECTION_STRING=", "AZURE_STORAGE_CONNECTION_STRING", "neither it nor"},
		{"AZURE_STORAGE_CONNECTION_STRING=abc", "AZURE_STORAGE_CONNECTION_STRING", "not Name=Value"},
		{
			"AZURE_STORAGE_CONNECTION_STRING=UseDevelopmentStorage=no", "AZURE_STORAGE_CONNECTION_STRING",
			"no AccountName",
		},
		{"AZURE_STORAGE_CONNECTION_STRING=AccountName=a", "AZURE_STORAGE_CONNECTION_STRING", "neither AccountKey"},
		{"AZURE_STORAGE_CONNECTION_STRING=AccountName=a;AccountKey=%", "AZURE_STORAGE_CONNECTION_STRING", "cut off"},
		{"AZURE_STORAGE_CONNECTION_STRING=AccountKey=eA==", "AZURE_STORAGE_CONNECTION_STRING", "no AccountName"},
		{
			"AZURE_STORAGE_CONNECTION_STRING=SharedAccessSignature=sig", "AZURE_STORAGE_CONNECTION_STRING",
			"QueueEndpoint",
		},
		{"AZURE_STORAGE_ACCOUNT=other", "AZURE_STORAGE_ACCOUNT", "another account"},
		{"AZURE_STORAGE_ACCOUNT=https://a.blob.core.windows.net", "AZURE_STORAGE_ACCOUNT", "not a valid name"},
		{"AZURE_STORAGE_CONTAINER=UP", "AZURE_STORAGE_CONTAINER", "not a valid name"},
		{"SUPABASE_URL=", "SUPABASE_URL", "a key but no address"},
		{"SUPABASE_URL=p.supabase.co", "SUPABASE_URL", "does not begin with https"},
		{"SUPABASE_URL=https://u:p@h", "SUPABASE_URL", "user name or password"},
		{"SUPABASE_KEY=", "SUPABASE_KEY", "an address but no key"},
		{"SUPABASE_KEY=" + anon, "SUPABASE_KEY", "public"},
		{"SUPABASE_KEY=sb_publishable_x", "SUPABASE_KEY", "public"},
		{"DATABASE_URL=mysql://h/db", "DATABASE_URL", "postgresql://"},
		{"DATABASE_URL=hello", "DATABASE_URL", "not a Postgres"},
		{"DATABASE_URL=postgres:///db", "DATABASE_URL", "no host"},
		{"DB_SCHEMA=My-Schema", "DB_SCHEMA", "not a valid name"},
		{"LLM_PROVIDER=openai", "OPENAI_API_KEY", "LLM_PROVIDER is openai"},
		{"LLM_PROVIDER=gpt", "LLM_PROVIDER", "not one of"},
		{
			"LLM_PROVIDER=openai|AZURE_OPENAI_ENDPOINT=https://r.openai.azure.com", "AZURE_OPENAI_API_KEY",
			"no key for it",
		},
		{"LLM_PROVIDER=openai|AZURE_OPENAI_API_KEY=k", "AZURE_OPENAI_ENDPOINT", "no endpoint for it"},
		{"LLM_PROVIDER=openai|OPENAI_API_KEY=k|EMBEDDING_DIMENSIONS=3072", "EMBEDDING_DIMENSIONS", "at most 1536"},
		{
			"LLM_PROVIDER=openai|OPENAI_API_KEY=k|EMBEDDING_DIMENSIONS=512|OPENAI_EMBEDDING_MODEL=text-embedding-ada-002",
			"EMBEDDING_DIMENSIONS", "no other number",
		},
		{"EMBEDDING_DIMENSIONS=4001", "EMBEDDING_DIMENSIONS", "out of range"},
		{"OPENAI_BASE_URL=//x", "OPENAI_BASE_URL", "does not begin"},
		{"DOCLING_URL=docling:5001", "DOCLING_URL", "does not begin"},
		{"DOCLING_API_KEY=secret", "DOCLING_URL", "but no address"},
		{"EXTRACTOR=docling", "EXTRACTOR", "DOCLING_URL is not set"},
		{"EXTRACTOR=auto", "EXTRACTOR", "DOCLING_URL is not set"},
		{"OCR_ENGINE=docling", "OCR_ENGINE", "DOCLING_URL is not set"},
		{"OCR_ENGINE=openai", "OCR_ENGINE", "needs a service"},
		{
			"OCR_ENGINE=openai|AZURE_OPENAI_ENDPOINT=https://r.openai.azure.com", "AZURE_OPENAI_API_KEY", "no key for it",
		},
		{
			"OCR_ENGINE=openai|AZURE_OPENAI_ENDPOINT=https://r.openai.azure.com|LLM_PROVIDER=openai", "AZURE_OPENAI_API_KEY",
			"no key for it",
		},
		{"OCR_ENGINE=openai|OCR_BASE_URL=https://api.openai.com/v1/|OPENAI_API_KEY=k", "OCR_API_KEY", "needs a key"},
		{"PII_MODE=hide", "PII_MODE", "not one of its values"},
		{"PII_KINDS=EMAIL,e-mail", "PII_KINDS", "not a valid name"},
		{"PII_MODE=redact|PII_KINDS=E_MAIL", "PII_KINDS", `"E_MAIL" is not a kind that is found without a detector`},
		{"PII_MODE=tag|PII_KINDS=PERSON", "PII_KINDS", `"PERSON" is not a kind`},
		{"PII_MODE=redact|PII_KINDS=EMAIL_ADDRESS", "PII_KINDS", "called EMAIL here"},
		{"PII_MODE=redact|PII_KINDS=US_SSN|PII_DETECTOR_URL=http://localhost:5002", "PII_KINDS", "called NATIONAL_ID here"},
		{"PII_MODE=redact|PII_KINDS=EMAIL,EMIAL", "PII_KINDS", `"EMIAL" is not a kind`},
		{"PII_DETECTOR_URL=localhost:5002", "PII_DETECTOR_URL", "http"},
		{"PII_DETECTOR_LANGUAGES=english", "PII_DETECTOR_LANGUAGES", "not a valid name"},
		{"PII_MODE=redact|OCR_ENGINE=openai|OPENAI_API_KEY=k", "OCR_ENGINE", "as they are"},
		{"OCR_API_KEY=k", "OCR_BASE_URL", "no address"},
		{"OCR_BASE_URL=vllm:8000", "OCR_BASE_URL", "does not begin"},
		{"OCR_CONCURRENCY=65", "OCR_CONCURRENCY", "out of range"},
		{"OPENAI_CHAT_CONTEXT=2047", "OPENAI_CHAT_CONTEXT", "out of range"},
		{"WORKER_CONCURRENCY=0", "WORKER_CONCURRENCY", "out of range"},
		{"WORKER_CONCURRENCY=four", "WORKER_CONCURRENCY", "not a whole number"},
		{"WORKER_LEASE_TTL_SEC=4", "WORKER_LEASE_TTL_SEC", "out of range"},
		{"WORKER_LEASE_TTL_SEC=60s", "WORKER_LEASE_TTL_SEC", "not a whole number"},
		{"POLL_MIN_MS=20000", "POLL_MIN_MS", "more than POLL_MAX_MS"},
		{"RETRY_MAX_ATTEMPTS=-1", "RETRY_MAX_ATTEMPTS", "out of range"},
		{"TASK_TIMEOUT_SEC=0", "TASK_TIMEOUT_SEC", "out of range"},
		{"MAX_BLOB_MB=99999999999999999999", "MAX_BLOB_MB", "not a whole number"},
		{"WEBHOOK_SECRET=hunter2", "WEBHOOK_SECRET", "whsec_"},
		{"WEBHOOK_SECRET=whsec_aGk=", "WEBHOOK_SECRET", "2 bytes"},
		{"WEBHOOK_SECRET=" + signing + " whsec_!", "WEBHOOK_SECRET", "number 2 is not base64"},
		{"WEBHOOK_ALLOW_CIDRS=10.0.0.0/33", "WEBHOOK_ALLOW_CIDRS", "not a network"},
		{"HTTP_ADDR=9090", "HTTP_ADDR", "not an address"},
		{"HTTP_ADDR=:http", "HTTP_ADDR", "not a port"},
		{"HTTP_ADDR=:9090|HTTP_TOKEN=short", "HTTP_TOKEN", "5 characters"},
		{"HTTP_ADDR=:9090|HTTP_TOKEN=with a blank in its midst", "HTTP_TOKEN", "spaces"},
		{"LOG_LEVEL=loud", "LOG_LEVEL", "not a level"},
		{"LOG_FORMAT=xml", "LOG_FORMAT", "not one of"},
		{"HTTP_ADDR_FILE=/missing", "HTTP_ADDR", "does not exist"},
		{"HTTP_ADDR_FILE=/forbidden", "HTTP_ADDR", "may not be read"},
		{"HTTP_ADDR_FILE=/empty", "HTTP_ADDR", "empty"},
	} {
		t.Run(c.env, func(t *testing.T) {
			t.Parallel()
			_, problems := load(t, minimal(strings.Split(c.env, "|")...), nil,
				files{"/forbidden": "forbidden", "/empty": "\n"})
			if len(problems) != 1 {
				t.Fatalf("want one problem, got %v", problems)
			}
			if p := problems[0]; p.Name != c.name || !strings.Contains(p.Problem, c.problem) || p.Remedy == "" {
				t.Errorf("got %+v", p)
			}
		})
	}
}

// If DOCLING_URL is set, docling-serve reads the documents unless EXTRACTOR is set.
func TestExtractor(t *testing.T) {
	t.Parallel()
	for env, want := range map[string]string{
		"": config.ExtractorNative, "DOCLING_URL=https://docling": config.ExtractorDocling,
		"DOCLING_URL=https://docling|EXTRACTOR=native": config.ExtractorNative,
		"DOCLING_URL=https://docling|EXTRACTOR=Auto":   config.ExtractorAuto,
	} {
		cfg, problems := load(t, minimal(strings.Split(env, "|")...), nil, nil)
		if len(problems) > 0 || cfg.Extractor != want {
			t.Errorf("%q gives %q, want %q; %v", env, cfg.Extractor, want, problems)
		}
	}
}

func TestAllMistakesAtOnce(t *testing.T) {
	t.Parallel()
	_, problems := load(t, []string{
		"CLIENT_ID=NO", "WORKER_CONCURRENCY=x", "WEBHOOK_SECRET=x", "AZURE_STORAGE_ACCOUNT=acct",
		"DATABASE_URL=host=/tmp", "POLL_MAX_MS=1",
	}, nil, nil)
	var names []string
	for _, p := range problems {
		names = append(names, p.Name)
	}
	want := []string{"CLIENT_ID", "OPENAI_API_KEY", "WORKER_CONCURRENCY", "POLL_MAX_MS", "WEBHOOK_SECRET"}
	if !slices.Equal(names, want) {
		t.Errorf("got %v, want %v", names, want)
	}
}

// An environment file can't override the instance's name, which is a flag (I10).
func TestClientIDMustAgree(t *testing.T) {
	t.Parallel()
	_, problems := load(t, minimal("CLIENT_ID=east"), map[string]string{"CLIENT_ID": "west"}, nil)
	if len(problems) != 1 || problems[0].Name != "CLIENT_ID" ||
		!strings.Contains(problems[0].Problem, `"west", but environment is "east"`) {
		t.Errorf("got %v", problems)
	}
}

// On loopback no token is needed. Elsewhere there are warnings: that metrics are closed without one, and that tokens
// travel unencrypted.
func TestHTTPToken(t *testing.T) {
	t.Parallel()
	const token, more = "HTTP_TOKEN=0123456789abcdef", "; "
	const closed = "HTTP_ADDR other machines can reach it, and HTTP_TOKEN is not set: metrics and status are closed there"
	entry := "API_TOKENS=desk:read:" + strings.Repeat("0f", 32)
	for env, want := range map[string]string{
		"HTTP_ADDR=127.0.0.1:9090": "", "HTTP_ADDR=localhost:9090": "", "HTTP_ADDR=[::1]:9090|" + token: "",
		"HTTP_ADDR=:9090|" + token: "HTTP_ADDR the token travels", token: "HTTP_TOKEN it is set, but",
		"HTTP_ADDR=:9090": closed, "HTTP_ADDR=0.0.0.0:9090": closed, "HTTP_ADDR=worker.example:9090": closed,
		"HTTP_ADDR=0.0.0.0:9090|" + entry:   "HTTP_ADDR tokens of the API travel" + more + closed,
		"HTTP_ADDR=127.0.0.1:9090|" + entry: "",
	} {
		c, problems := load(t, minimal(append(strings.Split(env, "|"), "WEBHOOK_SECRET="+signing)...), nil, nil)
		var warned []string
		for _, w := range c.Warnings() {
			warned = append(warned, w.Name+" "+w.Problem)
		}
		wanted := strings.Split(want, more)
		if len(problems) > 0 || len(warned) != len(wanted) && want != "" || want == "" && warned != nil {
			t.Fatalf("%s: %v, warned of %q, want %q", env, problems, warned, want)
		}
		for i, w := range warned {
			if !strings.HasPrefix(w, wanted[i]) {
				t.Errorf("%s: warned of %q, want %q", env, w, wanted[i])
			}
		}
	}
}

// The secret of JWTs is warned of with a remedy that there is: public keys are those of a project.
func TestSigningSecretIsWarnedOf(t *testing.T) {
	t.Parallel()
	const secret = "SUPABASE_JWT_SECRET=TopSecret of at least 32 characters, for users"
	for with, want := range map[string]string{
		"SUPABASE_URL=https://p.supabase.co|" + secret:            "asymmetric keys in the project",
		"SUPABASE_URL=|DATABASE_URL=postgresql://u@h/d|" + secret: "give the callers API_TOKENS",
	} {
		c, problems := load(t, minimal(strings.Split(with, "|")...), nil, nil)
		if problems != nil || !slices.ContainsFunc(c.Warnings(), func(p config.Problem) bool {
			return p.Name == config.SigningName && strings.Contains(p.Remedy, want)
		}) {
			t.Errorf("%s: %v; %v", with, problems, c.Warnings())
		}
	}
}

// A setting that does a part of what it says, as it did before, is warned of and stops nobody.
func TestPartlyUseful(t *testing.T) {
	t.Parallel()
	for setting, want := range map[string]string{
		"PII_KINDS=EMAIL,PERSON":                                                `"PERSON" is not a kind`,
		"PII_KINDS=PHONE,EMAIL_ADDRESS":                                         "called EMAIL here",
		"PII_KINDS=PERSON,US_SSN|PII_DETECTOR_URL=http://localhost:5002":        "called NATIONAL_ID here",
		"PII_KINDS=EMAILS|PII_DETECTOR_URL=http://localhost:5002":               `"EMAILS" is a kind neither`,
		"PII_KINDS=EMAIL,PERSONS|PII_DETECTOR_URL=http://localhost:5002":        `"PERSONS" is a kind neither`,
		"PII_KINDS=BERTH_NUMBER|PII_DETECTOR_URL=http://localhost:5002":         `"BERTH_NUMBER" is a kind neither`, // of the operator's
		"PII_KINDS=EMAIL,BERTH_NUMBER|PII_DETECTOR_URL=http://localhost:5002":   `"BERTH_NUMBER" is a kind neither`,
		"OTEL_EXPORTER_OTLP_HEADERS=a=b,a key=s3cret":                           "number 2 of its headers has a name",
		"OTEL_EXPORTER_OTLP_HEADERS=key=s3cret%0A|OTEL_EXPORTER_OTLP_ENDPOINT=": "control characters",
	} {
		c, problems := load(t, minimal(append(strings.Split(setting, "|"), "PII_MODE=redact")...), nil, nil)
		if problems != nil || !slices.ContainsFunc(c.Warnings(), func(p config.Problem) bool {
			return strings.Contains(p.Problem, want) && !strings.Contains(p.Problem, "s3cret")
		}) {
			t.Errorf("%s: %v; %v", setting, problems, c.Warnings())
		}
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	c, problems := load(t, minimal("WORKER_CONCURENCY=4", "WORKER_LEASE_TTL=60", "POLL_MAX_SEC=3",
		"SUPABASE_KYE_FILE=/x",
		"AZURE_CLIENT_ID=x", "HTTP_PROXY=x", "SUPABASE_ANON_KEY=x", "LOGNAME=root", "WEBHOOK_SECRET=",
		"SUPABASE_URL=http://10.0.0.1:3000"), nil, nil)
	if problems != nil {
		t.Fatal(problems)
	}
	var got []string
	for _, w := range c.Warnings() {
		got = append(got, w.Name+" "+w.Remedy)
	}
	want := []string{
		"SUPABASE_URL use https",
		`WEBHOOK_SECRET make one with: echo "whsec_$(openssl rand -base64 32)", and give it to the receiver`,
		"POLL_MAX_SEC did you mean POLL_MAX_MS?",
		"SUPABASE_KYE_FILE did you mean SUPABASE_KEY?",
		"WORKER_CONCURENCY did you mean WORKER_CONCURRENCY?",
		"WORKER_LEASE_TTL did you mean WORKER_LEASE_TTL_SEC?",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

// A credential with a name that is close to a setting's is said as a variable is; one of no setting may be for another
// program of the unit.
func TestMisspelledCredentials(t *testing.T) {
	t.Parallel()
	c, err := config.Load(config.Sources{
		Environ:  minimal("CREDENTIALS_DIRECTORY=/cred", "OPENAI_API_KEY_FILE=/cred/MODEL_KEY"),
		ReadFile: files{"/cred/MODEL_KEY": "sk"}.read,
		List: func(dir string) []string {
			if dir != "/cred" {
				t.Errorf("looks at %s", dir)
			}
			return []string{"OPENAI_APIKEY", "tenant_SUPABASE_KYE", "tenant_SUPABASE_KEY", "LLM_PROVIDER", "backup.pem", "SUPABASE_SERVICE_KEY", "MODEL_KEY"}
		},
	}, config.All)
	if err != nil {
		t.Fatal(err)
	}
	const problem = "unknown setting, in the folder of the credentials"
	want := []config.Problem{
		{Name: "OPENAI_APIKEY", Problem: problem, Remedy: "did you mean OPENAI_API_KEY?"},
		{Name: "SUPABASE_KYE", Problem: problem, Remedy: "did you mean SUPABASE_KEY?"},
		{
			Name: "SUPABASE_SERVICE_KEY", Problem: problem + ": the worker ignores it",
			Remedy: "remove it, or correct its name: docs/settings.md lists all",
		},
	}
	if got := c.Warnings(); !slices.Equal(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

// What stands in a tenant's own file was meant for the worker, unlike what else is in its environment.
func TestUnknownInOwnFile(t *testing.T) {
	t.Parallel()
	file := map[string]string{}
	for _, name := range []string{"OPENAI_API_BASE", "AZURE_CLIENT_ID", "PGSSLMODE", "HTTPS_PROXY", "TZ", "GOMEMLIMIT", "CLIENT_ID", "IDENTITY_ENDPOINT", "MSI_ENDPOINT"} {
		file[name] = "/etc/async-worker/southhaven.env"
	}
	c, err := config.Load(config.Sources{
		Environ: minimal("OPENAI_API_BASE=x", "AZURE_CLIENT_ID=x", "PGSSLMODE=x", "HTTPS_PROXY=x", "TZ=x", "GOMEMLIMIT=x", "SHELL_LEVEL=1",
			"IDENTITY_ENDPOINT=x", "MSI_ENDPOINT=x"),
		ReadFile: files{}.read, Files: file,
	}, config.All)
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Warnings(); len(got) != 1 || got[0].Name != "OPENAI_API_BASE" || !strings.Contains(got[0].Problem, "ignores it") {
		t.Errorf("got %+v", got)
	}
}
