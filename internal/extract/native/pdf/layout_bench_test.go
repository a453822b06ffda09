package pdf

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// BenchmarkLayout lays out one page of n words: prose in two columns, a table, a form of labels with rules around
// them, and words anywhere. The time per word shows the growth.
func BenchmarkLayout(b *testing.B) {
	for _, kind := range []string{"prose", "table", "form", "noise"} {
		for _, n := range []int{500, 5_000, 50_000} {
			b.Run(fmt.Sprintf("%s/%d", kind, n), func(b *testing.B) {
				p := densePage(kind, n)
				before := cpuTime()
				for b.Loop() {
					page := *p
					page.words = append([]word(nil), p.words...)
					d := newDocument(1, func(extract.Block) error { return nil })
					if err := d.add(b.Context(), &page); err != nil {
						b.Fatal(err)
					}
					if err := d.flush(b.Context()); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(cpuTime()-before)/float64(b.N)/float64(n), "cpu-ns/word")
			})
		}
	}
}

// cpuTime returns the processor time of this process in nanoseconds, which other programs don't disturb.
func cpuTime() int64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

// densePage makes a page of n words. Its size grows with them.
func densePage(kind string, n int) *page {
	r := rand.New(rand.NewPCG(1, 2))
	p := &page{number: 1}
	add := func(x, y, width float64, segment int) {
		p.words = append(p.words, word{
			box: box{x, y, x + width, y + 10}, style: style{size: 8}, text: "word", segment: segment,
			order: len(p.words) * maxWords,
		})
	}
	side := 1
	for side*side < n {
		side++
	}
	switch kind {
	case "prose":
		perLine := 8
		rows := n / 2 / perLine
		for column := range 2 {
			for row := range rows {
				for i := range perLine {
					add(50+float64(column)*300+float64(i)*32, 50+float64(row)*12, 28, column*rows+row)
				}
			}
		}
	case "table":
		for i := range n {
			add(50+float64(i%side)*60, 50+float64(i/side)*14, 28+float64(r.IntN(20)), i)
		}
	case "form":
		for i := range n {
			x, y := 50+float64(i%side)*60+float64(r.IntN(15)), 50+float64(i/side)*14+float64(r.IntN(3))
			add(x, y, 28+float64(r.IntN(20)), i)
			p.rules = append(p.rules, rule{box: box{x - 3, y + 11, x + 45, y + 11}},
				rule{box: box{x - 3, y - 2, x - 3, y + 11}})
		}
	default:
		for i := range n {
			add(r.Float64()*float64(side)*30, r.Float64()*float64(side)*10, 25, i)
		}
	}
	for _, w := range p.words {
		p.width, p.height = max(p.width, w.right+50), max(p.height, w.bottom+50)
	}
	return p
}
