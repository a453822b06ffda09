package content_test

import (
	"math"
	"testing"
)

// FuzzRead interprets arbitrary content: positions are usable numbers, and the lines of text are numbered in order.
func FuzzRead(f *testing.F) {
	f.Add("BT /F 10 Tf 20 40 Td [(ab) -500 <61> 5] TJ 3 Tr (c) ' 0 Tr /W 1e9 Tf <0041> Tj ET", "q 1 0 0 1 5 5 cm BT /T 5 Tf (a) Tj ET Q")
	f.Add("/X Do 1e30 0 0 1e30 0 0 cm BT /G 1e30 Tf 1e300 Tc 0 Tz (ab) Tj T* 1 2 (c) \" ET", "BT /S -5 Tf (\\101\\0) Tj ET /X Do")
	f.Add("BT /O 5 Tf 1 0 0 0 0 0 Tm (a) Tj 0 1 1 0 0 0 Tm (b) Tj ET 0 0 100 100 re W n BT (c) Tj", "")
	f.Fuzz(func(t *testing.T, stream, form string) {
		d, err := draw(t.Context(), stream, form, "")
		if err != nil {
			return
		}
		line := 0
		for _, x := range d.Texts {
			for _, v := range []float64{x.Left, x.Top, x.Right, x.Bottom, x.Size} {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Fatalf("%+v", x)
				}
			}
			if x.Left > x.Right || x.Line < line || x.Font == nil {
				t.Fatalf("%+v after line %d", x, line)
			}
			line = x.Line
		}
	})
}
