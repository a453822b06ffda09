package xml

import (
	"bytes"
	"encoding/xml"
	"errors"
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/flow"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/formula"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
)

// frame is an open element.
type frame struct {
	role   role
	text   bool // it has text of its own
	number int  // of a list: its items so far
}

// walker reads a document of elements and texts.
type walker struct {
	dialect dialect // nil: an unknown kind
	out     *flow.Writer
	html    func(page string, level int) error // emits HTML

	open     []frame
	sections int
	lists    int
	buffer   strings.Builder
	label    string // goes before the next text
	keep     bool   // the blanks of the text are kept
	title    string
	table    *extract.Table // being read
	cell     extract.Cell   // being read
	cells    int            // of the table, and its rows
	column   int            // of the table: the next one of the row
	reach    [maxSpan]int   // by column: the first row that no cell so far reaches
	tables   int            // open ones; a table within a table is part of its cell
	head     bool           // the row has only header cells so far
	skipping int
	untitled string // heading of the section that begins, unless it has one
	ended    bool   // no text came since the end of an element
	after    bool   // a formula was the last text
	formula  role   // tex or formulas (MathML): the language in which the formula is written already
	aside    strings.Builder
	isAside  bool            // the text is written aside: see takeAside
	eastern  bool            // surnames come first in the name that is read
	surname  string          // of a person whose given names follow
	level    int             // of the heading that is read, within its section
	groups   []group         // of the table
	people   map[string]bool // bylines of a patent so far
}

// document reads the tokens after the root element's start, which is start.
func (w *walker) document(d *ooxml.Decoder, start xml.StartElement) error {
	if err := w.start(start); err != nil {
		return err
	}
	for len(w.open) > 0 {
		token, err := d.Token()
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			if w.isMath(t) {
				err = w.math(d, t)
				break
			}
			err = w.start(t)
		case xml.EndElement:
			err = w.end()
		case xml.CharData:
			err = w.text(t)
		}
		if err != nil {
			return err
		}
	}
	return w.out.Flush()
}

func (w *walker) start(e xml.StartElement) error {
	role := w.shown(w.dialect[e.Name.Local], e)
	if w.skipping > 0 || role == skipped {
		w.skipping++
		w.open = append(w.open, frame{role: skipped})
		return nil
	}
	switch {
	case w.tables == 1 && len(w.table.Rows) == 0 && (role == title || role == caption):
		role = caption
		w.buffer.Reset()
	case w.tables > 0 && role != table && role != headRows && role != row && role != cell && role != headCell && role != lineBreak &&
		role != columns && role != column && role != formulas && role != tex,
		w.within(title, docTitle, heading) && role != lineBreak && role != formulas && role != tex:
		if role != none {
			w.buffer.WriteByte(' ')
		}
		role = none // a cell or a title is one text
	case role == docTitle && (w.title != "" || w.within(item)):
		role = field // of a work that is referred to
	}
	w.apart(role)
	if err := w.begin(role, e); err != nil {
		return err
	}
	if role == numbered || role == list && attr(e, "list-type") == "order" {
		role = numbered
	}
	w.nextField()
	w.open = append(w.open, frame{role: role})
	return nil
}

// nextField begins a line for the next field of a record of an unknown kind.
func (w *walker) nextField() {
	if w.dialect == nil && len(w.open) > 0 && !w.open[len(w.open)-1].text && w.buffer.Len() > 0 {
		w.buffer.WriteByte('\n')
	}
}

// innermost is the role that text has so far.
func (w *walker) innermost() role {
	for i := len(w.open) - 1; i >= 0; i-- {
		switch r := w.open[i].role; r {
		case title, docTitle, paragraph, byline, item, code, markup, heading, claim:
			return r
		case section, list, numbered:
			return none
		}
	}
	return none
}

// within reports whether an element of one of the roles is open.
func (w *walker) within(roles ...role) bool {
	return slices.ContainsFunc(w.open, func(f frame) bool { return slices.Contains(roles, f.role) })
}

func (w *walker) end() error {
	w.ended = true
	last := w.open[len(w.open)-1]
	if last.role == item {
		if err := w.flush(item); err != nil {
			return err
		}
	}
	w.open = w.open[:len(w.open)-1]
	switch last.role {
	case skipped:
		w.skipping--
		return nil
	case section:
		err := errors.Join(w.flush(none), w.endLabel())
		w.sections--
		return err
	case float:
		return errors.Join(w.flush(none), w.endLabel())
	case tex:
		return w.endTeX()
	case surname:
		w.surname = joined(w.takeAside())
	case givenName, record:
		w.endName()
	case number:
		w.buffer.WriteByte(' ')
	case title, docTitle, paragraph, byline, code, markup, heading, claim:
		w.endName() // of a person without an element of its own
		err := w.flush(last.role)
		w.keep = false
		return err
	case label:
		w.label = joined(w.buffer.String())
		w.buffer.Reset()
	case list, numbered:
		err := w.flush(none)
		w.lists--
		return err
	case cell, headCell:
		if w.endCell() {
			return nil
		}
		w.buffer.WriteByte(' ')
	case row:
		if w.tables == 1 && w.head && len(w.table.Rows) == w.table.Headers+1 {
			w.table.Headers++
		}
	case table:
		return w.endTable()
	case caption:
		return w.endTitle()
	}
	if w.dialect == nil && (!last.text || len(w.open) == 0) { // the end of a record
		return w.flush(none)
	}
	return nil
}

func (w *walker) text(data xml.CharData) error {
	if w.skipping > 0 || len(w.open) == 0 {
		return nil
	}
	blank := len(bytes.TrimSpace(data)) == 0
	if !blank {
		w.open[len(w.open)-1].text = true
	}
	if blank && w.dialect == nil && !w.open[len(w.open)-1].text {
		return nil
	}
	if err := w.out.Spend(len(data)); err != nil {
		return err
	}
	if w.after {
		w.after = false
		data = []byte(formula.Before(string(data)))
	}
	if w.isAside {
		w.aside.Write(data)
		return nil
	}
	w.buffer.Write(data)
	w.ended = false
	return nil
}

// flush emits the text so far.
func (w *walker) flush(as role) error {
	text := w.buffer.String()
	w.buffer.Reset()
	if strings.TrimSpace(text) == "" || w.tables > 0 {
		return nil
	}
	if as == title {
		w.untitled = ""
	}
	if err := w.headUntitled(); err != nil {
		return err
	}
	b := extract.Block{Kind: extract.Paragraph, Text: joined(w.label + " " + text)}
	w.label = ""
	if as == byline {
		b.Text = strings.TrimLeft(b.Text, ", ") // between the surname, which came first, and the given names
	}
	switch {
	case w.keep && as == code:
		b.Kind, b.Text = extract.Code, strings.Trim(text, "\r\n")
	case w.within(caption):
		b.Kind = extract.Caption
	case as == title:
		return w.heading(b.Text, w.sections)
	case as == heading:
		return w.heading(b.Text, w.sections+w.level)
	case as == byline && w.within(facts) && w.known(b.Text):
		return nil
	case as == docTitle && w.title == "":
		w.title = b.Text
		return w.out.Block(extract.Block{Kind: extract.Heading, Level: 1, Text: b.Text})
	case as == markup:
		return w.html(text, min(w.sections+1, 5))
	case as == none && w.dialect == nil:
		b.Text = lines(text)
	default:
		w.listItem(&b)
	}
	return w.out.Block(b)
}

// headUntitled emits the usual heading of a section that begins without its own.
func (w *walker) headUntitled() error {
	text := w.untitled
	if w.untitled = ""; text == "" {
		return nil
	}
	return w.heading(text, w.sections)
}

// heading emits a title below those of so many sections around it.
func (w *walker) heading(text string, level int) error {
	if w.title != "" || level == 0 {
		level++
	}
	if w.sections == 0 && w.title == "" {
		w.title = text
	}
	return w.out.Block(extract.Block{Kind: extract.Heading, Level: min(level, 6), Text: text})
}
