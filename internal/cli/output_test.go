package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// JSON on a terminal shows what would act on it, and means the same.
func TestJSONOutputIsHarmless(t *testing.T) {
	t.Parallel()
	const hostile = "invoice\u009b2J\u202efdp.exe\u2069"
	var indented, line bytes.Buffer
	if err := printJSON(&indented, map[string]any{"filename": hostile, "payload": json.RawMessage(`{"a":"` + hostile +
		`"}`)}); err != nil {
		t.Fatal(err)
	}
	(&program{stdout: &line}).newDisplay(asJSON).ended(store.Job{ID: hostile})
	for _, out := range []string{indented.String(), line.String()} {
		if strings.ContainsAny(out, "\u009b\u202e\u2069") ||
			!strings.Contains(out, `invoice\u009b2J\u202efdp.exe\u2069`) {
			t.Errorf("printed %q", out)
		}
	}
	var got map[string]any
	if err := json.Unmarshal(indented.Bytes(), &got); err != nil || got["filename"] != hostile {
		t.Errorf("%v, %v", got, err)
	}
}

// TestWidthOfCheckConfig: a long value stands below its row, whole, and no line is wider than maxLineWidth.
func TestWidthOfCheckConfig(t *testing.T) {
	t.Parallel()
	long := "https://" + strings.Repeat("p", 92)
	root := machineWith(t, "southhaven")
	file := filepath.Join(root, tenantsDir, "southhaven.env")
	text := "SUPABASE_URL=https://southhaven.example\nOPENAI_BASE_URL=" + long + "\nBLOB_BACKEND=dir\nBLOB_DIR=/srv/" +
		strings.Repeat("b", 60) + "\nQUEUE_BACKEND=nats\nNATS_URL=nats://127.0.0.1\nLLM_PROVIDER=offline\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]result{
		"of the environment": invoke(t, app.Tenant{}, testEnv("OPENAI_BASE_URL="+long), "", "check-config"),
		"of a tenant":        invoke(t, app.Tenant{}, nil, "", "check-config", "--root", root),
	} {
		r.want(t, exitOK, "\n    "+long, "SETTING", "VALUE", "FROM", "The settings are fine.")
		if name == "of a tenant" {
			r.want(t, exitOK, file)
		}
		for line := range strings.Lines(r.out) {
			if len(line) > maxLineWidth+1 && !strings.Contains(line, "chmod ") { // a command stays whole
				t.Errorf("%s: %d columns: %s", name, len(line), line)
			}
		}
	}
}

// TestWidthOfTenantList: the names of many secrets stand below their tenant.
func TestWidthOfTenantList(t *testing.T) {
	t.Parallel()
	root := machineWith(t, "southhaven")
	for _, name := range []string{
		"AZURE_STORAGE_CONNECTION_STRING", "OPENAI_API_KEY", "WEBHOOK_SECRET", "HTTP_TOKEN", "API_TOKENS", "DATABASE_URL",
		"DOCLING_API_KEY", "COGNEE_API_KEY",
	} {
		if err := os.WriteFile(filepath.Join(root, tenantsDir, "credentials/southhaven", name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := invoke(t, app.Tenant{}, nil, "", "tenant", "list", "--root", root)
	r.want(t, exitOK, "southhaven no - 2", "API_TOKENS", "WEBHOOK_SECRET")
	for line := range strings.Lines(r.out) {
		if len(line) > maxLineWidth+1 {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
}
