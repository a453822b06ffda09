package reindex_test

import (
	"context"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/stack/leaktest"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/test/reindex"
)

func TestMain(m *testing.M) { stacktest.Main(m, leaktest.Find) }

const dimensions = 32

// Ingesting a document of 100 pages again embeds nothing when it is unchanged, at most 3 % of its chunks for one
// paragraph, and at most 5 % for a page at the front.
func TestOnlyTheSurroundingsOfAnEditAreEmbeddedAgain(t *testing.T) {
	t.Parallel()
	for i, f := range reindex.Formats {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			r, err := reindex.NewRig(t.Context(), reindex.Options{
				URL: stacktest.PostgresWith(t, schema.Options{Dimensions: dimensions}), Dir: t.TempDir(),
				Dimensions: dimensions,
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := r.Close(context.WithoutCancel(t.Context())); err != nil {
					t.Log(err)
				}
			})
			seed := uint64(2 - i) // `make bench ONLY=reindex` takes the other book
			err = reindex.Measure(t.Context(), r, f, seed, func(row reindex.Row) error {
				t.Logf("seed %d: %-32s %3d of %d chunks embedded (%.1f %%), %d rows", seed, row.Name, row.ModelInputs,
					row.Chunks, 100*row.Share(), row.ChunkRows)
				if err := row.CheckLimits(); err != nil {
					t.Errorf("seed %d: %v", seed, err)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}
