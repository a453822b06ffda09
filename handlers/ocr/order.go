package ocr

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/derived"
	engines "github.com/seed-7227ef26/async-worker/internal/ocr"
	"github.com/seed-7227ef26/async-worker/internal/source"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// Payload is what an ocr task says.
type Payload struct {
	// The name of the scan, image or PDF. Default: that of its blob, or that its server gives it.
	Filename string `json:"filename" jsonschema:"minLength=1,maxLength=1024"`
	// The blob in the tenant's container that holds its bytes. Default: filename.
	Blob string `json:"blob" jsonschema:"maxLength=1024"`
	// In place of blob: blob:NAME, or an https address.
	SourceURI string `json:"source_uri" jsonschema:"maxLength=4096"`
	// The languages of the text as the engine names them, e.g. deu and eng of tesseract. Default: the worker's.
	Languages []string `json:"languages" jsonschema:"maxItems=16"`
	// Pages and ranges, counted from 1, e.g. 1-3,7. Default: all.
	Pages string `json:"pages"`
}

// order is a decoded task.
type order struct {
	payload Payload
	place   source.Place // where the document is
	pages   selection
	format  derived.Format
	engine  engines.Engine // with the task's options; nil: there is none
}

// maxLanguages limits the languages of a task; each costs time.
const maxLanguages = 16

// read decodes a task, without I/O.
func (h *Handler) read(t task.Task) (order, error) {
	var o order
	p := &o.payload
	err := handlers.ReadPayload(t.Payload, p,
		"filename, blob, source_uri and pages are strings, languages is a list of strings")
	if err != nil {
		return o, err
	}
	if o.place, err = handlers.CheckSource(&p.Filename, &p.Blob, p.SourceURI); err != nil {
		return o, err
	}
	if err = handlers.CheckIndexed(p.Filename, ""); err != nil {
		return o, err
	}
	if o.pages, err = readSelection(o.payload.Pages); err != nil {
		return o, err
	}
	o.format = derived.Markdown
	if f := t.Hints.OutputFormat; f != "" {
		o.format = derived.Format(strings.ToLower(f))
	}
	if !o.format.Known() {
		return o, handlers.Invalid("hints.output_format", "is none of %s", join(derived.Formats()))
	}
	o.payload.Languages = slices.Compact(o.payload.Languages)
	if len(o.payload.Languages) > maxLanguages {
		return o, handlers.Invalid("payload.languages", "has more than %d languages", maxLanguages)
	}
	if h.deps.Reader.Engine == nil {
		return o, nil
	}
	o.engine, err = h.deps.Reader.Engine.For(engines.Preferences{
		Languages: o.payload.Languages, Resolution: t.Hints.Resolution,
	})
	if err != nil {
		return o, handlers.Invalid("payload.languages", "is refused: %s", taskerr.Classify(err).Message)
	}
	return o, nil
}

func join[T ~string](values []T) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = string(v)
	}
	return strings.Join(texts, ", ")
}

// selection is ranges of pages, ascending and disjoint; empty: all pages.
type selection []span

type span struct{ first, last int }

// maxPage is higher than any page number.
const maxPage = 1_000_000

// readSelection decodes e.g. "1-3,7".
func readSelection(text string) (selection, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	var all selection
	for part := range strings.SplitSeq(text, ",") {
		one, err := readSpan(part)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b span) int { return a.first - b.first })
	merged := all[:1]
	for _, s := range all[1:] {
		if before := &merged[len(merged)-1]; s.first <= before.last+1 {
			before.last = max(before.last, s.last)
		} else {
			merged = append(merged, s)
		}
	}
	return merged, nil
}

// readSpan decodes e.g. "1-3" or "7".
func readSpan(text string) (span, error) {
	from, to, ranged := strings.Cut(text, "-")
	if !ranged {
		to = from
	}
	first, last := pageNumber(from), pageNumber(to)
	switch {
	case first < 1 || last < first:
		return span{}, handlers.Invalid("payload.pages", `is not a list of pages and ranges such as "1-3,7", counted from 1`)
	case last > maxPage:
		return span{}, handlers.Invalid("payload.pages", "goes beyond page %d, the last that can be asked for; "+
			"name pages that the document has", maxPage)
	}
	return span{first, last}, nil
}

// pageNumber is the number that a text says; 0: none. One that is too large for an int is the largest int.
func pageNumber(text string) int {
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0
	}
	return n
}

func (s selection) has(page int) bool {
	return len(s) == 0 || slices.ContainsFunc(s, func(x span) bool { return x.first <= page && page <= x.last })
}

// last returns the highest requested page; zero: all are requested.
func (s selection) last() int {
	if len(s) == 0 {
		return 0
	}
	return s[len(s)-1].last
}

// of lists the selected pages of a document with this many pages.
func (s selection) of(pages int) ([]int, error) {
	if s.last() > pages {
		return nil, handlers.Invalid("payload.pages", "asks for page %d, but the document has %d", s.last(), pages)
	}
	var numbers []int
	for n := 1; n <= pages; n++ {
		if s.has(n) {
			numbers = append(numbers, n)
		}
	}
	return numbers, nil
}

func (s selection) String() string {
	if len(s) == 0 {
		return "all"
	}
	parts := make([]string, len(s))
	for i, x := range s {
		parts[i] = strconv.Itoa(x.first) + "-" + strconv.Itoa(x.last)
	}
	return strings.Join(parts, ",")
}
