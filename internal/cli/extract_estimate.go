package cli

import (
	"context"
	"fmt"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// estimate prints what the ingest of a document takes of the models.
func (p *program) estimate(
	ctx context.Context, e extraction, router app.Extracting, src extract.Source, limits extract.Limits,
) error {
	took, err := app.EstimateIngest(ctx, e.cfg, router, src, limits)
	if err != nil {
		return &failure{"extract " + e.path, nextExtract(err), err}
	}
	if e.out == asJSON {
		return printJSON(p.stdout, took)
	}
	p.warnOf(e.path, took.Warnings) // what was not read is not counted
	fmt.Fprintf(p.stdout, "embeddings: %s, %d tokens\n", counted(took.Chunks, "chunk"), took.EmbeddingTokens)
	fmt.Fprintf(p.stdout, "contexts:   %s, at most %d tokens\n", counted(took.ContextRequests, "request"), took.ContextTokens)
	switch {
	case took.ContextMode != config.ContextModel:
		fmt.Fprintln(p.stdout, "CONTEXT_MODE is off: no contexts are asked for.")
	case took.TooLong:
		fmt.Fprintf(p.stdout, "That is more than CONTEXT_MAX_TOKENS (%d): the document would be ingested without contexts.\n",
			took.ContextMaxTokens)
	}
	return nil
}
