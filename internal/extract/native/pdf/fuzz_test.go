package pdf

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// checkBlock checks what a block guarantees, whatever poppler prints.
func checkBlock(t *testing.T, b extract.Block) {
	t.Helper()
	texts := []string{b.Text}
	if b.Table != nil {
		for _, r := range b.Table.Rows {
			for _, c := range r {
				texts = append(texts, c.Text)
			}
		}
	}
	for _, s := range texts {
		if !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
			t.Errorf("text %q", s)
		}
	}
	if f := b.Box; f == nil || f.Left < 0 || f.Top < 0 || f.Right > 1 || f.Bottom > 1 || f.Left > f.Right ||
		f.Top > f.Bottom {
		t.Errorf("box %+v", b.Box)
	}
	if b.Kind == extract.Heading && (b.Level < 1 || b.Level > 6) || b.Page < 1 || b.Level < 0 {
		t.Errorf("%+v", b)
	}
}

func FuzzPoppler(f *testing.F) {
	f.Add([]byte(someWords), []byte(someRuns))
	f.Add([]byte(`<page width="1e9" height="-5"><line><word xMin="NaN" yMin="5" xMax="-1" yMax="Inf">x</word></line></page>`), []byte(`<page number="1" width="0"><text left="1e300" top="-1e5" height="1e6">a</text></page>`))
	f.Fuzz(func(t *testing.T, words, runs []byte) {
		styles := map[int]*runPage{}
		outline, _ := readRuns(bytes.NewReader(runs), func(p *runPage) error {
			styles[p.number] = p
			return nil
		})
		d := newDocument(3, func(b extract.Block) error {
			checkBlock(t, b)
			return nil
		})
		d.outline(outline)
		err := readWords(bytes.NewReader(words), 1, func(p *page) error {
			applyStyles(p, styles[p.number])
			p.straighten()
			p.mirror()
			return d.add(t.Context(), p)
		})
		if err == nil {
			err = d.flush(t.Context())
		}
		if err != nil {
			t.Log(err)
		}
	})
}

// FuzzLayout lays out words at arbitrary positions: each word is emitted once, whatever the page looks like.
func FuzzLayout(f *testing.F) {
	f.Add([]byte("two columns, a table, or nothing at all: the words of a page stand where they please"))
	f.Add([]byte{
		10, 10, 1, 0, 40, 10, 2, 0, 70, 10, 3, 0, 10, 14, 4, 0, 40, 14, 5, 0, 70, 14, 6, 0, 10, 18, 7, 0, 40, 18, 8, 0,
		70, 18, 9, 0,
	})
	f.Add(bytes.Repeat([]byte{10, 60, 3, 0, 200, 61, 3, 8}, 40))
	for seed := range uint64(60) { // lines and words anywhere, and on a grid
		r := rand.New(rand.NewPCG(seed, 0))
		grid := []byte{0, 7, 15, 31}[seed%4]
		page := make([]byte, 4*(1+r.IntN(300)))
		for i := range page {
			page[i] = byte(r.IntN(256)) &^ grid
			if i%4 > 1 {
				page[i] = byte(r.IntN(256))
			}
		}
		f.Add(page)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p := &page{number: 1, width: 600, height: 800}
		var want []string
		for ; len(data) >= 4 && len(p.words) < 3000; data = data[4:] {
			left, top := 2*float64(data[0]), 3*float64(data[1])
			size := float64(6 + data[3]%8*2)
			w := word{
				box: box{left, top, left + 4*float64(1+data[2]%32), top + 1.2*size},
				style: style{
					size: size, bold: data[3]&16 != 0, italic: data[3]&32 != 0, mono: data[3]&64 != 0,
					math: data[3]&128 != 0,
				},
				text:    "w" + strings.Map(func(r rune) rune { return r - '0' + 'm' }, strconv.Itoa(len(p.words))),
				segment: len(p.words) / (1 + int(data[2]>>5)),
				order:   int(data[2]),
			}
			if data[2]&1 != 0 && data[3]&8 != 0 { // a line from it across or down
				p.rules = append(p.rules, rule{box: box{left, top, left + 2*float64(data[3]), top}},
					rule{box: box{left, top, left, top + 2*float64(data[3])}})
			}
			p.words = append(p.words, w)
			want = append(want, w.text)
		}
		var got []string
		d := newDocument(1, func(b extract.Block) error {
			checkBlock(t, b)
			got = append(got, strings.Fields(b.Text)...)
			if b.Table != nil {
				for _, r := range b.Table.Rows {
					for _, c := range r {
						got = append(got, strings.Fields(c.Text)...)
					}
				}
			}
			return nil
		})
		if err := d.add(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		if err := d.flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("words\n got %q\nwant %q", got, want)
		}
	})
}

// A page full of words everywhere takes seconds, not minutes.
func BenchmarkFullPage(b *testing.B) {
	for b.Loop() {
		p := &page{number: 1, width: 600, height: 800}
		for i := range maxWords {
			x, y := float64(i%250)*2.4, float64(i/250)*4
			p.words = append(p.words, word{
				box: box{x, y, x + 1.5, y + 3 + float64(i%7)}, text: "word", segment: i, order: i * 7919 % maxWords,
			})
		}
		d := newDocument(1, func(extract.Block) error { return nil })
		if err := d.add(b.Context(), p); err != nil {
			b.Fatal(err)
		}
		if err := d.flush(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
