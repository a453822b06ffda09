package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/stack/leaktest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/queue"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// all returns every group as skipped, except some.
func all(but ...Group) map[Group]string {
	skip := map[Group]string{}
	for _, g := range Groups() {
		skip[g] = "not here"
	}
	for _, g := range but {
		delete(skip, g)
	}
	return skip
}

// TestEveryCheckIsReported: each check has one result, in order, even if it is skipped.
func TestEveryCheckIsReported(t *testing.T) {
	t.Parallel()
	r := Examine(t.Context(), Worker{Skip: all()})
	if len(r.Results) != len(Checks()) {
		t.Fatalf("%d results of %d checks", len(r.Results), len(Checks()))
	}
	for i, c := range Checks() {
		if r.Results[i].Check != c.Name || r.Results[i].State != Skipped {
			t.Errorf("result %d is %+v, want %s skipped", i, r.Results[i], c.Name)
		}
	}
	if r.Worst() != None {
		t.Errorf("the worst of no failures is %s", r.Worst())
	}
}

// TestWaitingIsTold: after 3 s, once, with the groups that have no answer yet, and not if all had one before.
func TestWaitingIsTold(t *testing.T) {
	t.Parallel()
	for takes, want := range map[time.Duration]string{2 * time.Second: "", 20 * time.Second: "[store] 1m0s"} {
		synctest.Test(t, func(t *testing.T) {
			told, began := "", time.Now()
			Examine(t.Context(), Worker{
				Skip: all(Store), Timeout: time.Minute,
				Store: func(context.Context) (store.Examiner, error) {
					time.Sleep(takes)
					return nil, errors.New("no answer")
				},
				Waiting: func(groups []Group, timeout time.Duration) {
					told += fmt.Sprint(groups, " ", timeout)
					if d := time.Since(began); d != silence {
						t.Errorf("told after %v", d)
					}
				},
			})
			if told != want {
				t.Errorf("checks that take %v: told %q, want %q", takes, told, want)
			}
		})
	}
}

func TestWorst(t *testing.T) {
	t.Parallel()
	for want, classes := range map[Class][]Class{
		Unavailable: {Unavailable}, Permission: {Unavailable, Permission, Unavailable},
		Config: {Permission, Config, Unavailable},
	} {
		r := Report{Results: []Result{{State: Warn, Class: Config}}}
		for _, c := range classes {
			r.Results = append(r.Results, Result{State: Fail, Class: c})
		}
		if got := r.Worst(); got != want {
			t.Errorf("of %v the worst is %s", classes, got)
		}
	}
}

// deaf is a store that never answers.
type deaf struct{}

func (deaf) Examine(ctx context.Context) (store.Examination, error) {
	<-ctx.Done()
	return store.Examination{}, ctx.Err()
}

// TestServiceThatHangs: a hanging service costs its own timeout, and stops no other check.
func TestServiceThatHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		r := Examine(t.Context(), Worker{
			Skip:    all(Store, Queues, Settings),
			Timeout: 3 * time.Second,
			Store:   func(context.Context) (store.Examiner, error) { return deaf{}, nil },
			Queues:  func(context.Context) ([]queue.Probing, error) { return nil, errors.New("no such account") },
		})
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("it took %v", took)
		}
		states := map[string]Result{}
		for _, result := range r.Results {
			states[result.Check] = result
		}
		if s := states["store"]; s.State != Fail || s.Class != Unavailable || states["settings"].State != OK ||
			states["queue metadata"].State != Fail {
			t.Errorf("got %+v", r.Results)
		}
	})
}

// A database that holds the queues and is not there is named, with what happened.
func TestQueuesOfADatabaseThatIsNotThere(t *testing.T) {
	t.Parallel()
	err := &taskerr.Error{
		Message: "the database did not answer: check DATABASE_URL", Hint: "check DATABASE_URL",
		Cause: &net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 5}, Err: syscall.ECONNREFUSED},
	}
	r := failed("queue metadata", err, "")
	const want = "the database did not answer (dial tcp 127.0.0.1:5: connection refused)"
	if r.Seen != want || r.Remedy != "check DATABASE_URL" {
		t.Errorf("%+v, want %q", r, want)
	}
}

// TestReceiversUnknown: a database that does not answer is not taken for one without receivers.
func TestReceiversUnknown(t *testing.T) {
	t.Parallel()
	w := Worker{Timeout: time.Minute, Store: func(context.Context) (store.Examiner, error) { return nil, errors.New("no route") }}
	if r := webhooks(t.Context(), &w)[0]; r.State != Skipped || !strings.Contains(r.Seen, "no route") ||
		strings.Contains(r.Seen, "no job has") {
		t.Errorf("%+v", r)
	}
}

// TestIndexedVectors: documents whose vectors are by another model than the worker's are counted, and said.
func TestIndexedVectors(t *testing.T) {
	t.Parallel()
	mine, other := store.ModelCount{Model: "mine", Documents: 3}, store.ModelCount{Model: "offline-hash-1", Documents: 2}
	for name, c := range map[string]struct {
		models []store.ModelCount
		model  string
		want   State
		seen   string
	}{
		"nothing is indexed":   {[]store.ModelCount{}, "mine", Skipped, "no document"},
		"not migrated":         {nil, "mine", Skipped, "earlier version"},
		"the worker's own":     {[]store.ModelCount{mine}, "mine", OK, "by mine, of 3 documents"},
		"some by another":      {[]store.ModelCount{mine, other}, "mine", Warn, "2 of 5 documents have vectors by offline-hash-1"},
		"all by another":       {[]store.ModelCount{other}, "mine", Warn, "2 of 2 documents"},
		"the model isn't told": {[]store.ModelCount{other}, "", Skipped, "settings"},
	} {
		w := Worker{Model: c.model}
		r := w.indexed(store.Examination{Models: c.models})
		if r.State != c.want || !strings.Contains(r.Seen, c.seen) || (r.State == Warn) != (r.Remedy != "") {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

func TestSkew(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for skew, want := range map[time.Duration]State{
		0: OK, 20 * time.Second: OK, -40 * time.Second: Warn, 4 * time.Minute: Warn, -6 * time.Minute: Fail,
		6 * time.Minute: Fail,
	} {
		if r := skewed("clock", "its", now.Add(-skew), now, 0); r.State != want ||
			(want != OK) != strings.Contains(r.Remedy, "timedatectl") {
			t.Errorf("%v off: %+v", skew, r)
		}
	}
	if r := skewed("clock", "its", now.Add(-time.Minute), now, 2*time.Minute); r.State != OK {
		t.Errorf("the time of the response counts as skew: %+v", r)
	}
}

// TestFiles: files that others can read are reported with a command that fixes them.
func TestFiles(t *testing.T) {
	t.Parallel()
	own := strconv.Itoa(os.Getegid())
	for name, c := range map[string]struct {
		env, dir, secret os.FileMode
		operators        string
		want             State
		remedy           string
	}{
		"for root alone":           {0o640, 0o700, 0o600, "", OK, ""},
		"as tenant add makes them": {0o640, 0o750, 0o640, own, OK, ""},
		"environment for all":      {0o644, 0o700, 0o600, own, Fail, "as root: chmod 0640 ETC/a.env"},
		"folder for all":           {0o640, 0o755, 0o600, own, Fail, "as root: chmod 0750 ETC/credentials/a"},
		"secret for all":           {0o640, 0o750, 0o644, own, Fail, "as root: chmod 0640 ETC/credentials/a/SUPABASE_KEY"},
		"secret for another group": {
			0o600, 0o750, 0o640, "4711", Fail,
			"as root: chmod 0700 ETC/credentials/a; chmod 0600 ETC/credentials/a/SUPABASE_KEY",
		},
	} {
		etc := t.TempDir()
		w := Worker{
			Unit: Instance{
				EnvFile: filepath.Join(etc, "a.env"), Credentials: filepath.Join(etc, "credentials", "a"),
				Operators: c.operators,
			},
		}
		secret := filepath.Join(w.Unit.Credentials, "SUPABASE_KEY")
		err := errors.Join(os.MkdirAll(w.Unit.Credentials, 0o700), os.WriteFile(w.Unit.EnvFile, nil, 0o600),
			os.WriteFile(secret, nil, 0o600),
			os.Chmod(w.Unit.EnvFile, c.env), os.Chmod(secret, c.secret), os.Chmod(w.Unit.Credentials, c.dir))
		if err != nil {
			t.Fatal(err)
		}
		if r := w.files(); r.State != c.want || c.want == Fail && r.Class != Permission ||
			r.Remedy != strings.ReplaceAll(c.remedy, "ETC", etc) {
			t.Errorf("%s: %+v", name, r)
		}
	}
	shared := filepath.Join(t.TempDir(), "async-worker")
	w := Worker{Unit: Instance{Shared: shared, Credentials: t.TempDir() + "/none"}}
	if err := errors.Join(os.WriteFile(shared, nil, 0o600), os.Chmod(shared, 0o644)); err != nil {
		t.Fatal(err)
	}
	if r := w.files(); r.State != Fail || r.Class != Permission ||
		!strings.HasSuffix(r.Remedy, "chgrp async-worker "+shared+" && chmod 0640 "+shared) {
		t.Errorf("secrets in the file of all tenants: %+v", r)
	}
	if err := os.Chmod(shared, 0o640); err != nil {
		t.Fatal(err)
	}
	if r := w.files(); r.State != OK {
		t.Errorf("the file of all tenants is closed: %+v", r)
	}
	w = Worker{Unit: Instance{EnvFile: filepath.Join(t.TempDir(), "a.env"), Credentials: t.TempDir() + "/none"}}
	if r := w.files(); r.State != Skipped {
		t.Errorf("nothing there: %+v", r)
	}
}

func TestUnit(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]State{"enabled": OK, "disabled": Warn, "": Skipped} {
		w := Worker{Unit: Instance{
			Unit:    "async-worker@a.service",
			Enabled: func(context.Context) (string, error) { return said, nil },
		}}
		if r := w.enabled(t.Context()); r.State != want {
			t.Errorf("%q: %+v", said, r)
		}
	}
}

func TestMachine(t *testing.T) {
	t.Parallel()
	w := Worker{Machine: Computer{
		TempDir: filepath.Join(t.TempDir(), "missing"), Programs: []string{"pdfinfo", "pdftotext"},
		Run: func(_ context.Context, program string) error {
			if program == "pdftotext" {
				return errors.New("not installed")
			}
			return nil
		},
		Tesseract: func(context.Context) (string, []string, error) { return "", nil, errors.New("not installed") },
	}}
	got := machine(t.Context(), &w)
	if got[0].State != Fail || got[0].Class != Config {
		t.Errorf("no folder: %+v", got[0])
	}
	if got[1].State != Fail || !strings.Contains(got[1].Seen, "pdftotext") ||
		strings.Contains(got[1].Seen, "pdfinfo") || !strings.Contains(got[1].Remedy, "poppler-utils") {
		t.Errorf("no pdftotext: %+v", got[1])
	}
	if got[2].State != Warn || !strings.Contains(got[2].Remedy, "tesseract-ocr") ||
		!strings.HasSuffix(got[2].Remedy, ", then restart the worker") {
		t.Errorf("no tesseract: %+v", got[2])
	}
	w.Machine.Sandbox.Without = errors.New("the kernel was built without Landlock")
	if r := w.sandbox(); r.State != Warn || !strings.Contains(r.Seen, "without Landlock") ||
		!strings.Contains(r.Remedy, "landlock_restrict_self") {
		t.Errorf("no Landlock: %+v", r)
	}
	w.Machine.Sandbox = Sandbox{Landlock: 3, NoSeccomp: errors.New("no filter for this machine")}
	if r := w.sandbox(); r.State != Warn || !strings.Contains(r.Seen, "sockets") {
		t.Errorf("no seccomp: %+v", r)
	}
	w.Machine.Sandbox.NoSeccomp = nil
	if r := w.sandbox(); r.State != OK {
		t.Errorf("all of it: %+v", r)
	}
	w.Machine.TempDir, w.Machine.NeedBytes = t.TempDir(), 1<<62
	if r := w.disk(); r.State != Warn {
		t.Errorf("too little room: %+v", r)
	}
	left, err := os.ReadDir(w.Machine.TempDir)
	if err != nil || len(left) != 0 {
		t.Errorf("left in the folder: %v, %v", left, err)
	}
}

// The disk of a tenant's worker is that of its cache, in which nothing is written, or of what is above it before the first
// start.
func TestDiskOfAnotherUser(t *testing.T) {
	t.Parallel()
	cache := t.TempDir()
	for _, missing := range []string{"", "southhaven", "async-worker/southhaven"} {
		w := Worker{Machine: Computer{TempDir: "/nowhere", CacheDir: filepath.Join(cache, missing)}}
		if r := w.disk(); r.State != OK || !strings.HasSuffix(r.Seen, " free in "+cache) {
			t.Errorf("%q: %+v", missing, r)
		}
	}
	if left, err := os.ReadDir(cache); err != nil || len(left) != 0 {
		t.Errorf("left in the cache: %v, %v", left, err)
	}
}

// TestDocument: docs/doctor.md has a row for each check.
func TestDocument(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "doctor.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range Checks() {
		if row := fmt.Sprintf("| %s | %s | %s | %s | %s |\n", c.Name, c.Group, c.Tries, c.Touches,
			c.Costs); !strings.Contains(string(page), row) {
			t.Errorf("docs/doctor.md lacks this row:\n%s", row)
		}
	}
}

// TestOutageHasARemedy: an unreachable service has a remedy, too.
func TestOutageHasARemedy(t *testing.T) {
	t.Parallel()
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	if r := failed("container", refused, ""); r.Class != Unavailable || !strings.Contains(r.Remedy, "check that it is up") {
		t.Errorf("%+v", r)
	}
	if r := failed("container", refused, "start it"); r.Remedy != "start it" {
		t.Errorf("%+v", r)
	}
}

// TestSettingsWithWarnings: the doctor reports the warnings of check-config; errors take precedence.
func TestSettingsWithWarnings(t *testing.T) {
	t.Parallel()
	warnings := []Problem{{"WEBHOOK_ALLOW_CIDRS", "0.0.0.0/0 is every address", "list only the receivers' networks"}}
	r := settings(t.Context(), &Worker{Warnings: warnings})
	if len(r) != 1 || r[0].State != Warn || r[0].Class != None ||
		r[0].Seen != "WEBHOOK_ALLOW_CIDRS: 0.0.0.0/0 is every address" || r[0].Remedy == "" {
		t.Errorf("got %+v", r)
	}
	r = settings(t.Context(), &Worker{
		Warnings: warnings, Settings: []Problem{{"POLL_MAX_MS", "it is not a number", "set one"}},
	})
	if len(r) != 1 || r[0].State != Fail || r[0].Class != Config || r[0].Seen != "POLL_MAX_MS: it is not a number" {
		t.Errorf("got %+v", r)
	}
}
