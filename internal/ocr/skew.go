package ocr

import (
	"image"
	"math"
)

// A page that lies a little askew on the scanner's glass is straightened before it is read: the lines of text are found
// by how sharply the rows of pixels change between ink and paper (Postl's projection profiles), which is most when
// the rows run along the lines.

const (
	mostSkew   = 5.0 // degrees either way
	leastSkew  = 0.4 // engines read less as well as a straight page
	coarseStep = 0.5
	fineStep   = 0.1
	// sureSkew is how much sharper the rows must be than those of the page as it is.
	sureSkew = 1.2
	// profileSide is the longest side in pixels of the image that is examined; letters are then a few pixels high.
	profileSide = 1000
	leastInk    = 500 // pixels of that image; less is no line of text
	// mostInk is the part of the image that may be dark; more is a picture.
	mostInk = 0.35
)

// Skew returns by how many degrees, clockwise, an image must be rotated for its lines to run straight across or down.
// It is zero for a page that is straight, or has no lines.
func Skew(img *image.Gray) float64 {
	ink, side := inkOf(img)
	if len(ink) < leastInk {
		return 0
	}
	across, down := profile{ink: ink, size: side}, profile{ink: transposed(ink), size: side}
	degrees, best, straight := across.sharpest()
	if turned, sharper, before := down.sharpest(); sharper > best { // the lines run up or down
		degrees, best, straight = -turned, sharper, before
	}
	if best < sureSkew*straight || math.Abs(degrees) < leastSkew || math.Abs(degrees) >= mostSkew {
		return 0
	}
	return degrees
}

// inkOf returns the dark pixels of an image that is reduced to profileSide, and its longest side. It returns none of
// an image that is mostly dark.
func inkOf(img *image.Gray) (ink []image.Point, side int) {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	block := max(1, (max(w, h)+profileSide-1)/profileSide)
	small := image.Rect(0, 0, w/block, h/block)
	values := make([]uint8, 0, small.Dx()*small.Dy())
	sum := 0
	for y := range small.Dy() {
		for x := range small.Dx() {
			v := mean(img, x*block, y*block, block)
			values = append(values, v)
			sum += int(v)
		}
	}
	if len(values) == 0 {
		return nil, 0
	}
	paper := sum / len(values) // mostly paper, so that the mean is near it
	for i, v := range values {
		if int(v) < paper*7/8 {
			ink = append(ink, image.Pt(i%small.Dx(), i/small.Dx()))
		}
	}
	if float64(len(ink)) > mostInk*float64(len(values)) {
		return nil, 0
	}
	return ink, max(small.Dx(), small.Dy())
}

// mean returns the mean of a square of pixels.
func mean(img *image.Gray, left, top, side int) uint8 {
	sum := 0
	for y := top; y < top+side; y++ {
		for _, v := range img.Pix[y*img.Stride+left : y*img.Stride+left+side] {
			sum += int(v)
		}
	}
	return uint8(sum / (side * side))
}

func transposed(ink []image.Point) []image.Point {
	out := make([]image.Point, len(ink))
	for i, p := range ink {
		out[i] = image.Pt(p.Y, p.X)
	}
	return out
}

// profile counts the ink in each row of an image that is rotated.
type profile struct {
	ink  []image.Point
	size int
	rows []int
}

// sharpest returns the rotation with the sharpest rows, how sharp they are, and how sharp without a rotation.
func (p *profile) sharpest() (degrees, best, straight float64) {
	straight = p.sharpness(0)
	best = straight
	try := func(from, to, step float64) {
		for d := from; d <= to+step/2; d += step {
			if s := p.sharpness(d); s > best {
				best, degrees = s, d
			}
		}
	}
	try(-mostSkew, mostSkew, coarseStep)
	try(degrees-coarseStep, degrees+coarseStep, fineStep)
	return math.Round(degrees/fineStep) * fineStep, best, straight
}

// sharpness is the sum of the squared differences of neighboring rows. A rotation by so few degrees is a shear.
func (p *profile) sharpness(degrees float64) float64 {
	slope := math.Tan(degrees * math.Pi / 180)
	margin := p.size/8 + 2 // above and below: tan of mostSkew is less than 1/8
	if p.rows == nil {
		p.rows = make([]int, p.size+2*margin)
	}
	clear(p.rows)
	for _, i := range p.ink {
		p.rows[margin+i.Y+int(math.Round(float64(i.X)*slope))]++
	}
	sum := 0.0
	for i := 1; i < len(p.rows); i++ {
		d := float64(p.rows[i] - p.rows[i-1])
		sum += d * d
	}
	return sum
}

// Tilt is a rotation of an image by a few degrees.
type Tilt struct {
	degrees       float64 // clockwise
	width, height float64 // of the image before
	outW, outH    float64 // after: larger, so that its corners are in it
}

// NewTilt returns the rotation of an image by some degrees clockwise.
func NewTilt(img Image, degrees float64) Tilt {
	w, h := float64(img.Rect.Dx()), float64(img.Rect.Dy())
	sin, cos := math.Sincos(math.Abs(degrees) * math.Pi / 180)
	return Tilt{degrees, w, h, math.Ceil(w*cos + h*sin), math.Ceil(h*cos + w*sin)}
}

// Tilted returns a reading of the rotated image as that of the image before.
func (p Page) Tilted(t Tilt) Page {
	p.Skew = t.degrees
	return p.moved(t.Undo)
}

// back maps a point of the rotated image to the image before.
func (t Tilt) back(x, y float64) (bx, by float64) {
	sin, cos := math.Sincos(t.degrees * math.Pi / 180)
	x, y = x-t.outW/2, y-t.outH/2
	return x*cos + y*sin + t.width/2, y*cos - x*sin + t.height/2
}

// Of returns the rotated image. Its corners are white.
func (t Tilt) Of(img Image) Image {
	out := image.NewGray(image.Rect(0, 0, int(t.outW), int(t.outH)))
	for y := range out.Rect.Dy() {
		row := out.Pix[y*out.Stride : y*out.Stride+out.Rect.Dx()]
		x0, y0 := t.back(0.5, float64(y)+0.5)
		x1, y1 := t.back(1.5, float64(y)+0.5)
		for x := range row {
			row[x] = between(img.Gray, x0+float64(x)*(x1-x0)-0.5, y0+float64(x)*(y1-y0)-0.5)
		}
	}
	return Image{Gray: out, DPI: img.DPI}
}

// between returns the brightness at a point, weighed among the four pixels around it.
func between(img *image.Gray, x, y float64) uint8 {
	left, top := math.Floor(x), math.Floor(y)
	if left < 0 || top < 0 || int(left) >= img.Rect.Dx()-1 || int(top) >= img.Rect.Dy()-1 {
		return 255
	}
	at := int(top)*img.Stride + int(left)
	right, down := x-left, y-top
	upper := float64(img.Pix[at])*(1-right) + float64(img.Pix[at+1])*right
	lower := float64(img.Pix[at+img.Stride])*(1-right) + float64(img.Pix[at+img.Stride+1])*right
	return uint8(upper*(1-down) + lower*down + 0.5)
}

// Undo maps a box on the rotated image to the image before, both in fractions of their sizes: its middle moves, its
// size stays.
func (t Tilt) Undo(b Box) Box {
	x, y := t.back((b.Left+b.Right)/2*t.outW, (b.Top+b.Bottom)/2*t.outH)
	w, h := (b.Right-b.Left)*t.outW/2, (b.Bottom-b.Top)*t.outH/2
	unit := func(v float64) float64 { return min(max(v, 0), 1) }
	return Box{unit((x - w) / t.width), unit((y - h) / t.height), unit((x + w) / t.width), unit((y + h) / t.height)}
}
