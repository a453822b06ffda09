package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"
)

// vectorIndex is a kind of index of the vectors. In expression, %d stands for the dimensions.
type vectorIndex struct {
	name       string
	expression string
	memory     string // maintenance_work_mem while it is made
	signs      bool   // of the vectors' signs, so that what it finds is compared once more
	more       bool   // only on request
}

const (
	ofVectors = "using hnsw (embedding halfvec_cosine_ops)"
	ofSigns   = "using hnsw ((binary_quantize(embedding)::bit(%d)) bit_hamming_ops)"
)

var vectorIndexes = []vectorIndex{
	{name: "vectors", expression: ofVectors, memory: "4GB"},
	{name: "signs", expression: ofSigns, memory: "4GB", signs: true},
	{name: "vectors, memory 64 MB", expression: ofVectors, memory: "64MB", more: true},
	{name: "signs, memory 64 MB", expression: ofSigns, memory: "64MB", signs: true, more: true},
	{name: "vectors, ef_construction 32", expression: ofVectors + " with (ef_construction = 32)", memory: "4GB", more: true},
	{name: "vectors, ef_construction 128", expression: ofVectors + " with (ef_construction = 128)", memory: "4GB", more: true},
	{name: "vectors, m 12", expression: ofVectors + " with (m = 12)", memory: "4GB", more: true},
	{name: "signs, m 24, ef_construction 128", expression: ofSigns + " with (m = 24, ef_construction = 128)", memory: "4GB", signs: true, more: true},
}

// compare makes one index after the other.
func (b *quantizedBench) compare(ctx context.Context) error {
	bare, err := b.insert(ctx)
	if err != nil {
		return err
	}
	costs := tabwriter.NewWriter(b.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(costs, "index of\tbytes each\tmade in s\tof CPU\tms of CPU an insert\t")
	found := tabwriter.NewWriter(b.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(found, "index of\tcandidates\tef_search\trecall@%d\tCPU p50 ms\tp95\t\n", nearestK)
	for _, x := range vectorIndexes {
		if x.more && !b.all {
			continue
		}
		if err := b.index(ctx, x, bare, costs, found); err != nil {
			return fmt.Errorf("%s: %w", x.name, err)
		}
	}
	if err := costs.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(b.out)
	return found.Flush()
}

func (b *quantizedBench) index(ctx context.Context, x vectorIndex, bare time.Duration, costs, found io.Writer) error {
	if _, err := b.conn.Exec(ctx, "set maintenance_work_mem = '"+x.memory+"'"); err != nil {
		return err
	}
	expression := x.expression
	if x.signs {
		expression = fmt.Sprintf(expression, b.dimensions)
	}
	began, cpu := time.Now(), runTime(b.conn)
	if _, err := b.conn.Exec(ctx, "create index nearest on vectors "+expression); err != nil {
		return err
	}
	took, spent := time.Since(began), runTime(b.conn)-cpu
	var size int
	if err := b.conn.QueryRow(ctx, "select pg_relation_size('nearest') / count(*) from vectors").Scan(&size); err != nil {
		return err
	}
	if err := b.ask(ctx, x, found); err != nil {
		return err
	}
	with, err := b.insert(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(costs, "%s\t%d\t%.1f\t%.1f\t%.2f\t\n", x.name, size, took.Seconds(), spent.Seconds(),
		float64(with-bare)/insertedRows/float64(time.Millisecond))
	_, err = b.conn.Exec(ctx, "drop index nearest")
	return err
}

// insert returns the CPU time of adding the spare vectors, and takes them away again.
func (b *quantizedBench) insert(ctx context.Context) (time.Duration, error) {
	cpu := runTime(b.conn)
	for start := 0; start < len(b.spare); start += insertBatch {
		batch := b.spare[start:min(start+insertBatch, len(b.spare))]
		if _, err := b.conn.Exec(ctx, "insert into vectors select $1 + n, v from unnest($2::halfvec[]) with ordinality x(v, n)",
			b.rows*2+start, batch); err != nil {
			return 0, err
		}
	}
	spent := runTime(b.conn) - cpu
	_, err := b.conn.Exec(ctx, "delete from vectors where id >= $1", b.rows*2)
	return spent, err
}

// ask prints what the index finds, and the CPU time of a search, by the number of candidates.
func (b *quantizedBench) ask(ctx context.Context, x vectorIndex, out io.Writer) error {
	sql := "select id from (select id from vectors order by embedding <=> $1 limit $3) f limit $2"
	depths := []int{legDepth}
	if x.signs {
		sql = fmt.Sprintf(`select id from (select id, embedding from vectors
			order by binary_quantize(embedding)::bit(%[1]d) <~> binary_quantize($1::halfvec)::bit(%[1]d) limit $3) f
			order by embedding <=> $1 limit $2`, b.dimensions)
		depths = []int{legDepth, 2 * legDepth, 4 * legDepth, 8 * legDepth, 16 * legDepth}
	}
	for _, depth := range depths {
		for _, search := range slices.Compact([]int{max(100, depth), min(max(200, 2*depth), 1000)}) {
			if _, err := b.conn.Exec(ctx, fmt.Sprintf("set hnsw.ef_search = %d; set enable_seqscan = off", search)); err != nil {
				return err
			}
			hits := 0
			var took []time.Duration
			for i := -10; i < len(b.asked); i++ { // the first ones warm up
				q := (i + len(b.asked)) % len(b.asked)
				cpu := runTime(b.conn)
				ids, err := b.ids(ctx, sql, b.asked[q], nearestK, depth)
				if err != nil {
					return err
				}
				if i < 0 {
					continue
				}
				took = append(took, runTime(b.conn)-cpu)
				for _, id := range ids {
					if slices.Contains(b.exact[i], id) {
						hits++
					}
				}
			}
			fmt.Fprintf(out, "%s\t%d\t%d\t%.3f\t%.2f\t%.2f\t\n", x.name, depth, search,
				float64(hits)/float64(len(b.asked)*nearestK), quantile(took, 0.5), quantile(took, 0.95))
		}
	}
	return nil
}
