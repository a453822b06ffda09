package retrieval

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/stack"
)

// way is one way of ranking, and what it found.
type way struct {
	name   string
	scores []Score // by question
	took   []time.Duration
}

// baseline is the way that the others are compared with.
const baseline = "BM25 (bm25s, stemmed)"

// Run measures a set and prints a table. venv is a Python environment that dev/install-retrieval-deps.sh made. model is that
// of the vectors; empty: the offline provider.
func Run(ctx context.Context, out io.Writer, dir, venv, model string) (err error) {
	s, err := Load(dir)
	if err != nil {
		return err
	}
	library, err := libraryBM25(ctx, venv, dir)
	if err != nil {
		return err
	}
	pg, err := stack.StartPostgres(ctx, stack.PostgresOptions{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pg.Stop()) }()
	e, stop, err := Embedder(ctx, model, venv)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	x, err := newIndex(ctx, pg, "quality", e, s.Passages)
	if err != nil {
		return err
	}
	defer x.store.Close()
	plain, err := fullText(ctx, x.url, s)
	if err != nil {
		return err
	}
	ways := []way{{name: baseline}, {name: "full text of Postgres"}}
	for i, q := range s.Questions {
		ways[0].scores = append(ways[0].scores, judge(library[i], q.Answers))
		ways[1].scores = append(ways[1].scores, judge(plain[i], q.Answers))
	}
	for _, leg := range []struct {
		name          string
		words, vector bool
	}{{"words", true, false}, {"vectors", false, true}, {"hybrid", true, true}} {
		w := way{name: leg.name}
		for _, q := range s.Questions {
			found, took, err := x.search(ctx, q.Text, leg.words, leg.vector)
			if err != nil {
				return fmt.Errorf("question %s: %w", q.ID, err)
			}
			w.scores, w.took = append(w.scores, judge(found, q.Answers)), append(w.took, took)
		}
		ways = append(ways, w)
	}
	fmt.Fprintf(out, "%s: %d passages, %d questions, vectors of %s\n\n", filepath.Base(dir), len(s.Passages), len(s.Questions), e.Model())
	if err := table(out, ways); err != nil {
		return err
	}
	hybrid := ways[len(ways)-1]
	for _, leg := range ways[2 : len(ways)-1] {
		fmt.Fprintf(out, "hybrid ahead of %s: MRR@10 %s, nDCG@10 %s\n", leg.name,
			ahead(hybrid.scores, leg.scores, func(s Score) float64 { return s.MRR }),
			ahead(hybrid.scores, leg.scores, func(s Score) float64 { return s.NDCG }))
	}
	fmt.Fprintln(out)
	return nil
}

// table prints the means × 100, and by how much each is ahead of the first.
func table(out io.Writer, ways []way) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\trecall@1\t@5\t@10\tMRR@10\tahead, 95 %\tnDCG@10\tahead, 95 %\tp50 ms\tp95 ms\t")
	for _, y := range ways {
		m := mean(y.scores)
		fmt.Fprintf(w, "%s\t%.1f\t%.1f\t%.1f\t%.1f\t%s\t%.1f\t%s\t", y.name, 100*m.Recall1, 100*m.Recall5, 100*m.Recall10,
			100*m.MRR, ahead(y.scores, ways[0].scores, func(s Score) float64 { return s.MRR }),
			100*m.NDCG, ahead(y.scores, ways[0].scores, func(s Score) float64 { return s.NDCG }))
		if len(y.took) > 0 {
			slices.Sort(y.took)
			fmt.Fprintf(w, "%.1f\t%.1f", ms(y.took[len(y.took)/2]), ms(y.took[len(y.took)*95/100]))
		} else {
			fmt.Fprint(w, "\t")
		}
		fmt.Fprintln(w, "\t")
	}
	fmt.Fprintf(w, "\n")
	return w.Flush()
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// ahead is the interval of the differences × 100.
func ahead(of, than []Score, measure func(Score) float64) string {
	differences := make([]float64, len(of))
	for i := range of {
		differences[i] = measure(of[i]) - measure(than[i])
	}
	low, high := interval(differences)
	return fmt.Sprintf("%+.1f … %+.1f", 100*low, 100*high)
}
