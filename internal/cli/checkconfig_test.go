package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/config"
)

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
