package main

import (
	"strings"
	"testing"
	"time"
)

func TestChangelog(t *testing.T) {
	t.Parallel()
	const text = "# Changelog\n\nAbout it.\n\n## [Unreleased]\n\n### Added\n\n- One thing\n  and its rest.\n- " +
		"`two`\n\n## [0.1.0] - 2026-11-20\n\n- Old.\n"
	releases, err := readReleases(text)
	if err != nil || len(releases) != 2 || len(releases[0].changes) != 2 ||
		releases[0].changes[0] != "One thing and its rest." {
		t.Fatalf("%+v %v", releases, err)
	}
	if r := releases[1]; r.version != "0.1.0" || r.date.Format(time.DateOnly) != "2026-11-20" {
		t.Errorf("%+v", r)
	}
	if _, err := readReleases("# Changelog\n"); err == nil {
		t.Error("no error without a release")
	}
	if got := wrap(strings.Repeat("word ", 20)); len(strings.Split(got, "\n")) != 2 ||
		!strings.HasPrefix(got, "  * word") {
		t.Errorf("%s", got)
	}
}
