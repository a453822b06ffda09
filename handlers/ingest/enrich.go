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

// enrichment collects properties of one document while it streams from the extractor to the chunker, and removes what
// neither a model nor the store may get.
type enrichment struct {
	filter    *privacy.Filter
	guarded   *privacy.Document
	collector *enrich.Collector
}

// attach inserts it between an extractor and the receiver of blocks.
func attach(filter *privacy.Filter, next extract.Emit) *enrichment {
	e := &enrichment{filter: filter, collector: enrich.NewCollector()}
	e.guarded = filter.Document(func(b extract.Block) error {
		e.collector.Block(b)
		return next(b)
	})
	return e
}

// block receives a block of the extractor. It passes it on, redacted if requested, now or with a later one.
func (e *enrichment) block(ctx context.Context, b extract.Block) error {
	return e.guarded.Block(ctx, b)
}

// end passes on the last blocks, and returns the part of the extractor's info that may be passed on.
func (e *enrichment) end(ctx context.Context, info extract.Info) (extract.Info, error) {
	if err := e.guarded.Flush(ctx); err != nil {
		return extract.Info{}, err
	}
	return e.guarded.Info(ctx, info)
}

// chunk receives the next chunk and returns it with its language.
func (e *enrichment) chunk(c chunk.Chunk) chunk.Chunk {
	if found := e.collector.Chunk(c); found.Code != enrich.Unknown {
		c.Language = found.Code
	}
	return c
}

// finish returns the findings, after the last chunk.
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

// warning reports that the detector did not read the whole text.
func (e *enrichment) warning() string {
	if e == nil || e.guarded.Missed() == nil {
		return ""
	}
	return fmt.Sprintf("personal data were not looked for in all of the text: %s",
		taskerr.Classify(e.guarded.Missed()).Message)
}
