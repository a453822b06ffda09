package xlsx

import (
	"encoding/xml"
	"strings"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

const (
	maxColumns = 16_384
	maxMerges  = 200_000
	cellBytes  = 64       // memory of a cell in addition to its text
	maxHeld    = 16 << 20 // bytes of rows held back for the merged cells, which follow all rows in the file
)

// cell is a cell that is not empty.
type cell struct {
	column int // from 1
	text   string
	number bool
	bare   [2]uint16 // start and end of a number without its unit, in the text; zero: all of it
	target string    // of a link
}

// value returns the text without a unit.
func (c cell) value() string {
	if c.bare[1] == 0 {
		return c.text
	}
	return c.text[c.bare[0]:c.bare[1]]
}

func (c cell) kind() extract.ValueKind {
	if !c.number {
		return extract.TextValue
	}
	for _, layout := range []string{time.DateOnly, time.DateTime} { // as numfmt writes dates
		if _, err := time.Parse(layout, c.text); err == nil {
			return extract.DateValue
		}
	}
	return extract.NumberValue
}

// row is a row that is not empty.
type row struct {
	number int // from 1
	cells  []cell
}

func (w row) size() int {
	n := cellBytes
	for _, c := range w.cells {
		n += cellBytes + len(c.text)
	}
	return n
}

// sheet is a sheet being read.
type sheet struct {
	r       *reader
	d       *ooxml.Decoder
	page    int
	heading string // emitted before its first block
	last    int    // number of the previous row
	waiting []row
	held    int // bytes of waiting
	stream  bool
	merges  map[place]span
	links   map[place]string // targets
	finder  *finder
	floats  []float // objects above the cells that were not emitted yet, from the top
	said    []comment
}

// sheet emits one sheet. A small one is read completely, so that its merged cells are known; the rows of a
// large one are streamed, and its merged cells are treated as single ones.
func (r *reader) sheet(part string, page int, heading string) error {
	relations, err := r.pkg.Relations(r.ctx, part)
	if err != nil {
		return err
	}
	s := &sheet{r: r, page: page, heading: heading, merges: map[place]span{}, links: map[place]string{}}
	s.finder = &finder{sheet: s}
	if err := s.readFloats(ooxml.OfType(relations, "drawing")); err != nil {
		return err
	}
	err = r.pkg.Read(r.ctx, part, func(d *ooxml.Decoder) error {
		s.d = d
		return d.Each(func(start xml.StartElement) error {
			switch start.Name.Local {
			case "row":
				return s.row(start)
			case "mergeCell":
				return s.merge(ooxml.Attr(start, "ref"))
			case "hyperlink":
				s.link(start, relations)
			case "extLst":
				return d.Skip()
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	if err := s.release(); err != nil {
		return err
	}
	if err := s.finder.finish(); err != nil {
		return err
	}
	if err := s.emitFloats(0); err != nil {
		return err
	}
	return s.comments(relations)
}

// emit emits the sheet's name before its first block.
func (s *sheet) emit(b extract.Block) error {
	b.Page = s.page
	if s.heading != "" {
		heading := extract.Block{Kind: extract.Heading, Level: 2, Page: s.page, Text: s.heading}
		s.heading = ""
		if err := s.r.emit(heading); err != nil {
			return err
		}
	}
	return s.r.emit(b)
}

func (s *sheet) row(start xml.StartElement) error {
	w := row{number: ooxml.Int(ooxml.Attr(start, "r"), 0)}
	if w.number <= s.last { // missing, or out of order
		w.number = s.last + 1
	}
	s.last = w.number
	column := 0
	err := s.d.Children(func(start xml.StartElement) error {
		if start.Name.Local != "c" {
			return s.d.Skip()
		}
		if p, ok := parsePlace(ooxml.Attr(start, "r")); ok && p.column > column {
			column = p.column
		} else {
			column++
		}
		if column > maxColumns {
			return taskerr.Errorf(taskerr.CorruptionDetected,
				"row %d of sheet %d has more than %d columns: the file is damaged; save it again and upload it",
				w.number, s.page, maxColumns)
		}
		c, err := s.cell(start)
		if c.column = column; c.text != "" {
			w.cells = append(w.cells, c)
		}
		return err
	}, nil)
	if err != nil || len(w.cells) == 0 {
		return err
	}
	if s.stream {
		return s.finder.row(w)
	}
	s.waiting = append(s.waiting, w)
	if s.held += w.size(); s.held > maxHeld {
		s.stream = true
		return s.release()
	}
	return nil
}

// release emits the rows that were held back.
func (s *sheet) release() error {
	waiting := s.waiting
	s.waiting = nil
	for _, w := range waiting {
		if err := s.finder.row(w); err != nil {
			return err
		}
	}
	return nil
}

// cell reads a c (18.3.1.4); a formula's value is its cached result.
func (s *sheet) cell(start xml.StartElement) (c cell, err error) {
	kind, format := ooxml.Attr(start, "t"), ooxml.Attr(start, "s")
	value, formula := "", false
	err = s.d.Children(func(start xml.StartElement) (err error) {
		switch start.Name.Local {
		case "v":
			value, err = s.d.Text(maxText)
			return err
		case "is":
			c.text, err = richText(s.d)
			return err
		case "f":
			formula = true
			instruction, err := s.d.Text(maxFormula)
			if call := hyperlinkCall.FindStringSubmatch(instruction); call != nil {
				c.target = strings.ReplaceAll(call[1], `""`, `"`)
			}
			return err
		}
		return s.d.Skip()
	}, nil)
	switch kind {
	case "s":
		c.text = s.r.strings.at(value)
	case "str":
		c.text, formula = unescape(value), false // which may be empty
	case "inlineStr":
	case "b":
		if c.text = "FALSE"; ooxml.On(strings.TrimSpace(value), false) {
			c.text = "TRUE"
		}
		if value == "" {
			c.text = ""
		}
	case "e":
		c.text = value
	case "d": // ISO 8601
		c.text = strings.TrimSuffix(strings.Replace(value, "T", " ", 1), " 00:00:00")
	default:
		var start, end int
		c.text, start, end = s.r.formats.of(format).text(value, s.r.epoch1904)
		if c.number = c.text != ""; end < len(c.text) || start > 0 {
			c.bare = [2]uint16{uint16(start), uint16(end)} // a unit stands beside a short number only
		}
	}
	if formula && value == "" && c.text == "" {
		s.r.unsaved++
	}
	c.text = strings.TrimSpace(c.text)
	return c, err
}

// place is a cell's position, from 1.
type place struct{ row, column int }

// span is the last cell of a merged cell.
type span struct{ row, column int }

func (s *sheet) merge(ref string) error {
	from, to, _ := strings.Cut(ref, ":")
	a, ok := parsePlace(from)
	b, ok2 := parsePlace(to)
	if s.stream || !ok || !ok2 || b.row < a.row || b.column < a.column {
		return nil
	}
	if len(s.merges) >= maxMerges {
		return taskerr.Errorf(taskerr.QuotaExceeded, "sheet %d has more than %d merged cells: it is not read", s.page,
			maxMerges)
	}
	s.merges[a] = span(b)
	return nil
}

// parsePlace parses a reference such as B12 or $B$12.
func parsePlace(ref string) (p place, ok bool) {
	for i := range len(ref) {
		switch c := ref[i] &^ 0x20; {
		case ref[i] == '$':
		case c >= 'A' && c <= 'Z' && p.row == 0 && p.column <= maxColumns:
			p.column = p.column*26 + int(c-'A') + 1
		case ref[i] >= '0' && ref[i] <= '9' && p.column > 0 && p.row < 1<<24:
			p.row = p.row*10 + int(ref[i]-'0')
		default:
			return place{}, false
		}
	}
	return p, p.row > 0 && p.column > 0
}
