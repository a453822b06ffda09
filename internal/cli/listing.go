package cli

import (
	"bytes"
	"io"
	"strings"

	"github.com/mattn/go-runewidth"
)

// item is one of a list: its cells, and what there is to say of it, which stands below them.
type item struct {
	cells []string
	note  string
}

// minLastColumn is the least that the last column of a list is shortened to, in columns of the terminal.
const minLastColumn = 12

// listing prints items in columns, in lines of a page: the last column is shortened where it has to be, and a note,
// which may be long, is broken. The header goes first.
func listing(w io.Writer, header []string, items []item) error {
	rows := make([][]string, len(items))
	widths := make([]int, len(header))
	for i, e := range items {
		rows[i] = e.cells
	}
	for _, row := range append([][]string{header}, rows...) {
		for i, c := range row {
			widths[i] = max(widths[i], runewidth.StringWidth(printable(c)))
		}
	}
	last, room := len(header)-1, maxLineWidth
	for _, width := range widths[:last] {
		room -= width + 2
	}
	for i := range rows {
		rows[i][last] = runewidth.Truncate(printable(rows[i][last]), max(room, minLastColumn), "…")
	}
	var text bytes.Buffer
	if err := table(&text, header, rows); err != nil {
		return err
	}
	head, rest, _ := strings.Cut(text.String(), "\n")
	var out bytes.Buffer
	out.WriteString(head + "\n")
	for i, line := range strings.Split(strings.TrimSuffix(rest, "\n"), "\n") {
		if i < len(items) {
			out.WriteString(line + "\n")
			note(&out, items[i].note)
		}
	}
	_, err := w.Write(out.Bytes())
	return err
}

// note prints what there is to say below a line.
func note(w io.Writer, text string) {
	if text != "" {
		printWrapped(w, "    ", printable(text))
	}
}

// joinNonEmpty is what there is of the parts.
func joinNonEmpty(parts ...string) string {
	var there []string
	for _, p := range parts {
		if p != "" {
			there = append(there, p)
		}
	}
	return strings.Join(there, "; ")
}
