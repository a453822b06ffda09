package chunk

import (
	"strings"
	"unicode/utf8"
)

// nameMax is the maximum length of a heading in a path, in bytes. The content keeps the heading in full.
const nameMax = 240

// section is a heading with those above it; the root has none.
type section struct {
	parent *section
	level  int
	path   []string // names from the top heading down
	title  title
	prefix string // of content in Embedded
	tokens int    // of prefix
}

// title is the document's title: its line in the prefix, and its form for comparison with headings that repeat
// it.
type title struct {
	line, name string
}

func newRoot(c Config) *section {
	line := strings.ReplaceAll(tidy(c.Title), "\n", " ")
	s := &section{title: title{line: fit(c, line), name: shorten(line, nameMax)}}
	s.setPrefix(c)
	return s
}

func (s *section) below(c Config, heading string, level int) *section {
	path := make([]string, 0, len(s.path)+1)
	path = append(append(path, s.path...), shorten(heading, nameMax))
	child := &section{parent: s, level: level, path: path, title: s.title}
	child.setPrefix(c)
	return child
}

// within reports whether the section is other, or below it.
func (s *section) within(other *section) bool {
	for s != nil && s != other {
		s = s.parent
	}
	return s != nil
}

// setPrefix makes the lines of title and headings. Both are shortened to the limits of Config: the end of the
// title and the outermost headings go first.
func (s *section) setPrefix(c Config) {
	path := s.path
	for len(path) > 1 && c.Counter.Count(joined(path)) > c.contextMax()-4 {
		path = path[1:]
	}
	var lines []string
	if s.title.line != "" && (len(path) == 0 || path[0] != s.title.name) {
		lines = append(lines, s.title.line)
	}
	if len(path) > 0 {
		lines = append(lines, fit(c, joined(path)))
	}
	if len(lines) > 0 {
		s.prefix = strings.Join(lines, "\n") + "\n\n"
		s.tokens = c.Counter.Count(s.prefix)
	}
}

func joined(path []string) string { return strings.Join(path, " > ") }

// fit shortens a line to its limit in tokens. A token is at least one byte.
func fit(c Config, line string) string {
	room := c.contextMax() - 4 // for the ellipsis and the line end
	if len(line) > room && c.Counter.Count(line) > room {
		return shorten(line, room)
	}
	return line
}

// shorten cuts a name to at most size bytes and an ellipsis.
func shorten(name string, size int) string {
	if len(name) <= size {
		return name
	}
	for size > 0 && !utf8.RuneStart(name[size]) {
		size--
	}
	return strings.TrimSpace(name[:size]) + "…"
}
