package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/app"
)

// A missing file is reported in one sentence, without the name of a system call and with its path once.
func TestMissingFiles(t *testing.T) {
	t.Parallel()
	nope := filepath.Join(t.TempDir(), "nope.pdf")
	for _, command := range []string{
		"extract " + nope, "enqueue " + nope, "enqueue --upload " + nope + " --document-set s",
		"summarize --upload " + nope, "tenant add southhaven --env-file " + nope,
		"dlq replay d1 --message " + nope,
	} {
		r := invoke(t, app.Tenant{}, nil, "", append(strings.Fields(command), rootOf(t, command)...)...)
		r.want(t, exitFailed, nope+": there is no such file", "what to do: check the path")
		text := strings.Join(strings.Fields(r.errOut), " ")
		for _, odd := range []string{"stat ", "inspect", "no such file or directory"} {
			if strings.Contains(text, odd) {
				t.Errorf("%s: %q in %s", command, odd, text)
			}
		}
		if n := strings.Count(text, nope); n != 1 {
			t.Errorf("%s: the path is there %d times: %s", command, n, text)
		}
	}
}

// rootOf keeps a command that changes the machine away from this one.
func rootOf(t *testing.T, command string) []string {
	t.Helper()
	if !strings.HasPrefix(command, "tenant") {
		return nil
	}
	return []string{"--root", t.TempDir()}
}

// The hint for an unknown id names the command that lists the things of this tenant.
func TestUnknownIDs(t *testing.T) {
	t.Parallel()
	for command, list := range map[string]string{
		"jobs get ghost":        "async-worker jobs list shows the jobs",
		"jobs cancel ghost":     "async-worker jobs list shows the jobs",
		"dlq show ghost":        "async-worker dlq list shows the dead letters",
		"webhooks resend ghost": "async-worker webhooks list shows the deliveries",
	} {
		invoke(t, app.Tenant{Store: someRows()}, testEnv(), "", strings.Fields(command)...).want(t, exitFailed,
			"not found", "check the id and CLIENT_ID", list)
	}
	root := t.TempDir()
	putTenant(t, root, "southhaven", "127.0.0.1:1")
	invoke(t, app.Tenant{Store: someRows()}, nil, "", "jobs", "get", "ghost", "--tenant", "southhaven", "--root", root).
		want(t, exitFailed, "check the id; async-worker jobs list --tenant southhaven shows the jobs of this tenant")
}

// The name on the command line is wrong, not the setting CLIENT_ID.
func TestTenantNames(t *testing.T) {
	t.Parallel()
	for _, command := range []string{
		"tenant add BAD_Name", "tenant edit BAD_Name", "tenant remove BAD_Name --yes", "jobs list --tenant BAD_Name",
	} {
		r := onImage(t, t.TempDir(), "", strings.Fields(command)...)
		r.want(t, exitUsage, `"BAD_Name"`)
		if strings.Contains(r.errOut, "CLIENT_ID") || strings.Contains(r.errOut, "tenant add BAD_Name") {
			t.Errorf("%s: %s", command, r.errOut)
		}
	}
}

// jobs retry goes on with the other jobs after a refused one, as jobs cancel does.
func TestRetryGoesOn(t *testing.T) {
	t.Parallel()
	o, _ := office(someRows())
	invoke(t, o, testEnv(), "", "jobs", "retry", "ghost", "phantom").want(t, exitFailed,
		`retry job "ghost": not found`, `retry job "phantom": not found`, "what to do: check the id")
}
