// Package generated holds documents against what tests make from the code. A test that gets -update writes the document
// instead, which is what `make docs` does.
package generated

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the generated document instead of comparing it") //nolint:gochecknoglobals // a flag of tests

// File fails the test when a file is not exactly want.
func File(t testing.TB, path, want string) {
	t.Helper()
	compare(t, path, read(t, path), want, "make docs")
}

// RootFile is File for a test that only root can run, and so only root can update.
func RootFile(t testing.TB, path, want string) {
	t.Helper()
	compare(t, path, read(t, path), want, "make docs, as root")
}

// Part fails the test when a file does not hold want between its lines
//
//	<!-- name: made by `make docs` -->
//	<!-- /name -->
func Part(t testing.TB, path, name, want string) {
	t.Helper()
	begin, end := fmt.Sprintf("<!-- %s: made by `make docs` -->\n", name), fmt.Sprintf("<!-- /%s -->", name)
	got := read(t, path)
	before, rest, begins := strings.Cut(got, begin)
	_, after, ends := strings.Cut(rest, end)
	if !begins || !ends {
		t.Fatalf("%s: found no part between %q and %q", path, begin, end)
	}
	compare(t, path, got, before+begin+"\n"+want+"\n"+end+after, "make docs")
}

// read returns the text of a file; a missing one is empty, so that -update can create it.
func read(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(text)
}

func compare(t testing.TB, path, got, want, remedy string) {
	t.Helper()
	switch {
	case got == want:
	case *update:
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil { //nolint:gosec // a document of the source tree
			t.Fatal(err)
		}
	default:
		t.Errorf("%s differs from the code; run: %s\n%s", path, remedy, difference(got, want))
	}
}

// difference shows the first line that differs, with the two that follow.
func difference(got, want string) string {
	file, code := strings.Split(got, "\n"), strings.Split(want, "\n")
	at := 0
	for at < min(len(file), len(code)) && file[at] == code[at] {
		at++
	}
	excerpt := func(lines []string) string { return strings.Join(lines[at:min(at+3, len(lines))], "\n") }
	return fmt.Sprintf("line %d\nfile: %q\ncode: %q", at+1, excerpt(file), excerpt(code))
}
