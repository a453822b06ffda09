package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/stack"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/test/reindex"
)

// The model of the re-indexing part: as wide as OpenAI's small one, and with its usual latency.
const (
	reindexDimensions = 1536
	reindexLatency    = 80 * time.Millisecond
)

// measureReindex prints the cost of ingesting a document of 100 pages again, by what changed, with the limits.
func measureReindex(ctx context.Context, out io.Writer) (err error) {
	pg, err := stack.StartPostgres(ctx, stack.PostgresOptions{})
	if err != nil {
		return err
	}
	defer stopping(&err, pg.Stop)
	if err := ensureDatabase(ctx, pg, "reindex"); err != nil {
		return err
	}
	if _, err := schema.Migrate(ctx, pg.URL("reindex"), schema.Options{Dimensions: reindexDimensions}); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	dir, err := os.MkdirTemp("", "bench-reindex-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	rig, err := reindex.NewRig(ctx, reindex.Options{
		URL: pg.URL("reindex"), Dir: dir, Dimensions: reindexDimensions, Latency: reindexLatency,
	})
	if err != nil {
		return err
	}
	defer stopping(&err, func() error { return rig.Close(context.WithoutCancel(ctx)) })

	fmt.Fprintf(out, "\nA document of 100 pages ingested again, by what changed; a model call takes %v. Limits are "+
		"shares of the chunks.\n", reindexLatency)
	missed := 0
	for i, f := range reindex.Formats {
		fmt.Fprintln(out)
		table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintf(table, "%s\tchunks\tembedded\tshare\tlimit\tmodel calls\trows written\tKB fetched\tms\t\n", f.Name)
		// Each format has its own book: the second would reuse what the first has embedded.
		err := reindex.Measure(ctx, rig, f, uint64(1+i), func(r reindex.Row) error {
			verdict := ""
			if err := r.CheckLimits(); err != nil {
				missed++
				verdict = "missed"
			}
			fmt.Fprintf(table, "%s\t%d\t%d\t%.1f %%\t%.0f %%\t%d\t%d\t%d\t%d\t%s\n", r.Name, r.Chunks, r.ModelInputs,
				100*r.Share(), 100*r.Limit,
				r.ModelCalls, r.ChunkRows, r.Bytes>>10, r.Took.Milliseconds(), verdict)
			return nil
		})
		if err != nil {
			return err
		}
		if err := table.Flush(); err != nil {
			return err
		}
	}
	if missed > 0 {
		return fmt.Errorf("%d changes cost more than their limit", missed)
	}
	return nil
}
