package content

import "github.com/seed-7227ef26/async-worker/internal/extract/native/pdf/object"

// Colour tells colours apart: red, green and blue, or what else its operator sets.
type Colour [4]float64

// colour returns the operands of a colour operator, a grey as red, green and blue.
func colour(v []float64) (c Colour) {
	if len(v) == 1 {
		return Colour{v[0], v[0], v[0]}
	}
	copy(c[:], v)
	if len(v) > 3 {
		c[3]++ // unlike any colour of three values
	}
	return c
}

// isWhite reports whether a colour operator sets white. The colour space is that of the number of values.
func isWhite(op object.Operator, v []float64) bool {
	const light = 0.995
	switch {
	case op == "cs" || op == "CS": // black, or nearly always another colour than white
		return false
	case len(v) == 1 || len(v) == 3:
		for _, c := range v {
			if c < light {
				return false
			}
		}
		return true
	case len(v) == 4:
		return v[0]+v[1]+v[2]+v[3] < 4*(1-light)
	}
	return false
}
