package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/stack/leaktest"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
)

// TestMain stops the servers that tests have started, and looks for what was left running.
func TestMain(m *testing.M) {
	if isChild() {
		os.Exit(asChild())
	}
	stacktest.Main(m, leaktest.Find)
}

const (
	testConnection = "DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;AccountKey=VG9wU2VjcmV0QWNjb3VudEtleQ==;"
	testKey        = "sb_secret_TopSecretServiceKey"
	testSigning    = "whsec_VG9wU2VjcmV0VG9wU2VjcmV0VG9wU2VjcmV0"
)

// testEnv is enough for every command.
func testEnv(more ...string) []string {
	return append([]string{
		"AZURE_STORAGE_CONNECTION_STRING=" + testConnection, "SUPABASE_URL=https://p.supabase.co",
		"SUPABASE_KEY=" + testKey,
		"LLM_PROVIDER=offline", "WEBHOOK_SECRET=" + testSigning, "CLIENT_ID=southhaven",
	}, more...)
}

// result is what a command left behind.
type result struct {
	code        int
	out, errOut string
}

// invoke runs a command line against the parts of a tenant.
func invoke(t *testing.T, parts app.Tenant, env []string, stdin string, args ...string) result {
	t.Helper()
	return invokeSeeing(t, parts, env, stdin, func(config.Config) {}, args...)
}

// invokeSeeing is invoke, and shows the settings with which a tenant is opened.
func invokeSeeing(
	t *testing.T, parts app.Tenant, env []string, stdin string, see func(config.Config), args ...string,
) result {
	t.Helper()
	var out, errOut bytes.Buffer
	p := &program{
		env: env, stdin: strings.NewReader(stdin), stdout: &out, stderr: &errOut,
		open: func(_ context.Context, cfg config.Config, _ *slog.Logger, _ app.Needs) (*app.Tenant, error) {
			see(cfg)
			parts.Config = cfg
			return &parts, nil
		},
	}
	code := p.run(t.Context(), args)
	for _, secret := range []string{"TopSecret", "VG9wU2VjcmV0"} {
		if strings.Contains(out.String()+errOut.String(), secret) {
			t.Errorf("a secret was printed: %s%s", out.String(), errOut.String())
		}
	}
	return result{code, out.String(), errOut.String()}
}

// onServices runs a command as Run does, with the time that a database may need on a busy machine.
func onServices(ctx context.Context, env []string, args ...string) result {
	var out, errOut bytes.Buffer
	p := &program{
		env: env, stdin: strings.NewReader(""), stdout: &out, stderr: &errOut, open: app.Open, systemctl: findSystemctl(),
		setenv: setenv, patience: busyPatience,
	}
	return result{p.run(ctx, args), out.String(), errOut.String()}
}

// doctorOnServices gives as much to each of the doctor's requests.
func doctorOnServices(ctx context.Context, env []string, args ...string) result {
	return onServices(ctx, env, append([]string{"doctor", "--timeout", busyPatience.String()}, args...)...)
}

// want checks the exit code and that each text is in the whole output.
func (r result) want(t *testing.T, code int, texts ...string) {
	t.Helper()
	if r.code != code {
		t.Errorf("exit code %d, want %d\nstdout: %s\nstderr: %s", r.code, code, r.out, r.errOut)
	}
	broken := strings.Join(strings.Fields(r.out+r.errOut), " ") // lines are broken anywhere
	for _, text := range texts {
		if !strings.Contains(r.out+r.errOut, text) && !strings.Contains(broken, text) {
			t.Errorf("%q is not in\nstdout: %s\nstderr: %s", text, r.out, r.errOut)
		}
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args string
		code int
		text string
	}{
		{"", exitOK, "Tasks and documents:"},
		{"jobs", exitOK, "cancel"},
		{"--help", exitOK, "Exit codes"},
		{"frob", exitUsage, `no command "frob"`},
		{"jobs frob", exitUsage, `no command "frob"`},
		{"jobs list extra", exitUsage, "extra"},
		{"jobs get", exitUsage, "needs the ID of a job"},
		{"jobs list --frob", exitUsage, "async-worker jobs list --help"},
		{"jobs list -o xml", exitUsage, "table or json"},
		{"jobs list --limit 0", exitUsage, "1 to 1000"},
		{"jobs list --status gone", exitUsage, "pending, running"},
		{"jobs list --before soon", exitUsage, "is not a time"},
		{"dlq list --limit 1001", exitUsage, "1 to 1000"},
		{"search x -n 101", exitUsage, "1 to 100"},
		{"search", exitUsage, "needs a QUERY"},
		{"job", exitUsage, "did you mean async-worker jobs?"},
		{"help frob", exitUsage, `there is no command "frob"`},
		{"dlq replay d --rate fast", exitUsage, "write it like 10/s"},
		{"dlq purge --older-than soon", exitUsage, "write it like 90m"},
		{"jobs list -o yaml", exitUsage, `--output: "yaml" is not a format`},
		{"extract /", exitFailed, "open /: it is a directory"},
		{"enqueue --filename a --document-set s --priority urgent", exitUsage, "correct the flag"},
		{"enqueue --type ingest --help", exitOK, "the task's type: agent, ai, convert, export, ingest, ocr, summarize, xml"},
		{"webhooks listen --help", exitOK, "takes 1 setting as a flag; async-worker run --help lists it."},
		{"frob x", exitUsage, `async-worker: there is no command "frob"`},
		{"status x", exitUsage, "async-worker: status takes no arguments"},
		{"jobs show x", exitUsage, "did you mean async-worker jobs get?"},
		{"jobs lst", exitUsage, "did you mean async-worker jobs list"},
		{"jobs get a b", exitUsage, `got also "b"`},
		{"jobs list -n many", exitUsage, `--limit "many": it is not a whole number`},
		{"jobs list -n 99999999999999999999", exitUsage, "the number is too large"},
		{"doctor --timeout soon", exitUsage, "not a duration, such as"},
		{"--version", exitOK, "async-worker version"},
		{"run now", exitUsage, "now"},
		{"run --webhook-secret x", exitUsage, "unknown flag"},
		{"search tides --document-set a", exitUsage, "did you mean --set?"},
		{"enqueue --set a", exitUsage, "did you mean --document-set?"},
		{"enqueue --prioritty high", exitUsage, "did you mean --priority?"},
		{"jobs list --xyz", exitUsage, "lists the flags"},
		{"jobs lst --tenant a", exitUsage, "did you mean async-worker jobs list"},
		{"job list --tenant a", exitUsage, "did you mean async-worker jobs?"},
		{"completion tcsh", exitUsage, `completion has no command "tcsh"`},
		{"jobs cancel --in-advance a b/c", exitUsage, `"b/c" can't be an id`},
	} {
		t.Run(c.args, func(t *testing.T) {
			t.Parallel()
			r := invoke(t, app.Tenant{}, testEnv(), "", strings.Fields(c.args)...)
			r.want(t, c.code, c.text)
			if c.code == exitUsage && (r.out != "" || !strings.Contains(r.errOut, "what to do:")) {
				t.Errorf("an error belongs on stderr, with what to do: %+v", r)
			}
		})
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	invoke(t, app.Tenant{}, nil, "", "version").want(t, exitOK, "async-worker "+app.Version)
	var b buildInfo
	r := invoke(t, app.Tenant{}, nil, "", "version", "-o", "json")
	if err := json.Unmarshal([]byte(r.out), &b); err != nil || b.Version != app.Version || b.Go == "" {
		t.Errorf("%v %+v", err, b)
	}
}

func TestCompletionAndHelpNeedNothing(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish"} {
		invoke(t, app.Tenant{}, nil, "", "completion", shell).want(t, exitOK, "async-worker")
	}
	help := invoke(t, app.Tenant{}, nil, "", "run", "--help")
	text := strings.Join(strings.Fields(help.out), " ")
	for _, s := range config.Settings() {
		if !strings.Contains(text, s.Name) || !strings.Contains(text, strings.Join(strings.Fields(s.Help), " ")) ||
			!slices.Contains(config.Subjects(), s.Subject()) {
			t.Errorf("run --help says nothing of %s", s.Name)
		}
	}
}

// Five mistakes are five errors, each with name, problem and remedy.
func TestCheckConfigReportsAllMistakes(t *testing.T) {
	t.Parallel()
	env := []string{
		"CLIENT_ID=South Haven", "AZURE_STORAGE_CONNECTION_STRING=" + testConnection + "x",
		"SUPABASE_URL=p.supabase.co", "SUPABASE_KEY=" + testKey,
		"LLM_PROVIDER=openai", "WORKER_CONCURRENCY=many", "WEBHOOK_SECRET=TopSecret",
	}
	names := []string{
		"CLIENT_ID", "AZURE_STORAGE_CONNECTION_STRING", "SUPABASE_URL", "OPENAI_API_KEY", "WORKER_CONCURRENCY",
		"WEBHOOK_SECRET",
	}
	r := invoke(t, app.Tenant{}, env, "", "check-config")
	r.want(t, exitConfig, "6 problems in the settings.")
	blocks := strings.Split(r.out, "  problem: ")
	if len(blocks) != len(names)+1 || strings.Count(r.out, "  remedy:  ") != len(names) {
		t.Errorf("want %d blocks: %s", len(names), r.out)
	}
	for _, name := range names {
		if !strings.Contains("\n"+r.out, "\n"+name+"\n  problem: ") {
			t.Errorf("no block for %s: %s", name, r.out)
		}
	}

	r = invoke(t, app.Tenant{}, env, "", "check-config", "-o", "json")
	r.want(t, exitConfig)
	var c configReport
	if err := json.Unmarshal([]byte(r.out), &c); err != nil || len(c.Problems) != len(names) ||
		c.Problems[0].Remedy == "" {
		t.Errorf("%v: %s", err, r.out)
	}

	// run says the same, on stderr.
	r = invoke(t, app.Tenant{}, env, "", "run")
	r.want(t, exitConfig, "6 problems in the settings.", "what to do:")
	if r.out != "" {
		t.Errorf("run printed to stdout: %q", r.out)
	}
}

func TestCheckConfigShowsWhatIsInForce(t *testing.T) {
	t.Parallel()
	r := invoke(t, app.Tenant{}, testEnv("WORKER_CONCURENCY=3"), "", "check-config", "--worker-concurrency", "7")
	r.want(t, exitOK, "SUPABASE_KEY ", "[redacted]", "southhaven-documents", "The settings are fine.",
		"did you mean WORKER_CONCURRENCY?")
	for _, line := range []string{
		"WORKER_CONCURRENCY 7 --worker-concurrency", "CLIENT_ID southhaven environment",
		"POLL_MAX_MS 10000 default",
	} {
		if !strings.Contains(squeeze(r.out), line) {
			t.Errorf("no line %q in %s", line, r.out)
		}
	}
	var c configReport
	r = invoke(t, app.Tenant{}, testEnv(), "", "check-config", "-o", "json")
	if err := json.Unmarshal([]byte(r.out), &c); err != nil || len(c.Settings) != len(config.Settings()) ||
		c.Problems == nil || c.Warnings == nil {
		t.Errorf("%v: %s", err, r.out)
	}
}

func TestClientIDMustAgree(t *testing.T) {
	t.Parallel()
	r := invoke(t, app.Tenant{}, testEnv(), "", "run", "--client-id", "northhaven")
	r.want(t, exitConfig, "CLIENT_ID", "northhaven", "southhaven")
}

// squeeze makes one space of many.
func squeeze(s string) string {
	var out []string
	for line := range strings.SplitSeq(s, "\n") {
		out = append(out, strings.Join(strings.Fields(line), " "))
	}
	return strings.Join(out, "\n")
}
