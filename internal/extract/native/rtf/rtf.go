// Package rtf extracts Rich Text documents (Word 2007: Rich Text Format Specification 1.9.1). It reads the file
// once, token by token, and holds only the styles, the open groups and the open table.
package rtf

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/flow"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

const (
	name     = "native/rtf"
	maxDepth = 1000 // open groups

	standardSize = 24 // half points
)

// New returns an extractor of Rich Text documents. A Rich Text document has no pages before it is laid out.
func New() extract.Extractor { return extract.Func(name, 9, read) }

func read(
	ctx context.Context, src extract.Source, limits extract.Limits, emit extract.Emit,
) (extract.Info, error) {
	file, err := os.Open(src.Path)
	if err != nil {
		return extract.Info{}, fmt.Errorf("open document: %w", err)
	}
	defer func() { _ = file.Close() }() // read-only
	emitted := false
	out := flow.New(func(b extract.Block) error {
		emitted = true
		return emit(b)
	}, limits.Characters)
	r := &reader{
		scan: scanner{ctx: ctx, r: bufio.NewReaderSize(file, 64<<10)}, out: out,
		page:  ansiPage,
		fonts: map[int]font{}, charsets: map[int]bool{}, styles: map[int]style{}, lists: map[int]*list{}, uses: map[int]*use{},
		properties: map[string]string{},
	}
	r.story = &story{emit: r.emit, hold: r.hold, main: true}
	cut, err := r.read()
	if err != nil {
		return extract.Info{}, err
	}
	info := extract.Info{Title: r.title, Language: languages[r.language], Properties: r.properties}
	switch {
	case cut && !emitted:
		return extract.Info{}, taskerr.Errorf(taskerr.CorruptionDetected,
			"the Rich Text document ends before its text: it was cut off on its way; upload it again")
	case cut:
		info.Warnings = []string{"the Rich Text document has no end: if it was cut off on its way, the rest of its text is missing"}
	}
	return info, nil
}

// destination is the target of a group's text.
type destination int

const (
	body destination = iota
	skipped
	fontTable
	styleTable
	listTable
	overrideTable
	information // a property of the document
	label       // a paragraph's number or bullet
	shape       // a drawing: ignored except for its text box
	instruction // of a field
)

// group is the state that braces save and restore.
type group struct {
	to     destination
	before destination // of an \upr: the target of its Unicode half
	upr    bool
	star   bool // after \*: an unknown word skips the group
	begun  bool // not at its start: a \* there marks only the word after it
	nested bool // within \*\nesttableprops
	font   int
	uc     int  // \uc: replacement characters that follow a \u
	hidden bool // \v
	gone   bool // \deleted, or moved away: \mvf
	bold   bool // \b
	size   int  // \fs, in half points
	mark   bool // \super, \sub
	raised bool // \super
	par    properties
	end    func() error // called at its closing brace; not inherited
}

// reader reads one document.
type reader struct {
	scan   scanner
	out    *flow.Writer
	groups []group // open groups except the innermost
	group
	story *story

	page       int // code page of the document
	deff       int // default font
	raw        raw
	skip       int // replacement characters to skip after the last \u
	surrogate  rune
	fonts      map[int]font
	charsets   map[int]bool // the code pages of the fonts' charsets
	styles     map[int]style
	lists      map[int]*list // by \listid
	uses       map[int]*use  // by \ls
	entry      entry         // the table entry being read
	properties map[string]string
	target     string // of the field whose result comes next
	commenter  string // who wrote the comment that comes next
	language   int
	title      string
	titled     bool // headings nest under a title
	parts      int  // cells and paragraphs of hold since the last block of the main text
}

// read reads the file to the end of the document. cut reports whether the file ends before that.
func (r *reader) read() (cut bool, err error) {
	err = r.document()
	if !errors.Is(err, io.EOF) {
		return false, err
	}
	if err := r.flush(); err != nil {
		return true, err
	}
	if r.to == body { // the paragraph's properties end with its group
		if err := r.endParagraph(); err != nil {
			return true, err
		}
	}
	for len(r.groups) > 1 {
		if err := r.close(); err != nil {
			return true, err
		}
	}
	return true, r.finish()
}

func (r *reader) document() error {
	r.group = group{uc: 1, par: plain, size: standardSize}
	first := true
	for {
		t, err := r.scan.next()
		if errors.Is(err, io.EOF) && len(r.groups) <= 1 {
			return r.finish() // only the last brace is missing
		}
		if err != nil {
			return err
		}
		if first && t.kind != openBrace && (t.kind != char || t.byte != ' ' && t.byte != '\t') {
			return taskerr.Errorf(taskerr.CorruptionDetected,
				"the Rich Text document does not begin as one: it is damaged; save it again and upload it")
		}
		first = first && t.kind != openBrace
		if t.kind == closeBrace && len(r.groups) <= 1 {
			return r.finish() // data after the document is ignored
		}
		if err := r.token(t); err != nil {
			return err
		}
	}
}

func (r *reader) finish() error {
	if err := r.flush(); err != nil {
		return err
	}
	if err := r.endParagraph(); err != nil {
		return err
	}
	if err := r.story.closeTables(0); err != nil {
		return err
	}
	return r.out.Flush()
}

func (r *reader) token(t token) error {
	r.begun = r.begun || t.kind != openBrace && (t.kind != symbol || t.byte != '*')
	if t.kind == char && (t.hex || t.byte >= 0x80 || r.raw.lead || r.symbolic()) {
		return r.coded(t.byte)
	}
	if len(r.raw.bytes) > 0 {
		if err := r.flush(); err != nil {
			return err
		}
	}
	switch t.kind {
	case openBrace:
		if len(r.groups) >= maxDepth {
			return taskerr.Errorf(taskerr.CorruptionDetected,
				"the Rich Text document is nested deeper than %d groups: it is not read", maxDepth)
		}
		r.skip = 0
		r.groups = append(r.groups, r.group)
		r.end, r.star, r.begun = nil, false, false
		return nil
	case closeBrace:
		return r.close()
	case char:
		if r.skip > 0 {
			r.skip--
			return nil
		}
		return r.put(string(rune(t.byte)))
	case symbol:
		return r.symbol(t.byte)
	}
	return r.word(t)
}

func (r *reader) close() error {
	r.skip = 0
	if r.end != nil {
		if err := r.end(); err != nil {
			return err
		}
	}
	if n := len(r.groups); n > 0 {
		r.group = r.groups[n-1]
		r.groups = r.groups[:n-1]
		r.begun = true
	}
	return nil
}
