package docx

import (
	"encoding/xml"

	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
)

// formValue reads the content of a w:fldChar and returns what a field of a form shows (w:ffData, 17.16.17): the state
// of a check box, or the chosen entry of a list. A text field shows its result, which is text of the document.
func (r *reader) formValue() (value string, err error) {
	err = r.d.Children(func(start xml.StartElement) (err error) {
		switch start.Name.Local {
		case "ffData":
			value, err = r.formValue()
		case "checkBox":
			value, err = r.checkBox()
		case "ddList":
			value, err = r.dropDown()
		default:
			err = r.d.Skip()
		}
		return err
	}, nil)
	return value, err
}

// checkBox reads a w:checkBox. w:default holds until somebody has clicked on the box.
func (r *reader) checkBox() (string, error) {
	state := map[string]bool{}
	err := r.d.Children(func(start xml.StartElement) error {
		state[start.Name.Local] = on(ooxml.Attr(start, "val"))
		return r.d.Skip()
	}, nil)
	checked, clicked := state["checked"]
	if checked || !clicked && state["default"] {
		return "☒", err
	}
	return "☐", err
}

// dropDown reads a w:ddList. Its w:result and w:default, which count from zero, come before the entries.
func (r *reader) dropDown() (value string, err error) {
	var result, standard *int
	entries := 0
	err = r.d.Children(func(start xml.StartElement) error {
		switch start.Name.Local {
		case "result":
			result = number(start)
		case "default":
			standard = number(start)
		case "listEntry":
			chosen := result
			if chosen == nil {
				chosen = standard
			}
			if entries == 0 || chosen != nil && entries == *chosen {
				value = ooxml.Attr(start, "val")
			}
			entries++
		}
		return r.d.Skip()
	}, nil)
	return value, err
}
