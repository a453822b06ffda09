package docling

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// After this many consecutive failures docling-serve is not used for a while; then one document tries it.
const (
	outageTrips = 3
	outagePause = 30 * time.Second
)

// Outages is the circuit breaker that the extractors of WithFallback share.
type Outages struct {
	breaker *gobreaker.TwoStepCircuitBreaker[struct{}]
}

// NewOutages returns a breaker that logs when it opens and closes.
func NewOutages(log *slog.Logger) *Outages {
	return &Outages{gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{
		Name: Name, Timeout: outagePause,
		ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= outageTrips },
		IsExcluded:  func(err error) bool { return errors.Is(err, errNoVerdict) },
		OnStateChange: func(_ string, from, to gobreaker.State) {
			if to == gobreaker.StateOpen && from == gobreaker.StateClosed || to == gobreaker.StateClosed {
				log.Warn("circuit breaker", "dependency", taskerr.Docling, "state", to.String(), "meanwhile",
					"documents are read natively (EXTRACTOR=auto)")
			}
		},
	})}
}

// errNoVerdict ends an extraction that reveals nothing about docling-serve.
var errNoVerdict = errors.New("docling: the extraction reveals nothing about the server")

// fallback extracts with Docling, and natively while Docling is down.
type fallback struct {
	*Extractor
	native  extract.Extractor
	outages *Outages
}

// WithFallback returns x with a fallback: while docling-serve is down, native reads the document, and
// Info.Extractor, Info.Fallback and a warning report it. A document that docling-serve refuses or can't convert
// is not an outage.
func WithFallback(x *Extractor, native extract.Extractor, outages *Outages) extract.Extractor {
	return &fallback{x, native, outages}
}

// Extract calls docling-serve unless it is known to be down. Nothing is emitted before its answer is complete,
// so that no document is read half in one way and half in the other.
func (f *fallback) Extract(
	ctx context.Context, src extract.Source, limits extract.Limits, emit extract.Emit,
) (extract.Info, error) {
	report, err := f.outages.breaker.Allow()
	if err != nil {
		return f.natively(ctx, src, limits, emit, "is down")
	}
	reported := false
	defer func() {
		if !reported { // a panic
			report(errNoVerdict)
		}
	}()
	info, err := f.Extractor.Extract(ctx, src, limits, emit)
	failure, _ := errors.AsType[*taskerr.Error](err)
	down := failure != nil && failure.Dependency == taskerr.Docling && ctx.Err() == nil
	reported = true
	switch {
	case down:
		report(err)
		return f.natively(ctx, src, limits, emit, "did not answer as it should: "+failure.Message)
	case err == nil && info.Service == taskerr.Docling:
		report(nil)
	default:
		report(errNoVerdict)
	}
	return info, err
}

func (f *fallback) natively(
	ctx context.Context, src extract.Source, limits extract.Limits, emit extract.Emit, reason string,
) (extract.Info, error) {
	info, err := f.native.Extract(ctx, src, limits, emit)
	if err != nil {
		return info, err
	}
	if info.Extractor == "" {
		info.Extractor = f.native.Name()
	}
	info.Fallback = true
	info.Warnings = append(info.Warnings, "docling-serve "+oneLine(reason)+"; the document was read by "+
		info.Extractor+" instead, send it again under a new task_id to have it read by docling")
	return info, nil
}
