package cli

import (
	"bytes"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
)

// A service that is up and refuses us is a matter of permission, not an outage: starting again won't help.
func TestRefusedByServices(t *testing.T) {
	t.Parallel()
	azurite, database := stacktest.Azurite(t), stacktest.Postgres(t)
	wrongKey := regexp.MustCompile(`AccountKey=[^;]*`).ReplaceAllString(azurite, "AccountKey=d3Jvbmc=")
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword("postgres", "wrong")
	for name, c := range map[string]struct{ azurite, database, says string }{
		"account key": {wrongKey, database, "403"},
		"password":    {azurite, u.String(), "password authentication failed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := []string{
				"CLIENT_ID=" + stacktest.UniqueName("r"), "AZURE_STORAGE_CONNECTION_STRING=" + c.azurite,
				"DATABASE_URL=" + c.database, "LLM_PROVIDER=offline", "LOG_FORMAT=text",
			}
			var out, errOut bytes.Buffer
			code := Run(t.Context(), []string{"run"}, env, strings.NewReader(""), &out, &errOut)
			result{code, out.String(), errOut.String()}.want(t, exitPermission, c.says, "check the key, login or role")
		})
	}
}
