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

// After this many failures in a row docling-serve is left alone for a while; then one document tries it.
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
		IsExcluded:  func(err error) bool { return errors.Is(err, errUnasked) },
		OnStateChange: func(_ string, from, to gobreaker.State) {
			if to == gobreaker.StateOpen && from == gobreaker.StateClosed || to == gobreaker.StateClosed {
				log.Warn("circuit breaker", "dependency", taskerr.Docling, "state", to.String(), "meanwhile",
					"documents are read natively (EXTRACTOR=auto)")
			}
		},
	})}
}

// errUnasked ends an extraction that says nothing of docling-serve.
var errUnasked = errors.New("docling: the extraction says nothing of the server")

// fallback reads by Docling, and natively when Docling is down.
type fallback struct {
	*Extractor
	native  extract.Extractor
	outages *Outages
}

// WithFallback is x, but a document is read by native when docling-serve is down, and what is told of it says
// so: Info.Extractor, Info.Fallback and a warning. A document that docling-serve refuses, or can't convert, is
// no outage.
func WithFallback(x *Extractor, native extract.Extractor, outages *Outages) extract.Extractor {
	return &fallback{x, native, outages}
}

// Extract asks docling-serve unless it is known to be down. Nothing is emitted before its answer is there
// whole, so that no document is read half in one way and half in the other.
func (f *fallback) Extract(
	ctx context.Context, src extract.Source, limits extract.Limits, emit extract.Emit,
) (extract.Info, error) {
	report, err := f.outages.breaker.Allow()
	if err != nil {
		return f.natively(ctx, src, limits, emit, "is down")
	}
	told := false
	defer func() {
		if !told { // a panic
			report(errUnasked)
		}
	}()
	info, err := f.Extractor.Extract(ctx, src, limits, emit)
	failure, _ := errors.AsType[*taskerr.Error](err)
	down := failure != nil && failure.Dependency == taskerr.Docling && ctx.Err() == nil
	told = true
	switch {
	case down:
		report(err)
		return f.natively(ctx, src, limits, emit, "did not answer as it should: "+failure.Message)
	case err == nil && info.Service == taskerr.Docling:
		report(nil)
	default:
		report(errUnasked)
	}
	return info, err
}

func (f *fallback) natively(
	ctx context.Context, src extract.Source, limits extract.Limits, emit extract.Emit, why string,
) (extract.Info, error) {
	info, err := f.native.Extract(ctx, src, limits, emit)
	if err != nil {
		return info, err
	}
	if info.Extractor == "" {
		info.Extractor = f.native.Name()
	}
	info.Fallback = true
	info.Warnings = append(info.Warnings, "docling-serve "+oneLine(why)+"; the document was read by "+info.Extractor+
		" instead, send it again to have it read by docling")
	return info, nil
}
