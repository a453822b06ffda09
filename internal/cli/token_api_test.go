package cli

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/apitoken"
)

// A token is printed once; the tenant's credentials keep its hash, and lose it when it is removed.
func TestAPITokens(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	onImage(t, root, testKey+"\n", append(slices.Clone(enough), "--secret-file", "SUPABASE_KEY=-")...).want(t, exitOK)
	file := filepath.Join(root, "etc/async-worker/credentials/southhaven/API_TOKENS")
	kept := func() []apitoken.Token {
		t.Helper()
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all, err := apitoken.Parse(string(raw))
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	token := func(args ...string) result {
		return onImage(t, root, "", append([]string{"token"}, args...)...)
	}
	r := token("add", "frontend", "--scope", "submit", "--tenant", "southhaven")
	r.want(t, exitOK, "next: systemctl")
	text := strings.TrimSpace(r.out)
	if all := kept(); len(all) != 1 || all[0].Name != "frontend" || all[0].Scope != apitoken.Submit ||
		all[0].Hash != sha256.Sum256([]byte(text)) {
		t.Errorf("%q was printed, %+v kept", text, all)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm()&0o007 != 0 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	token("add", "frontend", "--scope", "read", "--tenant", "southhaven").want(t, exitUsage, "there is a token")
	var added addedToken
	r = token("add", "ops", "--scope", "operate", "--tenant", "southhaven", "-o", "json")
	if err := json.Unmarshal([]byte(r.out), &added); err != nil || added.Name != "ops" || added.Scope != "operate" ||
		!strings.HasPrefix(added.Token, "aw_") || len(kept()) != 2 {
		t.Errorf("%s, %v", r.out, err)
	}
	list := token("list", "--tenant", "southhaven")
	list.want(t, exitOK, "frontend  submit", "ops       operate")
	if strings.Contains(list.out, "aw_") || strings.Contains(list.out, ":") {
		t.Errorf("listed %q", list.out)
	}
	token("remove", "frontend", "--tenant", "southhaven").want(t, exitOK, "removed frontend")
	token("remove", "frontend", "--tenant", "southhaven").want(t, exitFailed, "there is no token")
	token("remove", "ops", "--tenant", "southhaven").want(t, exitOK)
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("an empty credential is left, which the worker would refuse: %v", err)
	}
	if r := token("list", "--tenant", "southhaven", "-o", "json"); r.out != "[]\n" {
		t.Errorf("listed %q", r.out)
	}
}

func TestAPITokensRefused(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	token := func(args ...string) result {
		return onImage(t, root, "", append([]string{"token"}, args...)...)
	}
	token("add", "x", "--scope", "all", "--print").want(t, exitUsage, "read, submit or operate")
	token("add", "a:b", "--scope", "read", "--print").want(t, exitUsage, "name")
	token("add", "x", "--scope", "read").want(t, exitUsage, "tenant add NAME")
	if r := token("add", "x", "--scope", "read", "--tenant", "nobody"); r.code == exitOK {
		t.Errorf("an unknown tenant: %+v", r)
	}
	r := token("add", "x", "--scope", "read", "--print")
	r.want(t, exitOK)
	all, err := apitoken.Parse(strings.Split(r.errOut, "\n")[1])
	if err != nil || len(all) != 1 || all[0].Hash != sha256.Sum256([]byte(strings.TrimSpace(r.out))) {
		t.Errorf("%q and %q, %v", r.errOut, r.out, err)
	}
	if found, err := os.ReadDir(root); err != nil || len(found) > 0 {
		t.Errorf("--print wrote %v, %v", found, err)
	}
}

// On a machine without tenants there is no name to give.
func TestAPITokensOfNoTenant(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"token add web --scope read", "token list", "token remove web", "token sign --role reader"} {
		onImage(t, t.TempDir(), "", strings.Fields(command)...).want(t, exitUsage, "tenant is not set",
			"this machine has no tenant: sudo async-worker tenant add NAME adds one")
	}
}

// As for the other commands, the machine's only tenant is the default, and what is printed runs as it is.
func TestAPITokensOfTheOnlyTenant(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	onImage(t, root, testKey+"\n", append(slices.Clone(enough), "--secret-file", "SUPABASE_KEY=-")...).want(t, exitOK)
	token := func(args ...string) result {
		return onImage(t, root, "", append([]string{"token"}, args...)...)
	}
	token("add", "frontend", "--scope", "submit").want(t, exitOK, "next: systemctl")
	token("list").want(t, exitOK, "frontend  submit")
	token("add", "frontend", "--scope", "read").want(t, exitUsage, "token remove frontend --tenant southhaven")
	token("remove", "frontnd").want(t, exitFailed, "token list --tenant southhaven shows the tokens")
	token("remove", "frontend").want(t, exitOK, "removed frontend")

	other := slices.Clone(enough)
	other[slices.Index(other, "southhaven")] = "east-bay"
	onImage(t, root, testKey+"\n", append(other, "--secret-file", "SUPABASE_KEY=-")...).want(t, exitOK)
	token("add", "frontend", "--scope", "submit").want(t, exitUsage, "2 tenants", "--tenant: east-bay, southhaven")
	token("list").want(t, exitUsage, "2 tenants")
}

// API_TOKENS may also be in the tenant's environment file, in the one of all tenants, or in a file that either names: a
// command for tokens sees those that the worker accepts, and takes none of them away.
func TestAPITokensOutsideTheCredentials(t *testing.T) {
	t.Parallel()
	const entry = "frontend:submit:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"
	for name, c := range map[string]struct {
		own, shared string
		stays       string // what still sets it when the credential is gone
	}{
		"own":    {own: "API_TOKENS=" + entry},
		"shared": {shared: "API_TOKENS=" + entry, stays: "/etc/default/async-worker"},
		"named":  {own: "API_TOKENS_FILE=/etc/tokens", stays: "API_TOKENS_FILE"},
		"hidden": {own: "API_TOKENS=" + entry, shared: "API_TOKENS=other" + entry, stays: "/etc/default/async-worker"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			onImage(t, root, testKey+"\n", append(slices.Clone(enough), "--secret-file", "SUPABASE_KEY=-")...).want(t, exitOK)
			env := filepath.Join(root, tenantsDir, "southhaven.env")
			write(t, env, string(read(t, env))+c.own+"\n")
			write(t, filepath.Join(root, "etc/default/async-worker"), c.shared+"\n")
			write(t, filepath.Join(root, "etc/tokens"), entry+"\n")
			token := func(args ...string) result { return onImage(t, root, "", append([]string{"token"}, args...)...) }

			token("list").want(t, exitOK, "frontend  submit")
			token("add", "frontend", "--scope", "read").want(t, exitUsage, "there is a token")
			token("add", "ops", "--scope", "operate").want(t, exitOK)
			token("list").want(t, exitOK, "frontend  submit", "ops       operate")
			kept := filepath.Join(root, tenantsDir, "credentials/southhaven/API_TOKENS")
			if !strings.HasPrefix(string(read(t, kept)), entry+"\nops:operate:") {
				t.Errorf("the credential is %q", read(t, kept))
			}

			token("remove", "ops").want(t, exitOK)
			last := token("remove", "frontend")
			if c.stays == "" {
				last.want(t, exitOK)
			} else {
				last.want(t, exitFailed, "API_TOKENS is also set by", c.stays, "remove it there first")
				write(t, filepath.Join(root, "etc/default/async-worker"), "")
				write(t, env, strings.ReplaceAll(string(read(t, env)), "API_TOKENS_FILE=/etc/tokens\n", ""))
				token("remove", "frontend").want(t, exitOK)
			}
			if r := token("list", "-o", "json"); r.out != "[]\n" {
				t.Errorf("listed %q", r.out)
			}
		})
	}
}

// The only token of the tenant's own environment file is removed from there.
func TestRemoveTheTokenOfTheEnvironmentFile(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	onImage(t, root, testKey+"\n", append(slices.Clone(enough), "--secret-file", "SUPABASE_KEY=-")...).want(t, exitOK)
	env := filepath.Join(root, tenantsDir, "southhaven.env")
	before := read(t, env)
	write(t, env, string(before)+"API_TOKENS=frontend:submit:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae\n")
	onImage(t, root, "", "token", "remove", "frontend").want(t, exitOK, "removed frontend")
	if after := read(t, env); string(after) != string(before) {
		t.Errorf("the file is %q, was %q", after, before)
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}
