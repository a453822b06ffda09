package xml

import (
	"encoding/xml"
	"errors"
)

// begin does what the start of an element with a role does.
func (w *walker) begin(role role, e xml.StartElement) error {
	switch role {
	case section:
		if err := w.startSection(e); err != nil {
			return err
		}
	case title, docTitle, paragraph, byline, item, code, markup, label, heading, claim:
		if err := w.flush(w.innermost()); err != nil {
			return err
		}
		w.keep, w.formula = role == code, none
		w.level = levelOf(e)
	case formulas:
		w.formula = none
	case tex, surname:
		w.isAside = true
	case record:
		w.eastern = attr(e, "name-style") == "eastern"
	case columns:
		w.startGroup()
	case column:
		w.addColumn(e)
	case list, numbered:
		if err := w.flush(w.innermost()); err != nil {
			return err
		}
		w.lists++
	case table:
		return w.startTable()
	case row, cell, headCell:
		w.formula = none
		if w.tables == 1 {
			if err := w.startInTable(role, e); err != nil {
				return err
			}
		}
	case lineBreak:
		w.buffer.WriteByte('\n')
	}
	return nil
}

// startSection begins a section. Text of the section around it comes before it.
func (w *walker) startSection(e xml.StartElement) error {
	if err := w.flush(w.innermost()); err != nil {
		return err
	}
	if err := errors.Join(w.endLabel(), w.headUntitled()); err != nil {
		return err
	}
	w.sections++
	w.keep, w.untitled = false, untitled[e.Name.Local]
	if name := attr(e, "Name"); name != "" {
		return w.heading(name, w.sections)
	}
	return nil
}
