package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"

	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/docling"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	extractdocling "github.com/seed-7227ef26/async-worker/internal/extract/docling"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// DoclingClient returns a client of the docling-serve at DOCLING_URL. It stores results in tempDir; "" means the
// system's temporary folder.
func DoclingClient(cfg config.Config, tempDir string, log *slog.Logger) (*docling.Client, error) {
	c, err := docling.New(docling.Options{
		URL: cfg.Docling.URL, APIKey: cfg.Docling.APIKey.Reveal(), Tenant: cfg.ClientID, TempDir: tempDir, Log: log,
	})
	if err != nil {
		return nil, fmt.Errorf("use DOCLING_URL: %w", err)
	}
	return c, nil
}

// WithDocling returns native with docling-serve for the formats that it takes, as EXTRACTOR demands. shelf keeps its
// results; nil: they are not kept.
func WithDocling(
	native *extract.Router, cfg config.Config, client *docling.Client, shelf docling.Shelf, log *slog.Logger,
) *extract.Router {
	taken := extractdocling.Formats()
	reader, outages := extractdocling.New(client, shelf), extractdocling.NewOutages(log)
	return native.With(func(f extract.Format, now extract.Extractor) extract.Extractor {
		switch {
		case !slices.Contains(taken, f):
			return now
		case cfg.Extractor == config.ExtractorAuto:
			return extractdocling.WithFallback(reader, now, outages)
		default:
			return reader
		}
	})
}

// withDocling is the worker's WithDocling: it keeps results in the tenant's container, see shelf.
func (t *Tenant) withDocling(native *extract.Router, tempDir string) (*extract.Router, error) {
	if t.Config.Extractor == config.ExtractorNative {
		return native, nil
	}
	client, err := DoclingClient(t.Config, tempDir, t.log)
	if err != nil {
		return nil, err
	}
	t.closers = append(t.closers, func() error { client.CloseIdle(); return nil })
	t.probe(taskerr.Docling, client.Probe)
	return WithDocling(native, t.Config, client, t.shelf(), t.log), nil
}

// shelf is nil where personal data are redacted, since a result holds the text from before the redaction.
func (t *Tenant) shelf() docling.Shelf {
	if t.Config.PII.Mode == config.PIIRedact {
		return nil
	}
	return doclingShelf{t.Bucket}
}

// extractorNeeds is the dependency without which tasks that read documents wait.
func extractorNeeds(cfg config.Config) taskerr.Dependency {
	if cfg.Extractor == config.ExtractorDocling {
		return taskerr.Docling
	}
	return ""
}

// doclingShelf keeps docling-serve's results as blobs derived/docling/<SHA-256 of the source>.json.gz, so that a
// retry, or another task with the same bytes, doesn't pay for the conversion again.
type doclingShelf struct{ bucket blob.Bucket }

func doclingBlob(sha256 string) string { return "derived/docling/" + sha256 + ".json.gz" }

// Open returns nil if no result is kept.
func (s doclingShelf) Open(ctx context.Context, sha256 string) (io.ReadCloser, error) {
	_, body, err := s.bucket.Open(ctx, doclingBlob(sha256))
	if errors.Is(err, blob.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open docling's kept result: %w", err)
	}
	return body, nil
}

// Put keeps a result.
func (s doclingShelf) Put(ctx context.Context, sha256 string, result io.Reader) error {
	if _, err := s.bucket.Put(ctx, doclingBlob(sha256), result, "application/gzip"); err != nil {
		return fmt.Errorf("keep docling's result: %w", err)
	}
	return nil
}
