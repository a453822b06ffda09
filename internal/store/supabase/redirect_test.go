package supabase_test

import (
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/httpurl/httpurltest"
	"github.com/seed-7227ef26/async-worker/internal/store/supabase"
)

// The key and the rows stay with the project of SUPABASE_URL, whatever kind of key it is.
func TestRedirect(t *testing.T) {
	t.Parallel()
	for _, o := range []struct{ key, gateway string }{
		{"eyJ.a.b", ""}, {"eyJ.a.b", "sb_publishable_y"}, {"sb_secret_x", ""},
	} {
		project := httpurltest.NewRedirect(t, "SUPABASE_URL")
		s, err := supabase.Open(project.URL, o.key, supabase.Options{ClientID: "a", GatewayKey: o.gateway})
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Job(t.Context(), "x")
		project.Check(t, err)
		s.Close()
	}
}
