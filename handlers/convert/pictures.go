package convert

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-7227ef26/async-worker/internal/deck/compose"
	"github.com/seed-7227ef26/async-worker/internal/deck/pptx"
	"github.com/seed-7227ef26/async-worker/internal/deck/scrape"
	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// shown are the types of pictures that presentations and PDF files have.
var shown = map[string]bool{"image/png": true, "image/jpeg": true, "image/gif": true}

// pictures saves the document's pictures in w.media: an image file itself, and those within a PDF.
func (w *work) pictures(ctx context.Context, info extract.Info) ([]compose.Picture, error) {
	switch w.source.Format {
	case extract.Image:
		return w.image(ctx)
	case extract.PDF:
		found, missed, err := scrape.PDF(ctx, w.source.Path, info.Pages, scrape.Options{
			Folder: w.media, TempDir: w.file.Dir, Time: w.deps.Limits.WithDefaults().Time, Pool: w.deps.Limits.Pool,
		})
		if missed != "" {
			w.warnings = append(w.warnings, missed)
		}
		return found, err
	default:
		return nil, nil
	}
}

func (w *work) image(ctx context.Context) ([]compose.Picture, error) {
	file, err := os.Open(w.source.Path)
	if err != nil {
		return nil, fmt.Errorf("open the image: %w", err)
	}
	defer func() { _ = file.Close() }() // read-only
	key, about, err := pptx.Save(ctx, file, w.media, filepath.Ext(w.payload.Filename))
	if err != nil {
		return nil, err
	}
	if !shown[about.Type] {
		w.warnings = append(w.warnings, "the image itself is not in the deck: it is of the type "+about.Type)
		return nil, nil
	}
	return []compose.Picture{{Key: key, Page: 1, Alt: w.payload.Filename, Media: about}}, nil
}
