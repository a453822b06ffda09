package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"text/tabwriter"
	"time"
)

// entrant is the worker or a peer in a comparison.
type entrant struct {
	name    string
	command []string // empty: not installed
	ours    bool
	tasks   int    // at a time; 0: the default
	rows    string // the query that counts what it has written; empty: nothing is counted

	runs    []peerRun
	results []string // what else is said of the last run
	failed  error    // of a peer; the comparison goes on without it
}

// contest is one comparison. The worker is its first entrant.
type contest struct {
	entrants []*entrant
	begin    func(ctx context.Context, e *entrant, round int) (peerTask, error)
	end      func(ctx context.Context, e *entrant, t peerTask, r peerRun) error // may be nil
}

// turns runs the rounds, each in another order.
func (b *peerBench) turns(ctx context.Context, c contest) error {
	for round := range b.rounds {
		order := slices.Clone(c.entrants)
		if round%2 == 1 {
			slices.Reverse(order)
		}
		for _, e := range order {
			if len(e.command) == 0 || e.failed != nil {
				continue
			}
			err := b.turn(ctx, c, e, round)
			switch {
			case err == nil:
			case e.ours || ctx.Err() != nil:
				return fmt.Errorf("%s: %w", e.name, err)
			default:
				e.failed = err
				fmt.Fprintf(b.out, "\nNOT MEASURED: %s: %v\n", e.name, err)
			}
		}
	}
	return nil
}

func (b *peerBench) turn(ctx context.Context, c contest, e *entrant, round int) (err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	t, err := c.begin(ctx, e, round)
	if err != nil {
		return err
	}
	p, err := startPeer(ctx, t, e.command...)
	if err != nil {
		return err
	}
	before, err := b.server.cpu()
	if err != nil {
		return errors.Join(err, p.stop())
	}
	r, err := p.run()
	if err != nil {
		return errors.Join(err, p.stop())
	}
	after, err := b.server.cpu()
	if err = errors.Join(err, p.stop()); err != nil {
		return err
	}
	r.server = after - before
	fmt.Fprintf(os.Stderr, "peers: round %d: %.1f s, %s\n", round+1, r.took.Seconds(), e.name)
	e.runs = append(e.runs, r)
	if c.end == nil {
		return nil
	}
	return c.end(ctx, e, t, r)
}

// figureRange is the median of some values, and their range.
type figureRange struct{ least, middle, most float64 }

func rangeOf(values []float64) figureRange {
	sorted := slices.Sorted(slices.Values(values))
	return figureRange{sorted[0], sorted[len(sorted)/2], sorted[len(sorted)-1]}
}

func (s figureRange) format(digits int) string {
	return fmt.Sprintf("%.*f (%.*f–%.*f)", digits, s.middle, digits, s.least, digits, s.most)
}

// seconds, cpu and server are figures of a run, in seconds.
func seconds(r peerRun) float64 { return r.took.Seconds() }

func workerCPU(r peerRun) float64 { return r.cpu.Seconds() }

func serverCPU(r peerRun) float64 { return r.server.Seconds() }

func peakMB(r peerRun) float64 { return float64(r.peak) / (1 << 20) }

// of is the median, with range, of a figure over all runs.
func (e *entrant) of(figure func(peerRun) float64) figureRange {
	values := make([]float64, len(e.runs))
	for i, r := range e.runs {
		values[i] = figure(r)
	}
	return rangeOf(values)
}

// ratio is the median, with range, of a figure's ratio to that of another entrant in the same round.
func (e *entrant) ratio(to *entrant, figure func(peerRun) float64) figureRange {
	values := make([]float64, min(len(e.runs), len(to.runs)))
	for i := range values {
		values[i] = figure(e.runs[i]) / max(figure(to.runs[i]), time.Millisecond.Seconds())
	}
	return rangeOf(values)
}

// measured are the entrants with all rounds.
func (c contest) measured() (entrants []*entrant) {
	for _, e := range c.entrants {
		if e.failed == nil && len(e.runs) > 0 {
			entrants = append(entrants, e)
		}
	}
	return entrants
}

// print prints a line for each entrant; ratios are to the first.
func (c contest) print(out io.Writer, columns ...string) {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "\nratio of time\tseconds\tratio of CPU\tseconds of CPU\tof Postgres\tpeak MB\t")
	for _, column := range columns {
		fmt.Fprint(t, column, "\t")
	}
	fmt.Fprintln(t)
	for _, e := range c.measured() {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%.0f\t", e.ratio(c.entrants[0], seconds).format(2), e.of(seconds).format(2),
			e.ratio(c.entrants[0], workerCPU).format(2), e.of(workerCPU).format(2), e.of(serverCPU).format(2), e.of(peakMB).most)
		for _, result := range e.results {
			fmt.Fprint(t, result, "\t")
		}
		fmt.Fprintln(t, e.name)
	}
	_ = t.Flush()
}

// verdict says whether a peer's ratio to the worker, the first entrant, is as high as asked for.
func (c contest) verdict(out io.Writer, e *entrant, figure func(peerRun) float64, what string, asked float64) {
	verdictTo(out, c.entrants[0], e, figure, what, asked)
}

// verdictTo is verdict for another entrant in the worker's place.
func verdictTo(out io.Writer, ours, e *entrant, figure func(peerRun) float64, what string, asked float64) {
	if e.failed != nil || len(e.runs) == 0 {
		return
	}
	s, verdict := e.ratio(ours, figure), "reached"
	if s.middle < asked {
		verdict = "MISSED"
	}
	fmt.Fprintf(out, "%s of %s: %s times the worker's, asked for %.1f: %s\n", what, e.name, s.format(2), asked, verdict)
}
