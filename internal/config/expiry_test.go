package config_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/config"
)

// A key to the database and a shared access signature that expire in less than thirty days, or have, give a warning of
// that setting alone, in which they are not quoted.
func TestExpiry(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	now := time.Now()
	jwt := func(in time.Duration) string {
		claims := fmt.Sprintf(`{"role":"async_worker","client_id":"southhaven","exp":%d.5}`, now.Add(in).Unix())
		return "eyJhbGciOiJIUzI1NiJ9." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".c2ln"
	}
	sas := func(in time.Duration) string {
		return "AZURE_STORAGE_CONNECTION_STRING=BlobEndpoint=https://a.example;QueueEndpoint=https://b.example;SharedAccessSignature=" +
			"?sv=2024&se=" + strings.ReplaceAll(now.Add(in).UTC().Format(time.RFC3339), ":", "%3A") + "&sig=c2ln"
	}
	day10 := now.Add(10 * day).UTC()
	for _, c := range []struct{ setting, warns, problem string }{
		{"SUPABASE_KEY=" + jwt(10*day), "SUPABASE_KEY", "expires at " + day10.Format("2006-01-02")},
		{"SUPABASE_KEY=" + jwt(-day), "SUPABASE_KEY", "it expired at "},
		{"SUPABASE_KEY=" + jwt(40*day), "", ""},
		{"SUPABASE_KEY=sb_secret_c2ln", "", ""},
		{"SUPABASE_KEY=" + strings.Replace(jwt(day), "eyJ", "x.", 1), "", ""},
		{"SUPABASE_KEY=eyJhbGciOiJIUzI1NiJ9.e30.c2ln", "", ""},
		{"SUPABASE_SERVICE_ROLE_KEY=" + jwt(day), "SUPABASE_SERVICE_ROLE_KEY", "expires at "},
		{"SUPABASE_KEY=sb_secret_c2ln|SUPABASE_ANON_KEY=" + jwt(day), "SUPABASE_ANON_KEY", "expires at "},
		{"SUPABASE_KEY=" + jwt(day) + "|DATABASE_URL=postgresql://u:p@h/d", "", ""}, // not used then
		{"SUPABASE_KEY=k|" + sas(10*day), "AZURE_STORAGE_CONNECTION_STRING", "signature expires at " + day10.Format("2006-01-02")},
		{"SUPABASE_KEY=k|" + sas(-day), "AZURE_STORAGE_CONNECTION_STRING", "signature expired at "},
		{"SUPABASE_KEY=k|" + sas(40*day), "", ""},
	} {
		environ := append([]string{
			"CLIENT_ID=southhaven", "SUPABASE_URL=https://p.supabase.co", "AZURE_STORAGE_CONNECTION_STRING=UseDevelopmentStorage=true",
		}, strings.Split(c.setting, "|")...)
		cfg, err := config.Load(config.Sources{Environ: environ}, config.Tenant|config.Queue|config.Store)
		if err != nil {
			t.Fatalf("%s: %v", c.setting, err)
		}
		switch got := cfg.Warnings(); {
		case c.warns == "" && len(got) > 0, c.warns != "" && len(got) != 1:
			t.Errorf("%s: %+v", c.setting, got)
		case c.warns == "":
		case got[0].Name != c.warns || !strings.Contains(got[0].Problem, c.problem) || got[0].Remedy == "":
			t.Errorf("%s: %+v", c.setting, got)
		case strings.Contains(fmt.Sprint(got), "c2ln"):
			t.Errorf("%s is quoted", c.warns)
		}
	}
}
