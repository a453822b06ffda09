// Package csv extracts tables of delimited values (comma, semicolon, tab, pipe) as slices of one table, so that
// a file of any length takes little memory.
package csv

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/charset"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

const (
	maxRecord  = 1 << 20   // bytes of one row
	maxColumns = 16_384    // Excel's limit
	sniffBytes = 32 << 10  // read from the start of the file to detect the delimiter and the header
	readBytes  = 256 << 10 // read size; encoding/csv buffers the same again
)

// New returns an extractor of separated values.
func New() extract.Extractor { return extract.Func("native/csv", 5, read) }

func read(
	ctx context.Context, src extract.Source, _ extract.Limits, emit extract.Emit,
) (extract.Info, error) {
	rc, encoding, warnings, err := charset.OpenWarned(src.Path)
	if err != nil {
		return extract.Info{}, err
	}
	defer func() { _ = rc.Close() }() // read-only
	input := lineFeeds(bufio.NewReaderSize(rc, readBytes))
	found, err := sniff(input)
	if err != nil {
		return extract.Info{}, err
	}
	if err := rows(ctx, input, found, emit); err != nil {
		return extract.Info{}, err
	}
	return extract.Info{
		Properties: map[string]string{"encoding": string(encoding), "delimiter": string(found.delimiter)},
		Warnings:   warnings,
	}, nil
}

// sniff detects the layout from the start of the file. It consumes only Excel's hint.
func sniff(input *bufio.Reader) (layout, error) {
	delimiter := hinted(input)
	start, err := input.Peek(sniffBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return layout{}, taskerr.Errorf(taskerr.CorruptionDetected, "the table can't be read: %w", err)
	}
	return layoutOf(string(start), delimiter), nil
}

// sample returns the complete rows of start, which may end within a row.
func sample(start string, delimiter rune) [][]string {
	r := newReader(strings.NewReader(start), delimiter)
	var rows [][]string
	for len(rows) <= maxTitles+extract.ComparedRows {
		record, err := r.Read()
		if err != nil {
			break
		}
		rows = append(rows, slices.Clone(record))
	}
	return rows
}

func newReader(r io.Reader, delimiter rune) *csv.Reader {
	reader := csv.NewReader(r)
	reader.Comma = delimiter
	reader.LazyQuotes = true
	reader.FieldsPerRecord = -1
	reader.ReuseRecord = true
	return reader
}

// hasHeader reports whether the first row is a header: its names are distinct and not numbers, but of years.
func hasHeader(rows [][]string) bool {
	if len(rows) < 2 {
		return false
	}
	years := extract.PeriodHeader(values(rows))
	seen := map[string]bool{}
	for _, name := range rows[0] {
		name = strings.TrimSpace(name)
		// One unnamed column, the index, is common.
		if seen[name] || name != "" && isNumber(name) && !years {
			return false
		}
		seen[name] = true
	}
	return len(seen) > 1 || !seen[""]
}

func values(rows [][]string) [][]extract.Value {
	all := make([][]extract.Value, len(rows))
	for i, row := range rows {
		for column, text := range row {
			v := extract.Value{Column: column, Kind: extract.TextValue, Text: strings.TrimSpace(text)}
			switch {
			case v.Text == "":
				continue
			case isNumber(v.Text):
				v.Kind = extract.NumberValue
			}
			all[i] = append(all[i], v)
		}
	}
	return all
}

func isNumber(s string) bool {
	_, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimRight(s, "%€$ "), ",", "."), 64)
	return err == nil
}

func rows(ctx context.Context, input io.Reader, found layout, emit extract.Emit) error {
	m := &meter{r: input}
	reader := newReader(m, found.delimiter)
	table := extract.NewTableWriter(emit, extract.Block{})
	for number := 1; ; number++ {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		m.left = maxRecord
		record, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return table.Flush()
		}
		if err != nil {
			return rowError(err, number)
		}
		if len(record) > maxColumns {
			return taskerr.Errorf(taskerr.CorruptionDetected,
				"row %d has more than %d columns: check that the file is a table",
				number, maxColumns)
		}
		if number <= found.titles {
			if err := title(record, emit); err != nil {
				return err
			}
			continue
		}
		table.Row(cells(record), found.header && number == found.titles+1)
		if table.Full() {
			if err := table.Flush(); err != nil {
				return err
			}
		}
	}
}

// title emits the value of a row above the table.
func title(record []string, emit extract.Emit) error {
	text := strings.TrimSpace(strings.Join(record, " ")) // of values that are empty, but for one
	if text == "" {
		return nil
	}
	return emit(extract.Block{Kind: extract.Paragraph, Text: text})
}

func cells(record []string) []extract.Cell {
	row := make([]extract.Cell, len(record))
	for i, text := range record {
		row[i].Text = strings.Clone(text) // a copy, because the record's fields share one string
	}
	return row
}

var errTooLong = errors.New("row too long")

func rowError(err error, number int) error {
	if errors.Is(err, errTooLong) {
		return taskerr.Errorf(taskerr.CorruptionDetected,
			"row %d is longer than %d KB: a quotation mark is probably not closed", number, maxRecord>>10)
	}
	if _, ok := errors.AsType[*csv.ParseError](err); ok {
		return taskerr.Errorf(taskerr.CorruptionDetected, "row %d of the table can't be read: %w", number, err)
	}
	return fmt.Errorf("read table: %w", err)
}

// meter limits the bytes that encoding/csv reads for one row; an unclosed quote would make it read the rest of
// the file.
type meter struct {
	r    io.Reader
	left int
}

func (m *meter) Read(p []byte) (int, error) {
	if m.left <= 0 {
		return 0, errTooLong
	}
	n, err := m.r.Read(p)
	m.left -= n
	return n, err
}
