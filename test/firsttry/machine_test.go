package firsttry

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// machine is a user's environment on a machine with tenants: its folder is the machine's root, and nothing names a service.
func (d *terminal) machine() *terminal {
	m := *d
	m.env = map[string]string{"PATH": d.env["PATH"], "HOME": d.env["HOME"], "TMPDIR": d.env["TMPDIR"]}
	return &m
}

// tenant adds a user to the machine as a tenant, and returns its name and the file with its settings.
func (d *terminal) tenant(user *terminal) (name, file string) {
	d.Helper()
	name = user.env["CLIENT_ID"]
	var settings strings.Builder
	for _, s := range []string{
		"AZURE_STORAGE_CONNECTION_STRING", "SUPABASE_URL", "SUPABASE_KEY", "LLM_PROVIDER", "POLL_MAX_MS",
	} {
		settings.WriteString(s + "=" + user.env[s] + "\n")
	}
	d.file(name+".conf", settings.String())
	d.run("async-worker tenant add "+name+" --root . --env-file "+name+".conf").expect(0, name+".env", "secrets: ",
		"!"+user.env["SUPABASE_KEY"])
	return name, filepath.Join(d.folder, "etc/async-worker", name+".env")
}

// TestTwoTenants: each command needs the name of one, reaches that one's database, and prints commands that do.
func TestTwoTenants(t *testing.T) {
	t.Parallel()
	east, south := sitDown(t), sitDown(t)
	m := east.machine()
	one, _ := m.tenant(east)
	other, _ := m.tenant(south)
	m.file("tides.md", "# Tides\n")
	m.run("async-worker jobs list --root .").expect(2, "this machine has 2 tenants", "choose one with --tenant: ", one, other)
	m.run("async-worker enqueue --root . --upload tides.md --type ingest --document-set sea").expect(2, "2 tenants")
	at := func(line, tenant string) *answer {
		t.Helper()
		return m.run(line + " --root . --tenant " + tenant)
	}
	at("async-worker enqueue --id tides --upload tides.md --type ingest --document-set sea", one).expect(0, "tides")
	at("async-worker jobs list", one).expect(0, "tides", "pending")
	at("async-worker jobs list", other).expect(0, "!tides", "There are no jobs of "+other, "async-worker enqueue --tenant "+other)
	at("async-worker jobs cancel tides", other).expect(1, "async-worker jobs list --tenant "+other)
	at("async-worker jobs list --status failed", other).expect(0, "async-worker jobs list --tenant "+other)
	at("async-worker dlq replay TYPO", one).expect(1, "async-worker dlq list --tenant "+one)
	east.run("async-worker jobs list").expect(0, "tides")
	south.run("async-worker jobs list").expect(0, "!tides")
	at("async-worker jobs cancel tides", one).expect(0, "tides is canceled")
	east.run("async-worker jobs get tides").expect(0, "canceled")
}

// TestTokens: a token is printed once, listed by its name, and removed.
func TestTokens(t *testing.T) {
	t.Parallel()
	d := sitDown(t)
	m := d.machine()
	name, _ := m.tenant(d)
	at := " --root . --tenant " + name
	m.run("async-worker token list"+at).expect(0, "!frontend")
	added := m.run("async-worker token add frontend --scope submit"+at).expect(0, "aw_", "next: ")
	m.run("async-worker token add ops --scope operate --root .").expect(0, "aw_") // of the only tenant
	m.run("async-worker token add frontend --scope read"+at).expect(2, `there is a token "frontend"`,
		"async-worker token remove frontend --tenant "+name)
	m.run("async-worker token list"+at).expect(0, "frontend submit", "ops operate", "!aw_")
	m.run("async-worker token remove frontnd"+at).expect(1, `there is no token "frontnd"`, "async-worker token list --tenant "+name)
	m.run("async-worker token remove frontend"+at).expect(0, "removed frontend")
	m.run("async-worker token list"+at).expect(0, "!frontend", "ops operate")
	_ = filepath.WalkDir(m.folder, func(path string, _ os.DirEntry, _ error) error {
		text, err := os.ReadFile(path)
		if err == nil && strings.Contains(added.text, strings.TrimSpace(string(text))) && strings.Contains(string(text), "aw_") {
			t.Errorf("%s has the token, and not its hash", path)
		}
		return nil
	})
}

// TestTenantEdit: an edit is checked before it is written.
func TestTenantEdit(t *testing.T) {
	t.Parallel()
	d := sitDown(t)
	m := d.machine()
	name, file := m.tenant(d)
	// editor makes a program that appends a setting, as a person does.
	editor := func(program, setting string) string {
		t.Helper()
		m.file(program, "#!/bin/sh\necho '"+setting+"' >> \"$1\"\n")
		return "EDITOR=sh ./" + program
	}
	written := func() string {
		t.Helper()
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	edit := "async-worker tenant edit " + name + " --root ."
	before := written()
	m.run(edit, editor("good", "WORKER_CONCURRENCY=2")).expect(2, "editing needs a terminal")
	m.show("t\n", edit, editor("bad", "POLL_MIN_MS=fast")).expect(0, "POLL_MIN_MS problem: ", "1 problem in the settings",
		"(t)hrow the changes away", "The changes were thrown away.")
	m.show("", edit, "EDITOR=nowhere-to-be-found").expect(1, "run the editor: nowhere-to-be-found", "EDITOR=nano",
		"nothing was changed")
	m.show("", edit, "EDITOR=true").expect(0, "Nothing was changed.")
	if now := written(); now != before {
		t.Errorf("the file was %q, and is %q", before, now)
	}
	m.show("", edit, editor("good", "WORKER_CONCURRENCY=2")).expect(0, name+".env: WORKER_CONCURRENCY", "!problem")
	if now := written(); !strings.HasSuffix(now, "WORKER_CONCURRENCY=2\n") {
		t.Errorf("the edit is not in %q", now)
	}
	m.show("", edit, editor("old", "OPENAI_API_BASE=http://model.example/v1")).expect(0, "OPENAI_API_BASE: unknown setting")
	m.run("async-worker check-config --root . --tenant "+name).expect(0,
		"OPENAI_API_BASE: unknown setting: the worker ignores it", "remove it, or correct its name: docs/settings.md lists all")
}
