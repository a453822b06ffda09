package architecture_test

import (
	"slices"
	"strings"
	"testing"
)

// TestImports checks the imports: see rules.
func TestImports(t *testing.T) {
	t.Parallel()
	for _, f := range sources(t) {
		r, ok := ruleFor(f.pkg)
		if !ok {
			t.Errorf("%s: no rule says what %s may import; add one to rules in test/architecture/rules_test.go", f.path,
				f.pkg)
			continue
		}
		for _, imported := range f.imports {
			to, ok := ours(imported)
			if !ok || to == f.pkg {
				continue
			}
			switch {
			case f.test:
				checkTest(t, f, r, to)
			case support(to) && !f.support() && !slices.Contains(r.may, to): // the local stack has stand-ins
				t.Errorf("%s imports %s, which is for tests only: shipped code may not need it", f.path, to)
			case (to == waiting || to == addresses || to == naming || to == patterns) && r.of != taskWords && r.of != jobWords:
			case !r.allows(to) && !support(to):
				t.Errorf("%s imports %s, but %s may import only %s: %s.\n\tReverse the dependency (an interface where "+
					"it is used, wired in internal/app), or change rules_test.go and ARCHITECTURE.md",
					f.path, to, r.of, list(r.may), r.since)
			}
		}
	}
}

// checkTest: a test may use back ends and suites, but no package above its own.
func checkTest(t *testing.T, f file, r rule, to string) {
	t.Helper()
	if under(f.pkg, "cmd/...") || under(f.pkg, "internal/cli") || under(f.pkg, "packaging/...") ||
		under(f.pkg, "test/...") {
		return // nothing is above them
	}
	for _, pattern := range upper() {
		if under(to, pattern) && !r.allows(to) && !under(f.pkg, pattern) {
			t.Errorf("%s imports %s, which is above it: a test of both belongs under test/", f.path, to)
		}
	}
}

func (r rule) allows(pkg string) bool {
	return slices.ContainsFunc(r.may, func(pattern string) bool { return under(pkg, pattern) })
}

func list(patterns []string) string {
	if len(patterns) == 0 {
		return "nothing of ours"
	}
	return strings.Join(patterns, ", ")
}

// ruleFor returns the rule with the longest path that matches.
func ruleFor(pkg string) (best rule, ok bool) {
	for _, r := range rules() {
		if under(pkg, r.of) && len(r.of) > len(best.of) {
			best, ok = r, true
		}
	}
	return best, ok
}

// TestForeignModules keeps each foreign module behind its adapter.
func TestForeignModules(t *testing.T) {
	t.Parallel()
	for _, f := range sources(t) {
		if f.test || f.support() {
			continue
		}
		for _, imported := range f.imports {
			for _, o := range owners() {
				if imported != o.module && !strings.HasPrefix(imported, o.module+"/") {
					continue
				}
				if !slices.ContainsFunc(o.by, func(pattern string) bool { return under(f.pkg, pattern) }) {
					t.Errorf("%s imports %s, which only %s may: use our interface instead", f.path, imported,
						list(o.by))
				}
				break // the first, more specific entry counts
			}
		}
	}
}

// File lengths, in lines.
const (
	longFile    = 300
	tooLongFile = 400
)

func TestFileLength(t *testing.T) {
	t.Parallel()
	for _, f := range sources(t) {
		switch {
		case f.test:
		case f.lines > tooLongFile:
			t.Errorf("%s has %d lines, more than %d: split it by concept", f.path, f.lines, tooLongFile)
		case f.lines > longFile:
			t.Logf("%s has %d lines, more than the %d that we aim for", f.path, f.lines, longFile)
		}
	}
}

func TestPackageComments(t *testing.T) {
	t.Parallel()
	commented := map[string]bool{}
	for _, f := range sources(t) {
		if !f.test {
			commented[f.pkg] = commented[f.pkg] || f.comment
		}
	}
	for pkg, ok := range commented {
		if !ok {
			t.Errorf(`%s has no package comment: begin one of its files with "// Package …" and what it is for`,
				pkg)
		}
	}
}

// TestRules checks that each rule is needed, and that a wrong import is found.
func TestRules(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from, to string
		ok       bool
	}{
		{"internal/task", "internal/job", false},
		{"internal/job", "internal/task", true},
		{"queue/azure", "internal/engine", false},
		{"internal/store/postgres", "internal/store/schema", true},
		{"handlers/ingest", "internal/store", true},
		{"handlers/ingest", "internal/store/postgres", false},
		{"handlers/ingest", "handlers/ocr", false},
		{"internal/engine", "handlers/ingest", false},
		{"internal/engine", "queue/azure", false},
		{"webhook", "internal/engine", false},
		{"internal/app", "handlers/ingest", true},
		{"internal/app", "cmd/async-worker", false},
		{"internal/cli", "queue/azure", false},
		{"internal/cli", "internal/devstack", false},
		{"internal/cli", "internal/stack", false},
		{"cmd/async-worker", "internal/devstack", false},
		{"cmd/async-worker-dev", "internal/devstack", true},
		{"internal/extract/native/pdf", "internal/child", true},
		{"internal/extract", "internal/chunk", false},
	} {
		r, ok := ruleFor(c.from)
		if !ok || r.allows(c.to) != c.ok {
			t.Errorf("%s to %s: the rules of %s return %t, want %t", c.from, c.to, r.of, !c.ok, c.ok)
		}
	}
	pkgs := map[string]bool{}
	for _, f := range sources(t) {
		pkgs[f.pkg] = true
	}
	for _, r := range rules() {
		used := false
		for pkg := range pkgs {
			used = used || under(pkg, r.of)
		}
		if !used {
			t.Errorf("no package matches the rule of %s: remove it", r.of)
		}
	}
}
