package docx

import (
	"encoding/xml"
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/flow"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
)

const (
	maxInstruction = 4 << 10 // bytes of a field's instruction
	maxFields      = 64      // open ones, all of which each text looks at
)

// field is an open complex field.
type field struct {
	instruction string
	result      bool // the instruction has ended
	target      string
	value       string // what a field of a form shows that has no text as its result
	filled      bool   // the result has a text
}

// field tracks a complex field (17.16.18): begin, instruction, separate, result, end. Its text goes to into, which is
// not p in a hidden run.
func (r *reader) field(p, into *paragraph, start xml.StartElement) error {
	value, err := r.formValue()
	if err != nil {
		return err
	}
	last := len(r.fields) - 1
	switch mark := ooxml.Attr(start, "fldCharType"); {
	case mark == "begin":
		if len(r.fields) == maxFields { // the outermost one hardly has an end
			r.fields = slices.Delete(r.fields, 0, 1)
		}
		r.fields = append(r.fields, field{value: value})
	case last < 0:
	case mark == "separate":
		f := &r.fields[last]
		f.result = true
		if f.target = extract.Target(flow.Hyperlink(f.instruction)); f.target != "" {
			p.links.Begin(f.target, p.text.Len())
		}
	case mark == "end":
		ended := r.fields[last]
		if ended.target != "" {
			p.links.End(p.text.Len())
		}
		r.fields = r.fields[:last]
		if ended.value != "" && !ended.filled {
			return r.put(into, ended.value)
		}
	}
	return nil
}

// instruction reads a w:instrText.
func (r *reader) instruction() error {
	text, err := r.d.Text(maxInstruction)
	if last := len(r.fields) - 1; last >= 0 && !r.fields[last].result {
		f := &r.fields[last]
		f.instruction += text[:min(len(text), maxInstruction-len(f.instruction))]
	}
	return err
}

func (r *reader) inInstruction() bool {
	return slices.ContainsFunc(r.fields, func(f field) bool { return !f.result })
}

// linkedField returns the target of the innermost open field that links, or "".
func (r *reader) linkedField() string {
	for i := len(r.fields) - 1; i >= 0; i-- {
		if r.fields[i].result && r.fields[i].target != "" {
			return r.fields[i].target
		}
	}
	return ""
}

// target returns the address of a w:hyperlink.
func (r *reader) target(start xml.StartElement) string {
	place := ooxml.Attr(start, "anchor")
	if place != "" {
		place = "#" + place
	}
	if id := ooxml.RelationID(start, "id"); id != "" {
		address := r.relations[id].Target
		if strings.Contains(address, "#") {
			return address
		}
		return address + place
	}
	return place
}

// link reads an element whose text leads to an address, if there is one.
func (r *reader) link(p *paragraph, address string) error {
	if address == "" {
		return r.inline(p)
	}
	p.links.Begin(address, p.text.Len())
	err := r.inline(p)
	p.links.End(p.text.Len())
	return err
}
