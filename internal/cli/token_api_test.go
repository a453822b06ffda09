package cli

import (
	"crypto/sha256"
	"encoding/json"
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
	token("add", "x", "--scope", "read").want(t, exitUsage, "--tenant")
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
