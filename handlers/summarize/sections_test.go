package summarize

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// book is a row of seams: chapters, sections and passages within them.
func book(rnd *rand.Rand, chapters int) []seam {
	var row []seam
	for c := range chapters {
		for s := range 3 + rnd.IntN(6) {
			for p := range 1 + rnd.IntN(6) {
				bond, text := loose, fmt.Sprint("passage ", c, s, p)
				if p == 0 {
					bond, text = 2, fmt.Sprint("heading ", c, s)
				}
				if s == 0 && p == 0 {
					bond = 1
				}
				row = append(row, seam{200 + rnd.IntN(500), bond, place(text)})
			}
		}
	}
	return row
}

// runs returns the text of each section.
func runs(row []seam, most int) map[string]int {
	begins := append(sections(row, most), len(row))
	all := map[string]int{}
	for i := range len(begins) - 1 {
		weight := 0
		for _, s := range row[begins[i]:begins[i+1]] {
			weight += s.weight
		}
		all[fmt.Sprint(row[begins[i]:begins[i+1]])] = weight
	}
	return all
}

// Sections are within their limits, and an edit changes its own section and seldom a neighbour.
func TestSectionsAreLocal(t *testing.T) {
	t.Parallel()
	const most, trials = 4000, 400
	changed, worst, total, count := 0, 0, 0, 0
	for seed := range uint64(trials) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		row := book(rnd, 8)
		before := runs(row, most)
		for text, weight := range before {
			if weight > most {
				t.Fatalf("a section of %d tokens: %s", weight, text)
			}
			total, count = total+weight, count+1
		}
		at := rnd.IntN(len(row))
		if seed%2 == 0 {
			row = slices.Insert(row, at, seam{100 + rnd.IntN(500), loose, rnd.Uint64()})
		}
		row[at].weight += rnd.IntN(300)
		if row[at].bond == loose {
			row[at].opening = rnd.Uint64()
		}
		n := 0
		for text := range runs(row, most) {
			if _, same := before[text]; !same {
				n++
			}
		}
		changed, worst = changed+n, max(worst, n)
	}
	mean := float64(changed) / trials
	t.Logf("an edit changes %.2f sections, at most %d; they have %d tokens on average", mean, worst, total/count)
	if mean > 1.5 || worst > 6 || total/count < most/3 {
		t.Errorf("an edit changes %.2f sections, at most %d; they have %d tokens on average", mean, worst, total/count)
	}
}

func TestSectionsOfLittle(t *testing.T) {
	t.Parallel()
	if got := sections(nil, 10); len(got) != 0 {
		t.Errorf("of nothing: %v", got)
	}
	if got := fmt.Sprint(sections([]seam{{weight: 100}, {weight: 1}, {weight: 100}}, 10)); got != "[0 1 2]" {
		t.Errorf("of what is too long: %s", got)
	}
	if got := fmt.Sprint(sections([]seam{{weight: 3}, {weight: 3}, {weight: 3}}, 10)); got != "[0]" {
		t.Errorf("of what fits: %s", got)
	}
}
