package privacy

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// onRequest are kinds that detectors find in every text and that identify nobody by themselves. They count only
// if requested.
var onRequest = map[Kind]bool{"DATE_TIME": true, "URL": true, "LOCATION": true, "NRP": true, "ORGANIZATION": true}

// Options select what to find, and what to do with it.
type Options struct {
	Mode     Mode                     // Tag or Redact
	Detector Detector                 // required
	Kinds    []Kind                   // that count; empty: all but DATE_TIME, URL, LOCATION, NRP and ORGANIZATION
	Language func(text string) string // returns the language of a text; required
}

// Filter counts or replaces personal data in the text of documents. A nil Filter passes everything. It is safe
// for concurrent use.
type Filter struct {
	options Options
	wanted  map[Kind]bool // empty: all except onRequest
}

// NewFilter returns a Filter, or nil if the mode is Off.
func NewFilter(o Options) *Filter {
	if o.Mode != Tag && o.Mode != Redact {
		return nil
	}
	f := &Filter{options: o, wanted: map[Kind]bool{}}
	for _, k := range o.Kinds {
		f.wanted[k] = true
	}
	return f
}

// Mode returns the filter's mode.
func (f *Filter) Mode() Mode {
	if f == nil {
		return Off
	}
	return f.options.Mode
}

// Version identifies everything that determines the filter's output, for example "redact patterns@1
// EMAIL,IBAN", or "off" for a nil Filter.
func (f *Filter) Version() string {
	if f == nil {
		return string(Off)
	}
	name := string(f.options.Mode) + " " + f.options.Detector.Version()
	if len(f.wanted) > 0 {
		kinds := make([]string, 0, len(f.wanted))
		for _, k := range slices.Sorted(maps.Keys(f.wanted)) {
			kinds = append(kinds, string(k))
		}
		name += " " + strings.Join(kinds, ",")
	}
	return name
}

// DetectorVersion returns the version of the detector.
func (f *Filter) DetectorVersion() string { return f.options.Detector.Version() }

func (f *Filter) counts(k Kind) bool {
	if len(f.wanted) > 0 {
		return f.wanted[k]
	}
	return !onRequest[k]
}

// Document is one document being filtered. It is not safe for concurrent use.
type Document struct {
	filter   *Filter
	emit     extract.Emit
	blocks   []extract.Block // waiting for the detector
	bytes    int             // of their texts
	language string          // of the previous texts
	found    Counts
	missed   error // why some text was not examined; only when tagging
}

// The size of a batch for the detector: a call for each block would be slow, one for all would not stream.
const (
	batchBlocks = 64
	batchBytes  = 32 << 10
)

// Document starts a document whose blocks go to emit.
func (f *Filter) Document(emit extract.Emit) *Document {
	return &Document{filter: f, emit: emit, language: "und", found: Counts{}}
}

// Block takes the next block. This call or a later one emits it, redacted if requested. Errors are those of
// emit and, when redacting, of the detector: text that could not be examined is not emitted.
func (d *Document) Block(ctx context.Context, b extract.Block) error {
	if d.filter == nil {
		return d.emit(b)
	}
	b = own(b)
	if d.filter.options.Mode == Redact {
		unlink(&b)
	}
	d.blocks = append(d.blocks, b)
	each(&d.blocks[len(d.blocks)-1], func(s *string) { d.bytes += len(*s) })
	if len(d.blocks) < batchBlocks && d.bytes < batchBytes {
		return nil
	}
	return d.Flush(ctx)
}

// Flush emits the pending blocks.
func (d *Document) Flush(ctx context.Context) error {
	if len(d.blocks) == 0 {
		return nil
	}
	var places []*string
	for i := range d.blocks {
		each(&d.blocks[i], func(s *string) { places = append(places, s) })
	}
	if err := d.examine(ctx, places); err != nil {
		return err
	}
	for i := range d.blocks {
		if err := d.emit(d.blocks[i]); err != nil {
			return err
		}
	}
	clear(d.blocks)
	d.blocks, d.bytes = d.blocks[:0], 0
	return nil
}

// own returns the block with copied cells: an extractor may emit the same header again, or keep what it
// emitted.
func own(b extract.Block) extract.Block {
	if b.Table == nil {
		return b
	}
	table := *b.Table
	table.Rows = make([][]extract.Cell, len(b.Table.Rows))
	for i, row := range b.Table.Rows {
		table.Rows[i] = slices.Clone(row)
	}
	b.Table = &table
	return b
}

// unlink removes the links of a block: their places change with the text, and addresses hold personal data, too.
func unlink(b *extract.Block) {
	b.Links = nil
	if b.Table == nil {
		return
	}
	for _, row := range b.Table.Rows {
		for i := range row {
			row[i].Links = nil
		}
	}
}

// each calls visit for the texts of a block.
func each(b *extract.Block, visit func(*string)) {
	if b.Text != "" {
		visit(&b.Text)
	}
	if b.Table == nil {
		return
	}
	for _, row := range b.Table.Rows {
		for i := range row {
			if row[i].Text != "" {
				visit(&row[i].Text)
			}
		}
	}
}

// Info filters the document's title, properties and warnings, which may name attachments.
func (d *Document) Info(ctx context.Context, info extract.Info) (extract.Info, error) {
	if d.filter == nil {
		return info, nil
	}
	names := slices.Sorted(maps.Keys(info.Properties))
	values := make([]string, len(names))
	places := []*string{&info.Title}
	for i, name := range names {
		values[i] = info.Properties[name]
		places = append(places, &values[i])
	}
	if err := d.examine(ctx, places); err != nil {
		return extract.Info{}, err
	}
	if err := d.warnings(ctx, &info); err != nil {
		return extract.Info{}, err
	}
	info.Properties = maps.Clone(info.Properties)
	for i, name := range names {
		info.Properties[name] = values[i]
	}
	return info, nil
}

// warnings filters the warnings. They are not text of the document, and not counted.
func (d *Document) warnings(ctx context.Context, info *extract.Info) error {
	if len(info.Warnings) == 0 {
		return nil
	}
	info.Warnings = slices.Clone(info.Warnings)
	places := make([]*string, len(info.Warnings))
	for i := range info.Warnings {
		places[i] = &info.Warnings[i]
	}
	uncounted := d.filter.Document(nil)
	err := uncounted.examine(ctx, places)
	d.missed = cmp.Or(d.missed, uncounted.missed)
	return err
}

// Text filters a text that comes with the document, for example the title that its sender gave. It is not
// counted.
func (f *Filter) Text(ctx context.Context, text string) (string, error) {
	if f == nil || text == "" {
		return text, nil
	}
	d := f.Document(nil)
	err := d.examine(ctx, []*string{&text})
	return text, err
}

// examine runs the detector on texts, counts its findings, and redacts them in place.
func (d *Document) examine(ctx context.Context, places []*string) error {
	texts := make([]string, len(places))
	for i, p := range places {
		texts[i] = *p
	}
	if language := d.filter.options.Language(strings.Join(texts, "\n")); language != "und" {
		d.language = language
	}
	found, err := d.find(ctx, texts)
	if err != nil && ctx.Err() != nil {
		return err
	}
	if err != nil && d.filter.options.Mode == Tag {
		d.missed = err // one reason is enough
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for personal data: %w", err)
	}
	for i, place := range places {
		for _, f := range found[i] {
			d.found[f.Kind]++
		}
		if d.filter.options.Mode == Redact {
			*place = redact(texts[i], found[i])
		}
	}
	return nil
}

// find returns the detector's findings that count, with overlapping ones merged. A response that does not fit
// the texts is an error, because none of it could be trusted.
func (d *Document) find(ctx context.Context, texts []string) ([][]Finding, error) {
	found, err := d.filter.options.Detector.Find(ctx, texts, d.language)
	if err != nil {
		return nil, err
	}
	if len(found) != len(texts) {
		return nil, invalidAnswer("%d answers to %d texts", len(found), len(texts))
	}
	for i, findings := range found {
		var wanted []Finding
		for _, f := range findings {
			if f.Start < 0 || f.Start >= f.End || f.End > len(texts[i]) {
				return nil, invalidAnswer("a range outside of the text")
			}
			if d.filter.counts(f.Kind) {
				wanted = append(wanted, f)
			}
		}
		found[i] = distinct(wanted)
	}
	return found, nil
}

func invalidAnswer(format string, args ...any) error {
	return taskerr.Errorf(taskerr.DependencyUnavailable, "the detector of personal data gave "+format, args...)
}

// Found returns how often each kind was found so far.
func (d *Document) Found() Counts { return d.found }

// Missed returns why a part of the text was not examined, or nil. When redacting it is always nil, because such
// text is an error.
func (d *Document) Missed() error { return d.missed }
