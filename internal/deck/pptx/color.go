package pptx

import (
	"fmt"
	"math"
	"strconv"
)

// modified applies the changes of a colour (20.1.2.3: a:lumMod, a:lumOff, a:shade, a:tint, a:satMod) that its children
// ask for.
func modified(color string, n *node) string {
	if n == nil || len(n.kids) == 0 {
		return color
	}
	r, g, b := channels(color)
	for _, k := range n.kids {
		part := float64(k.num("val", 100000)) / 100000
		switch k.name() {
		case "lumMod", "lumOff", "satMod":
			h, s, l := toHSL(r, g, b)
			switch k.name() {
			case "lumMod":
				l *= part
			case "lumOff":
				l += part
			default:
				s *= part
			}
			r, g, b = fromHSL(h, clamp(s), clamp(l))
		case "shade":
			r, g, b = r*part, g*part, b*part
		case "tint":
			r, g, b = 1-(1-r)*part, 1-(1-g)*part, 1-(1-b)*part
		}
	}
	return fmt.Sprintf("#%02X%02X%02X", channel(r), channel(g), channel(b))
}

func channel(v float64) int { return int(math.Round(clamp(v) * 255)) }

func clamp(v float64) float64 { return min(max(v, 0), 1) }

// channels returns the parts of "#RRGGBB", 0 to 1.
func channels(color string) (r, g, b float64) {
	n, err := strconv.ParseUint(color[1:], 16, 32)
	if err != nil {
		return 0, 0, 0
	}
	return float64(n>>16&0xFF) / 255, float64(n>>8&0xFF) / 255, float64(n&0xFF) / 255
}

func toHSL(r, g, b float64) (h, s, l float64) {
	high, low := max(r, g, b), min(r, g, b)
	l = (high + low) / 2
	span := high - low
	if span == 0 {
		return 0, 0, l
	}
	s = span / (1 - math.Abs(2*l-1))
	switch high {
	case r:
		h = math.Mod((g-b)/span+6, 6)
	case g:
		h = (b-r)/span + 2
	default:
		h = (r-g)/span + 4
	}
	return h, s, l
}

func fromHSL(h, s, l float64) (r, g, b float64) {
	chroma := (1 - math.Abs(2*l-1)) * s
	x := chroma * (1 - math.Abs(math.Mod(h, 2)-1))
	m := l - chroma/2
	switch int(h) {
	case 0:
		r, g = chroma, x
	case 1:
		r, g = x, chroma
	case 2:
		g, b = chroma, x
	case 3:
		g, b = x, chroma
	case 4:
		r, b = x, chroma
	default:
		r, b = chroma, x
	}
	return r + m, g + m, b + m
}
