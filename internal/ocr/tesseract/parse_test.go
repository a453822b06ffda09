package tesseract

import (
	"slices"
	"strings"
	"testing"
)

func TestChoose(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ wanted, installed, want []string }{
		"English alone":           {nil, []string{"eng", "osd"}, []string{"eng"}},
		"English first":           {nil, []string{"deu", "eng", "equ", "osd"}, []string{"eng", "deu"}},
		"without English":         {nil, []string{"fra", "deu", "osd"}, []string{"deu", "fra"}},
		"more than anybody chose": {nil, []string{"afr", "amh", "ara", "asm", "eng"}, []string{"eng"}},
		"requested":               {[]string{"fra"}, []string{"eng", "fra"}, []string{"fra"}},
		"requested and missing":   {[]string{"fra"}, []string{"eng"}, nil},
		"orientation data only":   {nil, []string{"osd"}, nil},
	} {
		got, err := choose(tt.wanted, tt.installed)
		if !slices.Equal(got, tt.want) || (err != nil) != (tt.want == nil) {
			t.Errorf("%s: %v %v", name, got, err)
		}
	}
}

func TestParseLanguages(t *testing.T) {
	t.Parallel()
	list := "List of available languages in \"/usr/share/tessdata/\" " +
		"(5):\nchi_sim\nchi_sim_vert\neng\nscript/Latin\nosd\n"
	if got := parseLanguages(list); !slices.Equal(got, []string{"chi_sim", "chi_sim_vert", "eng", "osd"}) {
		t.Errorf("%v", got)
	}
}

const tsv = `level	page_num	block_num	par_num	line_num	word_num	left	top	width	height	conf	text
1	1	0	0	0	0	0	0	100	200	-1	
5	1	1	1	1	1	10	20	30	10	90.5	Two
5	1	1	1	1	2	50	20	30	10	80	words
5	1	1	1	2	1	10	40	30	10	95	below
5	1	1	2	1	1	10	60	30	10	95	 
5	1	1	2	1	2	10	60	300	10	195	wide
5	1	2	1	1	1	x	y	30	10	95	nowhere
5	1	2	1	1	2	1	1	1	1	?	odd
5	1	2	1	1	3	1	1	1	1	nan	odd
5	1	2
`

func TestParse(t *testing.T) {
	t.Parallel()
	p := parser{width: 100, height: 200}
	if err := p.parse(strings.NewReader(tsv)); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, paragraph := range p.paragraphs {
		got = append(got, paragraph.Text())
	}
	if !slices.Equal(got, []string{"Two words below", "wide", "nowhere"}) || len(p.paragraphs[0]) != 2 {
		t.Errorf("%q", got)
	}
	first, wide := p.paragraphs[0][0][0], p.paragraphs[1][0][0]
	if first.Confidence != 0.905 || first.Box.Left != 0.1 || first.Box.Bottom != 0.15 || wide.Confidence != 1 ||
		wide.Box.Right != 1 {
		t.Errorf("%+v %+v", first, wide)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(tsv)
	f.Fuzz(func(t *testing.T, s string) {
		p := parser{width: 100, height: 200}
		_ = p.parse(strings.NewReader(s))
		for _, paragraph := range p.paragraphs {
			for _, line := range paragraph {
				for _, w := range line {
					if b := w.Box; w.Text == "" || !(w.Confidence >= 0 && w.Confidence <= 1) || b.Left < 0 ||
						b.Bottom > 1 {
						t.Fatalf("%+v", w)
					}
				}
			}
		}
	})
}
