package ocr_test

import (
	"bytes"
	"errors"
	"image"
	"math"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/ocr"
)

// numbered returns an image of w × h pixels with distinct values.
func numbered(w, h int) ocr.Image {
	img := image.NewGray(image.Rect(0, 0, w, h))
	for i := range img.Pix {
		img.Pix[i] = byte(i + 1)
	}
	return ocr.Image{Gray: img, DPI: 300}
}

func TestRotation(t *testing.T) {
	t.Parallel()
	for rotation, want := range map[ocr.Rotation][]byte{
		0: {1, 2, 3, 4, 5, 6}, // 1 2 3 over 4 5 6
		1: {4, 1, 5, 2, 6, 3},
		2: {6, 5, 4, 3, 2, 1},
		3: {3, 6, 2, 5, 1, 4},
	} {
		got := rotation.Of(numbered(3, 2))
		if !bytes.Equal(got.Pix, want) || got.DPI != 300 || (rotation%2 == 1) != (got.Rect.Dx() == 2) {
			t.Errorf("%d°: %v of %v", rotation.Degrees(), got.Pix, got.Rect)
		}
	}
}

// A rotated image is written as its rotated copy is, also if its height is not a multiple of what is made at once.
func TestWriteRotated(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{1, 1}, {3, 2}, {64, 64}, {65, 131}, {200, 63}} {
		img := numbered(size[0], size[1])
		part := image.Gray{Pix: img.Pix, Stride: img.Stride, Rect: image.Rect(0, 0, max(size[0]-1, 1), size[1])}
		for rotation := range ocr.Rotation(4) {
			for _, from := range []*image.Gray{img.Gray, &part} {
				var got, want bytes.Buffer
				if err := errors.Join(rotation.WritePGM(&got, from), ocr.WritePGM(&want, rotation.Of(ocr.Image{Gray: from}).Gray)); err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got.Bytes(), want.Bytes()) {
					t.Errorf("%v by %d°: other pixels", from.Rect, rotation.Degrees())
				}
			}
		}
	}
}

// Undo maps every pixel of a rotated image back.
func TestRotationUndo(t *testing.T) {
	t.Parallel()
	before := numbered(5, 3)
	for rotation := range ocr.Rotation(4) {
		after := rotation.Of(before)
		w, h := after.Rect.Dx(), after.Rect.Dy()
		for i, v := range after.Pix {
			x, y := float64(i%w), float64(i/w)
			b := rotation.Undo(ocr.Box{
				Left: x / float64(w), Top: y / float64(h), Right: (x + 1) / float64(w), Bottom: (y + 1) / float64(h),
			})
			at := int(math.Round(b.Top*3))*5 + int(math.Round(b.Left*5))
			if before.Pix[at] != v || b.Right <= b.Left || b.Bottom <= b.Top {
				t.Errorf("%d°: pixel %d came from %+v", rotation.Degrees(), v, b)
			}
		}
	}
}

func words(confidence float64, lines ...string) ocr.Paragraph {
	var p ocr.Paragraph
	for _, l := range lines {
		var line ocr.Line
		for w := range strings.FieldsSeq(l) {
			line = append(line, ocr.Word{Text: w, Confidence: confidence})
		}
		p = append(p, line)
	}
	return p
}

func TestParagraphText(t *testing.T) {
	t.Parallel()
	for want, lines := range map[string][]string{
		"one line and another":      {"one line", "and another"},
		"the hyphenation is mended": {"the hyphen-", "ation is mended"},
		"soft ones too":             {"soft o\u00ad", "nes too"},
		"Jean-Paul stays":           {"Jean-", "Paul stays"},
		"a dash - is none":          {"a dash -", "is none"},
		"from 3- 4":                 {"from 3-", "4"},
		"-":                         {"-"},
	} {
		if got := words(0.9, lines...).Text(); got != want {
			t.Errorf("%q became %q, want %q", lines, got, want)
		}
	}
}

func TestCleanLeavesOutNoise(t *testing.T) {
	t.Parallel()
	mixed := words(0.9, "Some text | here")
	mixed[0][2].Confidence = 0.1
	doubtful := words(0.9, "A hardly legible word")
	doubtful[0][2].Confidence = 0.1
	page := ocr.Page{Paragraphs: []ocr.Paragraph{words(0.2, "wWe ~~ lil"), mixed, doubtful}}.Clean()
	if len(page.Paragraphs) != 2 || page.Paragraphs[0].Text() != "Some text here" ||
		page.Paragraphs[1].Text() != "A hardly legible word" {
		t.Errorf("%+v", page)
	}
}

func TestConfidence(t *testing.T) {
	t.Parallel()
	p := ocr.Page{Paragraphs: []ocr.Paragraph{words(1, "abcdef"), words(0.4, "xyz")}}
	if c := p.Confidence(); math.Abs(c-0.8) > 1e-9 || p.Letters() != 9 {
		t.Errorf("%g over %d", c, p.Letters())
	}
	if c := (ocr.Page{}).Confidence(); c != 0 {
		t.Errorf("of nothing: %g", c)
	}
	short := ocr.Page{Paragraphs: []ocr.Paragraph{words(0.95, "ab")}}
	if p.Evidence() <= short.Evidence() {
		t.Error("more text is more evidence")
	}
}

func TestPGM(t *testing.T) {
	t.Parallel()
	want := numbered(7, 5)
	var b bytes.Buffer
	if err := ocr.WritePGM(&b, want.Gray); err != nil {
		t.Fatal(err)
	}
	got, err := ocr.ReadPGM(bytes.NewReader(b.Bytes()), 35)
	if err != nil || got.Rect != want.Rect || !bytes.Equal(got.Pix, want.Pix) {
		t.Errorf("%v %v", got, err)
	}
	for input, message := range map[string]string{
		"":                                 "no image",
		"P6\n1 1\n255\n???":                "header",
		"P5\n6 6\n255\n" + "x":             "more than 35",
		"P5\n3037000500 3037000500\n255\n": "more than 35",
		"P5\n0 6\n255\n":                   "0 × 6",
		"P5\n-1 6\n255\n":                  "-1 × 6",
		"P5\n6 5\n65535\n":                 "65535",
		"P5\n6 5\n255\nabc":                "ends early",
	} {
		if _, err := ocr.ReadPGM(strings.NewReader(input), 35); err == nil || !strings.Contains(err.Error(), message) {
			t.Errorf("%q: %v", input, err)
		}
	}
	if _, err := ocr.ReadPGM(strings.NewReader(""), 35); !errors.Is(err, ocr.ErrNoImage) {
		t.Error(err)
	}
}

func TestBoxOfWordsWithoutBoxes(t *testing.T) {
	t.Parallel()
	p := words(1, "no box", "at all")
	if p.Box().Known() || p[0].Box().Known() {
		t.Errorf("%+v", p.Box())
	}
	p[1][0].Box = ocr.Box{Left: 0.1, Top: 0.2, Right: 0.3, Bottom: 0.4}
	if p.Box() != p[1][0].Box || p[0].Box().Known() || p[1].Text() != "at all" {
		t.Errorf("%+v", p.Box())
	}
}

// The rotation that makes the lines of a page run across is found by words that are higher than wide, else it is that of the
// reading.
func TestUpright(t *testing.T) {
	t.Parallel()
	word := func(x, y, w, h float64) ocr.Word {
		return ocr.Word{Text: "word", Box: ocr.Box{Left: x, Top: y, Right: x + w, Bottom: y + h}}
	}
	for name, c := range map[string]struct {
		line ocr.Line
		read ocr.Rotation
		want ocr.Rotation
	}{
		"across":      {ocr.Line{word(0.1, 0.5, 0.2, 0.1), word(0.5, 0.5, 0.2, 0.1)}, 0, 0},
		"upside down": {ocr.Line{word(0.5, 0.5, 0.2, 0.1), word(0.1, 0.5, 0.2, 0.1)}, 2, 2},
		"down":        {ocr.Line{word(0.5, 0.1, 0.1, 0.2), word(0.5, 0.5, 0.1, 0.2)}, 0, 3},
		"up":          {ocr.Line{word(0.5, 0.5, 0.1, 0.2), word(0.5, 0.1, 0.1, 0.2)}, 0, 1},
		"one word":    {ocr.Line{word(0.5, 0.5, 0.1, 0.2)}, 1, 1},
		"a column":    {ocr.Line{word(0.5, 0.1, 0.2, 0.1), word(0.5, 0.5, 0.2, 0.1)}, 0, 0},
	} {
		p := page(c.line...)
		p.Turned = c.read
		if got := p.Upright(numbered(100, 100)); got != c.want {
			t.Errorf("%s: %d", name, got)
		}
	}
}
