package cli

import (
	"bytes"
	"io"
	"strings"

	"github.com/mattn/go-runewidth"
)

// item is a row of a list: its cells, and a note that is printed below them.
type item struct {
	cells []string
	note  string
}

// minLastColumn is the minimum width of a list's last column, in columns of the terminal.
const minLastColumn = 12

// listing prints a header and items in columns, within maxLineWidth: the last column is truncated, or part
// of the notes if there is no room for it; notes are wrapped.
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
	narrow := room < min(minLastColumn, widths[last]) // the ids of jobs that a schedule's job submits are long
	if narrow {
		header = header[:last]
	}
	for i := range items {
		if narrow {
			rows[i], items[i].note = rows[i][:last], joinNonEmpty(rows[i][last], items[i].note)
		} else {
			rows[i][last] = runewidth.Truncate(printable(rows[i][last]), max(room, minLastColumn), "…")
		}
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

// note prints a note below a row.
func note(w io.Writer, text string) {
	if text != "" {
		printWrapped(w, "    ", printable(text))
	}
}

// joinNonEmpty joins the parts that are not empty.
func joinNonEmpty(parts ...string) string {
	var there []string
	for _, p := range parts {
		if p != "" {
			there = append(there, p)
		}
	}
	return strings.Join(there, "; ")
}
