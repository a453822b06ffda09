package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/mattn/go-runewidth"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/seed-7227ef26/async-worker/internal/logging"
)

// format is the flag -o. The zero value is a table.
type format string

const (
	asTable format = "table"
	asJSON  format = "json"
)

func (f *format) String() string {
	if *f == "" {
		return string(asTable)
	}
	return string(*f)
}

func (f *format) Set(s string) error {
	if s != string(asTable) && s != string(asJSON) {
		return badUsage("give table or json", "%q is not a format", s)
	}
	*f = format(s)
	return nil
}

func (*format) Type() string { return "format" }

func addOutput(cmd *cobra.Command, f *format) {
	cmd.Flags().VarP(f, "output", "o", "how to print: table or json")
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"table", "json"},
		cobra.ShellCompDirectiveNoFileComp))
}

// printJSON prints an indented JSON value, with control characters escaped.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(logging.Escaped(w))
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// jsonList prints a list as printJSON does, one item after the other, so that it need not be in memory as a whole.
type jsonList struct {
	w     io.Writer
	begun bool
}

func (l *jsonList) add(v any) error {
	var b bytes.Buffer
	b.WriteString(map[bool]string{false: "[\n  ", true: ",\n  "}[l.begun])
	l.begun = true
	e := json.NewEncoder(&b)
	e.SetIndent("  ", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := logging.Escaped(l.w).Write(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
	return err
}

func (l *jsonList) end() error {
	_, err := io.WriteString(l.w, map[bool]string{false: "[]\n", true: "\n]\n"}[l.begun])
	return err
}

// printJSONLine is printJSON on one line.
func printJSONLine(w io.Writer, v any) error {
	e := json.NewEncoder(logging.Escaped(w))
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// table prints rows in columns; the header goes first.
func table(w io.Writer, header []string, rows [][]string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{header}, rows...) {
		cells := make([]string, len(row))
		for i, c := range row {
			cells[i] = printable(c)
		}
		fmt.Fprintln(t, strings.TrimRight(strings.Join(cells, "\t"), "\t"))
	}
	return t.Flush()
}

// printable makes one line of an untrusted text: no control characters reach the terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, s)
}

// printableLines is printable for several lines.
func printableLines(s string) string {
	parts := strings.Split(s, "\n")
	for i := range parts {
		parts[i] = printable(parts[i])
	}
	return strings.Join(parts, "\n")
}

// maxLineWidth is where lines of messages are broken, in columns.
const maxLineWidth = maxHelpWidth

// printWrapped prints a text after a mark, wrapped at maxLineWidth; following lines are indented by the mark's width.
func printWrapped(w io.Writer, mark, text string) {
	column := runewidth.StringWidth(mark)
	for i, part := range strings.Split(text, "\n") {
		for j, line := range wrapped(part, maxLineWidth-column) {
			if i+j > 0 {
				mark = strings.Repeat(" ", column)
			}
			fmt.Fprintln(w, strings.TrimRight(mark+line, " "))
		}
	}
}

// printIndented wraps a line and keeps its indentation.
func printIndented(w io.Writer, line string) {
	text := strings.TrimLeft(line, " ")
	printWrapped(w, line[:len(line)-len(text)], text)
}

func shorten(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return strings.TrimRight(string(r[:most-1]), " ") + "…"
	}
	return s
}

func formatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format(time.DateTime)
}

func formatTimePtr(t *time.Time) string {
	if t == nil {
		return ""
	}
	return formatTime(*t)
}

// terminal reports whether w is a terminal that can redraw a line. One without a width, as on some build servers,
// can't.
func (p *program) terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok || p.getenv("TERM") == "dumb" {
		return false
	}
	width, _, err := term.GetSize(int(f.Fd()))
	return err == nil && width > 0
}

// colorful reports whether w shows colours and NO_COLOR is not set (no-color.org).
func (p *program) colorful(w io.Writer) bool { return p.terminal(w) && p.getenv("NO_COLOR") == "" }

// counted returns a number with a word that takes an s: "1 warning", "2 warnings".
func counted(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + one + "s"
}
