package cli

import (
	"strings"
	"testing"

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
			[]string{"CLIENT_ID=east-bay"}, "jobs list", exitOK, "", "https://east-bay.example",
		},
		"of no tenant": {
			[]string{"southhaven"}, nil, "jobs list --client-id nowhere", exitConfig,
			"there is no tenant nowhere in ROOT/etc/async-worker what to do: choose one with --tenant: southhaven; or set its", "",
		},
		"of no tenant, by the environment": {
			[]string{"southhaven", "east-bay"}, []string{"CLIENT_ID=nowhere"}, "jobs list", exitConfig,
			"choose one with --tenant: east-bay, southhaven", "",
		},
		"on a machine without tenants": {nil, nil, "jobs list --client-id southhaven", exitConfig, "no database is set", ""},
		"the shell has services": {
			[]string{"southhaven"}, []string{"SUPABASE_URL=https://west.example", "SUPABASE_KEY=" + testKey},
			"jobs list --client-id southhaven", exitOK, "", "https://west.example",
		},
		"a flag names a service": {
			[]string{"southhaven"}, []string{"SUPABASE_KEY=" + testKey},
			"jobs list --client-id west --supabase-url https://west.example", exitOK, "", "https://west.example",
		},
		"run has the settings of its unit": {
			[]string{"southhaven"}, nil, "run --client-id southhaven", exitConfig, "no database is set", "",
		},
		"a key of another tenant": {
			[]string{"southhaven"}, []string{config.SigningName + "=" + strings.Repeat("s", 64)},
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
