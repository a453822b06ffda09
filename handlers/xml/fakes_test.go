package xml_test

import (
	"context"
	"io"

	"github.com/seed-7227ef26/async-worker/handlers/xml"
	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// failing is a bucket that takes nothing.
type failing struct{ blob.Bucket }

func (failing) Put(context.Context, string, io.Reader, string) (blob.Properties, error) {
	return blob.Properties{}, taskerr.Errorf(taskerr.TransientStorage, "the storage account is busy")
}

// nothing is a gateway that is never called.
type nothing struct{ xml.Gateway }

// parts reads the first page only, so often.
type parts struct {
	xml.Extractor
	left int
	info extract.Info
}

func (p *parts) Extract(ctx context.Context, src extract.Source, limits extract.Limits, emit extract.Emit) (extract.Info, error) {
	if p.left == 0 {
		return p.Extractor.Extract(ctx, src, limits, emit)
	}
	p.left--
	_, err := p.Extractor.Extract(ctx, src, limits, func(b extract.Block) error {
		if b.Page > 1 {
			return nil
		}
		return emit(b)
	})
	return p.info, err
}
