package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/tenants"
)

// edits is an editor that writes one text after the other.
type edits struct {
	texts []string
	seen  []string
	mode  os.FileMode // of the copy
	dir   string
}

func (e *edits) edit(_ context.Context, path string) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	info, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return err
	}
	e.seen, e.mode, e.dir = append(e.seen, string(raw)), info.Mode().Perm(), filepath.Dir(path)
	text := e.texts[0]
	e.texts = e.texts[1:]
	return os.WriteFile(path, []byte(text), 0o600)
}

func TestTenantEdit(t *testing.T) {
	t.Parallel()
	const right = "AZURE_STORAGE_ACCOUNT=stsouth\nSUPABASE_URL=https://p.supabase.co\nLLM_PROVIDER=offline\nLOG_LEVEL=debug\n"
	const wrong = right + "WORKER_CONCURRENCY=many\n"
	for _, c := range []struct {
		name    string
		texts   []string
		answers string
		kept    string // empty: as it was
		says    []string
	}{
		{"right", []string{right}, "", right, []string{"southhaven.env: LOG_LEVEL\n", "next: systemctl --root="}},
		{
			"mended",
			[]string{wrong, right},
			"x\ne\n", right,
			[]string{
				"WORKER_CONCURRENCY", "1 problem in the settings.", "(e)dit again", "southhaven.env: LOG_LEVEL\n",
			},
		},
		{
			"kept",
			[]string{wrong},
			"K\n", wrong,
			[]string{"LOG_LEVEL, WORKER_CONCURRENCY", "tenant edit southhaven fixes them"},
		},
		{"thrown away", []string{wrong}, "t\n", "", []string{"thrown away"}},
		{"nobody answers", []string{wrong}, "", "", []string{"thrown away"}},
		{"no setting", []string{"LOG_LEVEL debug\n"}, "t\n", "", []string{"line 1 is not NAME=value"}},
		{"the same", nil, "", "", []string{"Nothing was changed."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			onImage(t, root, testKey+"\n", append(slices.Clone(enough), "--secret-file", "SUPABASE_KEY=-")...).want(t,
				exitOK)
			path := filepath.Join(root, tenantsDir, "southhaven.env")
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var out, errOut bytes.Buffer
			p := &program{stdin: strings.NewReader(c.answers), stdout: &out, stderr: &errOut}
			ed := &edits{texts: c.texts}
			if c.texts == nil {
				ed.texts = []string{string(before)}
			}
			err = onMachine(root, func(m *tenants.Machine) error {
				e, err := m.Edit("southhaven")
				if err != nil {
					return err
				}
				return p.editTenant(t.Context(), m, root, e, ed.edit)
			})
			result{p.report(err), out.String(), errOut.String()}.want(t, exitOK, c.says...)
			want := c.kept
			if want == "" {
				want = string(before)
			}
			if after, err := os.ReadFile(path); err != nil || string(after) != want {
				t.Errorf("%v: the file is %q, want %q", err, after, want)
			}
			if len(ed.texts) > 0 || ed.mode != 0o700 || ed.seen[0] != string(before) || len(ed.seen) > 1 &&
				ed.seen[1] != c.texts[0] {
				t.Errorf("the editor saw %q, in a folder of mode %v", ed.seen, ed.mode)
			}
			if _, err := os.Stat(ed.dir); !os.IsNotExist(err) {
				t.Errorf("the copy was left behind: %v", err)
			}
		})
	}
}

// What makes it count for a worker that runs: a reload where that takes all of it over, else a restart.
func TestTenantEditWhileItRuns(t *testing.T) {
	t.Parallel()
	const name = "made-up-for-a-test"
	root := t.TempDir()
	add := append(slices.Clone(enough), "--secret-file", "SUPABASE_KEY=-")
	add[2] = name
	onImage(t, root, testKey+"\n", add...).want(t, exitOK)
	silent := func(context.Context, ...string) (string, error) { return "", errors.New("no bus") }
	running := (&unit{state: "active"}).systemctl
	for _, c := range []struct {
		manager   serviceManager
		enabled   bool // from here on
		add, next string
	}{
		// it may have been started by hand, or by another unit
		{running, false, "LOG_LEVEL=debug\n", "next: systemctl reload async-worker@" + name + "\n"},
		{running, false, "AZURE_STORAGE_CONTAINER=first\n", "next: systemctl restart async-worker@" + name + "\n"},
		{running, true, "LOG_LEVEL=info\n", "next: systemctl reload async-worker@" + name + "\n"},
		{running, true, "AZURE_STORAGE_CONTAINER=other\n", "next: systemctl restart async-worker@" + name + "\n"},
		{running, true, "# a comment\n", "no setting was changed"},
		// the settings are written, whether or not systemctl answers
		{silent, true, "AZURE_STORAGE_CONTAINER=third\n", "no bus\n"},
		{silent, true, "AZURE_STORAGE_CONTAINER=fourth\n", "next: systemctl restart async-worker@" + name + "\n"},
	} {
		if c.enabled {
			enable(t, root, name)
		}
		var out bytes.Buffer
		p := &program{stdin: strings.NewReader(""), stdout: &out, stderr: &out, systemctl: c.manager}
		err := onMachine(root, func(m *tenants.Machine) error {
			e, err := m.Edit(name)
			if err != nil {
				return err
			}
			return p.editTenant(t.Context(), m, "/", e, (&edits{texts: []string{e.Text + c.add}}).edit)
		})
		if err != nil || !strings.Contains(out.String(), c.next) ||
			strings.Contains(out.String(), "next:") != (c.add != "# a comment\n") {
			t.Errorf("%q: %v, says %q", c.add, err, out.String())
		}
	}
}

// enable makes the link with which systemd starts a tenant's worker.
func enable(t *testing.T, root, name string) {
	t.Helper()
	wants := filepath.Join(root, "etc/systemd/system/async-worker.target.wants")
	err := os.MkdirAll(wants, 0o755)
	if err == nil {
		err = os.Symlink("/lib/systemd/system/async-worker@.service", filepath.Join(wants, "async-worker@"+name+".service"))
	}
	if err != nil && !errors.Is(err, os.ErrExist) {
		t.Fatal(err)
	}
}

func TestTenantEditRefuses(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	onImage(t, root, "", "tenant", "edit", "southhaven").want(t, exitConfig, "there is no tenant southhaven",
		"tenant add southhaven")
	onImage(t, root, testKey+"\n", append(slices.Clone(enough), "--secret-file", "SUPABASE_KEY=-")...).want(t, exitOK)
	onImage(t, root, "", "tenant", "edit", "southhaven").want(t, exitUsage, "editing needs a terminal", "southhaven.env",
		"async-worker check-config --tenant southhaven")
	onImage(t, root, "", "tenant", "edit", "../x").want(t, exitUsage, `"../x" is not a valid name`)
}

// The editor is what the variable says, with its arguments, as a shell reads them.
func TestRunEditor(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a file.env")
	if err := os.WriteFile(path, []byte("A=1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(env ...string) result {
		var out, errOut bytes.Buffer
		p := &program{
			env: append(env, "PATH="+os.Getenv("PATH")), stdin: strings.NewReader(""), stdout: &out, stderr: &errOut,
		}
		return result{p.report(p.runEditor(t.Context(), path)), out.String(), errOut.String()}
	}
	run("EDITOR=false", "VISUAL=sed -i 's/1/one two/'").want(t, exitOK)
	if raw, err := os.ReadFile(path); err != nil || string(raw) != "A=one two\n" {
		t.Errorf("%v: %q", err, raw)
	}
	run("EDITOR=false").want(t, exitFailed, "run the editor: false: exit status 1", "what to do:",
		"nothing was changed")
}

func TestLive(t *testing.T) {
	t.Parallel()
	for names, want := range map[string]bool{
		"LOG_LEVEL": true, "LOG_LEVEL CLIENT_ID": false,
		"AZURE_STORAGE_ACCOUNT": false, "FROB": false, "": true,
	} {
		if got := allLive(strings.Fields(names)); got != want {
			t.Errorf("%s: %t", names, got)
		}
	}
}

// The edited text is kept when a concurrent change prevents writing it.
func TestTenantEditKeepsWhatWasEdited(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	onImage(t, root, testKey+"\n", append(slices.Clone(enough), "--secret-file", "SUPABASE_KEY=-")...).want(t, exitOK)
	path := filepath.Join(root, tenantsDir, "southhaven.env")
	var out, errOut bytes.Buffer
	p := &program{stdin: strings.NewReader(""), stdout: &out, stderr: &errOut}
	ed := &edits{}
	err := onMachine(root, func(m *tenants.Machine) error {
		e, err := m.Edit("southhaven")
		if err != nil {
			return err
		}
		ed.texts = []string{e.Text + "LOG_LEVEL=debug\n"}
		return p.editTenant(t.Context(), m, root, e, func(ctx context.Context, copied string) error {
			if err := os.WriteFile(path, []byte(e.Text+"# faster\n"), 0o600); err != nil {
				return err
			}
			return ed.edit(ctx, copied)
		})
	})
	t.Cleanup(func() { _ = os.RemoveAll(ed.dir) })
	result{p.report(err), out.String(), errOut.String()}.want(t, exitFailed,
		"the settings have been changed by somebody else", "your edited copy is kept: "+ed.dir)
	if kept, err := os.ReadFile(filepath.Join(ed.dir, "southhaven.env")); err != nil ||
		!strings.HasSuffix(string(kept), "LOG_LEVEL=debug\n") {
		t.Errorf("kept: %q, %v", kept, err)
	}
}
