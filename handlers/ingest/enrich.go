package ingest

import (
	"context"
	"fmt"

	"github.com/seed-7227ef26/async-worker/internal/chunk"
	"github.com/seed-7227ef26/async-worker/internal/enrich"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/privacy"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// enrichment finds out about one document while it streams from the extractor to the chunker, and keeps back
// what is not to leave for a model or to be stored.
type enrichment struct {
	filter    *privacy.Filter
	guarded   *privacy.Document
	collector *enrich.Collector
}

// attach puts it between an extractor and where blocks go on to.
func attach(filter *privacy.Filter, next extract.Emit) *enrichment {
	e := &enrichment{filter: filter, collector: enrich.NewCollector()}
	e.guarded = filter.Document(func(b extract.Block) error {
		e.collector.Block(b)
		return next(b)
	})
	return e
}

// block takes a block of the extractor. It goes on, redacted if requested, now or with a later one.
func (e *enrichment) block(ctx context.Context, b extract.Block) error {
	return e.guarded.Block(ctx, b)
}

// end hands on the last blocks, and returns of what the extractor told what may be told on.
func (e *enrichment) end(ctx context.Context, info extract.Info) (extract.Info, error) {
	if err := e.guarded.Flush(ctx); err != nil {
		return extract.Info{}, err
	}
	return e.guarded.Info(ctx, info)
}

// chunk takes the next chunk and returns it with its language.
func (e *enrichment) chunk(c chunk.Chunk) chunk.Chunk {
	if found := e.collector.Chunk(c); found.Code != enrich.Unknown {
		c.Language = found.Code
	}
	return c
}

// finish returns what was found, once the last chunk was taken.
func (e *enrichment) finish(info extract.Info) store.Enrichment {
	d := e.collector.Finish(info)
	out := store.Enrichment{
		Title: d.Title, Language: d.Language.Code, Properties: d.Stated(), PersonalData: e.personalData(),
	}
	for _, h := range d.Outline.Entries {
		out.Outline = append(out.Outline, store.Heading(h))
	}
	return out
}

func (e *enrichment) personalData() *store.PersonalData {
	if e.filter == nil {
		return nil
	}
	p := &store.PersonalData{
		Mode: string(e.filter.Mode()), Detector: e.filter.DetectorVersion(), Found: map[string]int{},
		Incomplete: e.guarded.Missed() != nil,
	}
	for kind, n := range e.guarded.Found() {
		p.Found[string(kind)] = n
	}
	return p
}

// warning says that not all of the text was looked at.
func (e *enrichment) warning() string {
	if e == nil || e.guarded.Missed() == nil {
		return ""
	}
	return fmt.Sprintf("personal data were not looked for in all of the text: %s",
		taskerr.Classify(e.guarded.Missed()).Message)
}
