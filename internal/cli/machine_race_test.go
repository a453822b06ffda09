package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/apitoken"
)

// Of several changes at once none undoes another: each token that was printed is accepted, and the one that was removed
// does not come back. The same for settings.
func TestChangesAtOnce(t *testing.T) {
	t.Parallel()
	const each = 8
	root := t.TempDir()
	onImage(t, root, testKey+"\n", append(slices.Clone(enough), "--secret-file", "SUPABASE_KEY=-")...).want(t, exitOK)
	onImage(t, root, "", "token", "add", "stolen", "--scope", "operate", "--tenant", "southhaven").want(t, exitOK)
	// On a busy machine the last of them waits for the lock longer than a command does, and is repeated, as it says.
	change := func(args ...string) {
		r := onImage(t, root, "", args...)
		for r.code == exitFailed && strings.Contains(r.errOut, "another process has held it") && t.Context().Err() == nil {
			r = onImage(t, root, "", args...)
		}
		r.want(t, exitOK)
	}
	var all sync.WaitGroup
	for i := range each {
		all.Go(func() {
			change("token", "add", fmt.Sprint("t", i), "--scope", "read", "--tenant", "southhaven")
		})
	}
	settings := []string{"log-level=debug", "worker-concurrency=3", "poll-max-ms=20000", "max-blob-mb=100"}
	for _, s := range settings {
		all.Go(func() { change("tenant", "add", "southhaven", "--force", "--"+s) })
	}
	all.Go(func() {
		change("token", "remove", "stolen", "--tenant", "southhaven")
	})
	all.Wait()
	raw, err := os.ReadFile(filepath.Join(root, "etc/async-worker/credentials/southhaven/API_TOKENS"))
	if err != nil {
		t.Fatal(err)
	}
	kept, err := apitoken.Parse(string(raw))
	if err != nil || len(kept) != each || slices.ContainsFunc(kept, func(k apitoken.Token) bool { return k.Name == "stolen" }) {
		t.Errorf("%d tokens are kept of %d, %v:\n%s", len(kept), each, err, raw)
	}
	env, err := os.ReadFile(filepath.Join(root, "etc/async-worker/southhaven.env"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range settings {
		name, value, _ := strings.Cut(s, "=")
		if line := strings.ToUpper(strings.ReplaceAll(name, "-", "_")) + "=" + value + "\n"; !strings.Contains(string(env), line) {
			t.Errorf("%q is lost", line)
		}
	}
}
