package main

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"time"
)

// release is a section of CHANGELOG.md, whose format is that of keepachangelog.com/en/1.1.0.
type release struct {
	version string    // "Unreleased", or as 1.2.3
	date    time.Time // zero for what is unreleased
	changes []string  // each on one line, in the order of the file
}

var releaseLine = regexp.MustCompile(`^## \[([^\]]+)\](?: - (\d{4}-\d{2}-\d{2}))?`)

func readReleases(text string) ([]release, error) {
	var out []release
	open := false // the last change goes on in the next line
	for n, line := range strings.Split(text, "\n") {
		if m := releaseLine.FindStringSubmatch(line); m != nil {
			r := release{version: m[1]}
			if m[2] != "" {
				at, err := time.Parse(time.DateOnly, m[2])
				if err != nil {
					return nil, fmt.Errorf("line %d of the changelog: %w", n+1, err)
				}
				r.date = at
			}
			out, open = append(out, r), false
			continue
		}
		if len(out) == 0 {
			continue
		}
		last := &out[len(out)-1]
		item, isItem := strings.CutPrefix(line, "- ")
		switch text := strings.TrimSpace(line); {
		case isItem:
			last.changes, open = append(last.changes, strings.TrimSpace(item)), true
		case open && strings.HasPrefix(line, "  ") && text != "":
			last.changes[len(last.changes)-1] += " " + text
		default:
			open = false
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("the changelog has no section such as \"## [1.2.3] - 2026-11-21\"")
	}
	return out, nil
}

// writeChangelog writes a Debian changelog (deb-changelog(5)). The first entry bears the package's version, whether it
// is released or not.
func writeChangelog(w io.Writer, o options) error {
	raw, err := os.ReadFile(o.changelog)
	if err != nil {
		return err
	}
	releases, err := readReleases(string(raw))
	if err != nil {
		return err
	}
	first := true
	for _, r := range releases {
		if len(r.changes) == 0 {
			continue
		}
		version, date := r.version+"-1", r.date
		if first {
			version, date = o.version, o.date
		}
		first = false
		fmt.Fprintf(w, "async-worker (%s) unstable; urgency=medium\n\n", version)
		for _, c := range r.changes {
			fmt.Fprintln(w, wrap(strings.NewReplacer("`", "", "**", "").Replace(c)))
		}
		if _, err := fmt.Fprintf(w, "\n -- %s  %s\n\n", o.maintainer, date.Format(time.RFC1123Z)); err != nil {
			return err
		}
	}
	return nil
}

// wrap makes an item of 78 columns at most; a longer word stays whole.
func wrap(text string) string {
	var lines []string
	line := "  *"
	for word := range strings.FieldsSeq(text) {
		if len([]rune(line))+1+len([]rune(word)) > 78 {
			lines, line = append(lines, line), "   "
		}
		line += " " + word
	}
	return strings.Join(append(lines, line), "\n")
}
