// Package xlsx extracts Excel workbooks (Office Open XML, ECMA-376 part 1, chapter 18), transitional and
// strict. Each sheet is a page. It streams the cells; connected regions of cells become tables.
package xlsx

import (
	"context"
	"encoding/xml"
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
	"github.com/seed-7227ef26/async-worker/internal/pattern"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// New returns an extractor of Excel workbooks. Hidden sheets are left out, unless there is no other; the property
// "hidden_sheets" has their names. Hidden rows and columns are read: a filter hides rows.
func New() extract.Extractor { return ooxml.Extractor("native/xlsx", 7, read) }

func read(
	ctx context.Context, pkg *ooxml.Package, limits extract.Limits, emit extract.Emit,
) (extract.Info, error) {
	r := &reader{
		ctx: ctx, pkg: pkg, emit: emit, limits: limits, blanks: limits.Characters, bytes: 4 * limits.Characters,
		read: map[string]bool{},
	}
	properties, err := pkg.Properties(ctx)
	if err != nil {
		return extract.Info{}, err
	}
	if err := r.workbook(); err != nil {
		return extract.Info{}, err
	}
	var hidden []string
	for _, s := range r.sheets {
		if !s.shown {
			hidden = append(hidden, s.name)
		}
	}
	if len(hidden) > 0 {
		properties["hidden_sheets"] = strings.Join(hidden, ", ")
	}
	info := extract.Info{Pages: len(r.sheets), Properties: properties}
	if r.unsaved > 0 {
		info.Warnings = []string{ooxml.Unsaved(r.unsaved)}
	}
	return info, nil
}

// reader reads one workbook.
type reader struct {
	ctx       context.Context
	pkg       *ooxml.Package
	emit      extract.Emit
	limits    extract.Limits
	sheets    []sheetName
	epoch1904 bool
	strings   stringTable
	formats   formats
	people    map[string]string // comment authors by id
	blanks    int               // remaining budget for empty and repeated cells of tables
	bytes     int               // remaining budget for text outside of cells
	read      map[string]bool   // charts and diagrams that were read
	unsaved   int               // formulas without a result: the program that wrote them doesn't calculate
}

// sheetName is a sheet as the workbook lists it.
type sheetName struct {
	name, id string
	shown    bool
}

// defaultName matches the names that programs give to sheets.
var defaultName = pattern.New(`(?i)^(?:sheet|tabelle|feuil|hoja|foglio|blad|ark|planilha|arkusz|лист|シート)\s?\d*$`)

func (r *reader) workbook() error {
	main, err := r.pkg.Main(r.ctx, "xl/workbook.xml")
	if err != nil {
		return err
	}
	if path.Ext(main) == ".bin" {
		return taskerr.Errorf(taskerr.UnsupportedFormat,
			"this is a binary Excel workbook (XLSB), which can't be read: save it as XLSX and upload it again")
	}
	err = r.pkg.Read(r.ctx, main, r.names)
	if errors.Is(err, fs.ErrNotExist) {
		err = taskerr.Errorf(taskerr.CorruptionDetected,
			"the workbook has no main part: it is damaged; save it again and upload it")
	}
	if err != nil {
		return err
	}
	relations, err := r.pkg.Relations(r.ctx, main)
	if err != nil {
		return err
	}
	if err := r.shared(relations); err != nil {
		return err
	}
	shown := 0
	for _, s := range r.sheets {
		if s.shown {
			shown++
		}
	}
	for i, s := range r.sheets {
		if !s.shown && shown > 0 {
			continue
		}
		r.sheets[i].shown = true
		heading := ""
		if len(r.sheets) > 1 || !defaultName.MatchString(s.name) {
			heading = s.name
		}
		err := r.sheet(relations[s.id].Target, i+1, heading)
		if errors.Is(err, fs.ErrNotExist) {
			err = taskerr.Errorf(taskerr.CorruptionDetected,
				"sheet %d is missing in the file: it is damaged; save it again and upload it", i+1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// names reads the list of sheets.
func (r *reader) names(d *ooxml.Decoder) error {
	return d.Each(func(start xml.StartElement) error {
		switch start.Name.Local {
		case "workbookPr":
			r.epoch1904 = ooxml.On(ooxml.Attr(start, "date1904"), false)
		case "sheet":
			if len(r.sheets) == r.limits.Pages {
				return taskerr.Errorf(taskerr.QuotaExceeded,
					"the workbook has more than %d sheets: split it into smaller files", r.limits.Pages)
			}
			state := ooxml.Attr(start, "state")
			if err := r.spend(len(ooxml.Attr(start, "name"))); err != nil {
				return err
			}
			r.sheets = append(r.sheets, sheetName{
				name: ooxml.Attr(start, "name"), id: ooxml.RelationID(start, "id"), shown: state == "" ||
					state == "visible",
			})
		}
		return nil
	})
}

// shared reads the parts that all sheets share.
func (r *reader) shared(relations map[string]ooxml.Relation) error {
	r.strings.limit = 4 * r.limits.Characters
	read := map[string]func(*ooxml.Decoder) error{
		"sharedStrings": r.strings.read, "styles": r.formats.read, "person": r.readPeople,
	}
	for kind, f := range read {
		if part := ooxml.OfType(relations, kind); part != "" {
			if err := ooxml.Optional(r.pkg.Read(r.ctx, part, f)); err != nil {
				return err
			}
		}
	}
	return nil
}

// spend charges text as soon as it is held in memory, at most four bytes per character.
func (r *reader) spend(n int) error {
	if r.bytes -= n; r.bytes < 0 {
		return extract.TooManyCharacters(r.limits.Characters)
	}
	return nil
}
