package dashboard

import (
	"fmt"
	"time"
)

// chart is the ends of jobs over time, as bars of an SVG of chartWidth by chartHeight.
type chart struct {
	Width, Height int
	Bars          []bar
	Marks         []mark // of the time axis
	Lines         []line // of the other
	Rows          []chartRow
	Words         string // for who does not see it
}

type bar struct {
	X, Width float64
	Parts    []barPart
	Title    string
}

type barPart struct {
	Class     string
	Y, Height float64
}

type mark struct {
	X    float64 // percent
	Text string
}

type line struct {
	Y    float64
	Text string
}

// chartRow is a bar in words.
type chartRow struct {
	At                          time.Time
	Succeeded, Failed, Canceled int
}

const (
	chartWidth  = 720
	chartHeight = 150
)

// drawChart draws the ends of a window.
func drawChart(v periodView) chart {
	c := chart{Width: chartWidth, Height: chartHeight}
	most := 0
	for _, b := range v.Outcomes.Buckets {
		most = max(most, b[1]+b[2]+b[3])
	}
	top := niceTop(most)
	step := v.Within / time.Duration(v.Window.Buckets)
	each := float64(chartWidth) / float64(v.Window.Buckets)
	for _, b := range v.Outcomes.Buckets {
		row := chartRow{v.Begin.Add(time.Duration(b[0]) * step), b[1], b[2], b[3]}
		one := bar{X: float64(b[0])*each + each*0.12, Width: each * 0.76, Title: row.words()}
		y := float64(chartHeight)
		for i, class := range []string{"succeeded", "failed", "canceled"} {
			if n := b[i+1]; n > 0 {
				h := max(float64(chartHeight)*float64(n)/float64(top), 1.5)
				y -= h
				one.Parts = append(one.Parts, barPart{class, y, h})
			}
		}
		c.Bars, c.Rows = append(c.Bars, one), append(c.Rows, row)
	}
	if most > 0 {
		c.Lines = []line{{0, number(top)}, {chartHeight / 2, number(top / 2)}}
		if top < 2 {
			c.Lines = c.Lines[:1]
		}
	}
	c.Marks = marksOf(v)
	c.Words = fmt.Sprintf("%s jobs ended in the last %s: %s succeeded, %s failed, %s were canceled.", number(v.Jobs), v.Name,
		number(v.Succeeded), number(v.Failed), number(v.Canceled))
	return c
}

func (r chartRow) words() string {
	return fmt.Sprintf("%s UTC: %d succeeded, %d failed, %d canceled", r.At.UTC().Format("Mon 15:04"), r.Succeeded, r.Failed,
		r.Canceled)
}

// niceTop is the least of 1, 2, 4, 6, 10, 20, 40, 60, 100 … that is not below n.
func niceTop(n int) int {
	for scale := 1; ; scale *= 10 {
		for _, step := range []int{1, 2, 4, 6} {
			if step*scale >= n {
				return step * scale
			}
		}
	}
}

// marksOf are the times below a chart: about six.
func marksOf(v periodView) (marks []mark) {
	every, layout := 10*time.Minute, "15:04"
	switch {
	case v.Within > 48*time.Hour:
		every, layout = 24*time.Hour, "Mon 2"
	case v.Within > time.Hour:
		every = 4 * time.Hour
	}
	for at := v.Begin.UTC().Truncate(every).Add(every); at.Before(v.End); at = at.Add(every) {
		x := 100 * float64(at.Sub(v.Begin)) / float64(v.Within)
		if x > 3 && x < 97 {
			marks = append(marks, mark{x, at.Format(layout)})
		}
	}
	return marks
}
