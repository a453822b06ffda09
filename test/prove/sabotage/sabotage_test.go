package sabotage

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/stack/leaktest"
	"github.com/seed-7227ef26/async-worker/test/generated"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

const root = "../../.."

// TestList: each sabotage applies at one place and leaves Go that can be parsed, and the tests that it names exist.
// `make prove KINDS=mutation` runs them.
func TestList(t *testing.T) {
	t.Parallel()
	if err := Check(root); err != nil {
		t.Error(err)
	}
}

func TestReliability(t *testing.T) {
	t.Parallel()
	generated.Part(t, root+"/RELIABILITY.md", "invariants", Markdown())
}

// TestRun: a sabotage that is caught, and each way in which one is not caught as it should be.
func TestRun(t *testing.T) {
	t.Parallel()
	caught := All()[slices.IndexFunc(All(), func(s Sabotage) bool { return s.Name == "blob-out-of-the-container" })]
	for want, edit := range map[string]func(*Sabotage){
		"":                     func(*Sabotage) {},
		"not caught: I10":      func(s *Sabotage) { s.Old, s.New = `"is missing or empty"`, `"is empty"` },
		"0 times, want once":   func(s *Sabotage) { s.Old = "no such line" },
		"there is no wrong in": func(s *Sabotage) { s.Func = "wrong" },
		"is the same":          func(s *Sabotage) { s.New = s.Old + " // still" },
		"is not Go":            func(s *Sabotage) { s.New = "case (" },
		"does not compile":     func(s *Sabotage) { s.New = "case unheardOf:" },
		"caught, but not by a": func(s *Sabotage) { s.Tests = tests("internal/blob", "TestOther") },
	} {
		s := caught
		edit(&s)
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			r, err := Run(t.Context(), root, s)
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(r.Wrong, "\n")
			if want == "" && got != "" || !strings.Contains(got, want) {
				t.Errorf("the verdict is %q, want %q\n%s", got, want, r.Output)
			}
		})
	}
}

// TestTorn: SQL that can't be run fails every test, and shows nothing.
func TestTorn(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		`begin: ERROR: column "fance" does not exist (SQLSTATE 42703)`:                 true,
		`migrate the database that others are copied from: 30_begin.sql: syntax error`: true,
		`select from jobs: ERROR: permission denied for table jobs (SQLSTATE 42501)`:   false,
		`I4: complete under fence 1 of 2: <nil>`:                                       false,
	} {
		if torn(line) != want {
			t.Errorf("%q: %t, want %t", line, !want, want)
		}
	}
}
