package cli

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/config"
)

// TestClientOfTheMachine: --client-id and CLIENT_ID name a tenant of the machine where nothing else says which services to use.
func TestClientOfTheMachine(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		tenants []string
		env     []string
		args    string
		code    int
		says    string
		url     string // of the settings that are taken
	}{
		"the only one": {
			[]string{"southhaven"}, nil, "jobs list --client-id southhaven", exitOK, "", "https://southhaven.example",
		},
		"one of two": {
			[]string{"southhaven", "east-bay"}, nil, "jobs list --client-id east-bay", exitOK, "", "https://east-bay.example",
		},
		"by the environment": {
			[]string{"southhaven", "east-bay"},
			[]string{"CLIENT_ID=east-bay"},
			"jobs list", exitOK, "", "https://east-bay.example",
		},
		"of no tenant": {
			[]string{"southhaven"},
			nil, "jobs list --client-id nowhere", exitConfig,
			"there is no tenant nowhere in ROOT/etc/async-worker what to do: choose one with --tenant: southhaven; or set its " +
				"database and queue in the environment; sudo async-worker tenant add NAME adds a tenant", "",
		},
		"of no tenant, by the environment": {
			[]string{"southhaven", "east-bay"},
			[]string{"CLIENT_ID=nowhere"},
			"jobs list", exitConfig,
			"choose one with --tenant: east-bay, southhaven", "",
		},
		"an empty name means no tenant": {
			[]string{"southhaven"}, nil, "jobs list --client-id=", exitConfig, "--client-id was given without a value", "",
		},
		"an empty name signs for no tenant": {
			[]string{"southhaven"},
			[]string{"CLIENT_ID=southhaven", config.SigningName + "=" + strings.Repeat("s", 64)},
			"token sign --role reader --client-id=", exitConfig, "--client-id was given without a value", "",
		},
		"on a machine without tenants": {nil, nil, "jobs list --client-id southhaven", exitConfig, "no database is set", ""},
		"the shell has services": {
			[]string{"southhaven"},
			[]string{"SUPABASE_URL=https://west.example", "SUPABASE_KEY=" + testKey},
			"jobs list --client-id southhaven", exitOK, "", "https://west.example",
		},
		"a flag names a service": {
			[]string{"southhaven"},
			[]string{"SUPABASE_KEY=" + testKey},
			"jobs list --client-id west --supabase-url https://west.example", exitOK, "", "https://west.example",
		},
		"run has the settings of its unit": {
			[]string{"southhaven"},
			nil, "run --client-id southhaven", exitConfig,
			"systemctl start async-worker@southhaven", "",
		},
		"run has wrong settings": {
			[]string{"southhaven"},
			[]string{"AZURE_STORAGE_CONNECTION_STRING=oops"},
			"run --client-id southhaven", exitConfig,
			"fix these settings", "",
		},
		"run has no tenant's settings": {
			[]string{"southhaven", "west"}, nil, "run --client-id east", exitConfig, "async-worker tenant add", "",
		},
		"a key of another tenant": {
			[]string{"southhaven"},
			[]string{config.SigningName + "=" + strings.Repeat("s", 64)},
			"token sign --role reader --client-id nowhere", exitOK, "", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := machineWith(t, tt.tenants...)
			var seen config.Config
			r := invokeSeeing(t, app.Tenant{Store: &rows{}}, tt.env, "", func(cfg config.Config) { seen = cfg },
				append(strings.Fields(tt.args), "--root", root)...)
			r.want(t, tt.code, strings.ReplaceAll(tt.says, "ROOT", root))
			if got := strings.TrimSuffix(seen.Supabase.URL, "/"); got != tt.url {
				t.Errorf("the settings at %q, want %q", got, tt.url)
			}
		})
	}
}

// tenantCommands are all commands with --tenant, with what they need to do something.
func tenantCommands() []string {
	return []string{
		"enqueue --filename a.pdf --document-set s", "ask why", "summarize a.pdf", "search cranes", "mcp", "documents list",
		"documents delete a.pdf --set s --yes", "jobs list", "jobs get t1", "jobs watch t1", "jobs cancel t1", "jobs retry t1", "dlq list",
		"dlq show d1", "dlq replay d1", "dlq purge d1 --yes", "queue", "webhooks list", "webhooks resend w1", "webhooks listen",
		"cognee status", "cognee reconcile", "cognee retry", "cognee off", "schedules list",
		"schedules add nightly --cron @daily --type ingest", "schedules pause nightly", "schedules resume nightly",
		"schedules remove nightly", "check-config", "doctor --skip " + strings.Join(groupNames(), ","), "status",
		"token sign --role reader", "token add frontend --scope read", "token list", "token remove frontend",
	}
}

// TestOnlyTenantIsTheDefault: every command with --tenant takes the machine's only tenant, and asks which of two.
func TestOnlyTenantIsTheDefault(t *testing.T) {
	t.Parallel()
	var missing []string
	var look func(*cobra.Command)
	look = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			look(sub)
		}
		name := nameOf(cmd)
		switch name {
		case "run", "reload": // their settings are those of the unit
			return
		case "extract": // needs no tenant
			return
		}
		if cmd.Flags().Lookup("tenant") != nil && !slices.ContainsFunc(tenantCommands(), func(line string) bool {
			return strings.HasPrefix(line+" ", name+" ")
		}) {
			missing = append(missing, name)
		}
	}
	look(Root())
	if len(missing) > 0 {
		t.Errorf("commands with --tenant that are not in tenantCommands: %q", missing)
	}

	one, two := machineWith(t, "southhaven"), machineWith(t, "southhaven", "east-bay")
	ended, end := context.WithCancel(t.Context())
	end() // a command that waits or asks gives up
	for _, line := range tenantCommands() {
		ctx, tokens := ended, strings.HasPrefix(line, "token ") // they wait for nothing, and take only the name
		if tokens {
			ctx = t.Context()
		}
		p, r := runOn(ctx, line, one)
		if p.tenant != "southhaven" && !tokens || tokens && r.code == exitUsage {
			t.Errorf("%s with one tenant: exit %d, %q: %s", line, r.code, p.tenant, r.errOut)
		}
		waits, stop := context.WithTimeout(t.Context(), 10*time.Second)
		if _, r = runOn(waits, line, two); r.code != exitUsage || !strings.Contains(r.errOut, "choose one with --tenant: east-bay, southhaven") {
			t.Errorf("%s with two tenants: exit %d: %s", line, r.code, r.errOut)
		}
		stop()
	}
}

// runOn runs a command line on a machine, up to where it opens the tenant's services.
func runOn(ctx context.Context, line, root string) (*program, result) {
	var out, errOut bytes.Buffer
	p := &program{
		env: []string{config.SigningName + "=" + strings.Repeat("s", 64)}, stdin: strings.NewReader(""), stdout: &out, stderr: &errOut,
		open: func(context.Context, config.Config, *slog.Logger, app.Needs) (*app.Tenant, error) {
			return nil, errors.New("opened")
		},
	}
	code := p.run(ctx, append(strings.Fields(line), "--root", root))
	return p, result{code, out.String(), errOut.String()}
}

// TestListenOnTheMachine: webhooks listen verifies with the tenant's secret, unless the shell has one, or another client.
func TestListenOnTheMachine(t *testing.T) {
	t.Parallel()
	root := machineWith(t, "southhaven")
	p := &program{env: []string{"WEBHOOK_SECRET=" + testSigning}}
	cmd := p.newWebhooksListenCommand()
	if err := cmd.ParseFlags([]string{"--root", root}); err != nil {
		t.Fatal(err)
	}
	if cfg, err := p.load(cmd, config.Webhooks); err != nil || p.tenant != "" || cfg.Webhook.Secret.Reveal() != testSigning {
		t.Errorf("%q, %v", p.tenant, err)
	}
	// The machine's tenants are not those of a developer with another client.
	p = &program{env: []string{"CLIENT_ID=dev"}}
	cmd = p.newWebhooksListenCommand()
	if err := cmd.ParseFlags([]string{"--root", root}); err != nil {
		t.Fatal(err)
	}
	if cfg, err := p.load(cmd, config.Webhooks); err != nil || p.tenant != "" || cfg.Webhook.Secret.Reveal() != "" {
		t.Errorf("of another client: %q, %v", p.tenant, err)
	}
}
