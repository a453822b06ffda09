package token

import (
	"strings"
	"testing"

	"github.com/tiktoken-go/tokenizer/codec"
)

// FuzzSplit: a text has the same count as by the codec's own expression, and is split without a rest.
func FuzzSplit(f *testing.F) {
	for _, text := range []string{
		"Hello, world's best IT'S it'LL we've'D 'ſA 'ſome", "a  b\t\tc \n\n d\r\n\r\n  e", "1234567 ½¾ ٣٤٥٦", "ÀÉî dZǅzǅ ʰʰ",
		"e\u0301 \u0301e \u0301\u0301 A\u0301B", "HTMLParser XMLHttpRequest ΑΒγδ ЖЖжж", "漢字かな交じり文、한국어 ไทย",
		"//\n/ http://a/b\n//x", "\xff\xfea\xffb", "\u00a0\u2003x\u2028y\u0085z \u200b", "👩‍👩‍👧 ok", "' 's' 'S ''s", "  ", " \n ",
		"aBc's ABC's aBC\u0301's", "K Å 'K", "\n \n", " \n \n b",
	} {
		f.Add(text)
	}
	vocabularies := []struct {
		codec   *codec.Codec
		counter *Counter
	}{{codec.NewCl100kBase(), New()}, {codec.NewO200kBase(), For("gpt-4o")}}
	f.Fuzz(func(t *testing.T, text string) {
		// Longer ones are cut, see Count. The codec takes U+007F for nothing at all; tiktoken for a sign, as we do.
		if len(text) > segment || strings.ContainsRune(text, 0x7f) {
			return
		}
		for _, v := range vocabularies {
			want, err := v.codec.Count(text)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // the second time they are remembered
				if got := v.counter.Count(text); got != want {
					t.Fatalf("%s: %q has %d tokens, the codec says %d", v.codec.GetName(), text, got, want)
				}
			}
		}
	})
}

// TestCacheKeepsNoText: a long piece is not remembered.
func TestCacheKeepsNoText(t *testing.T) {
	t.Parallel()
	c := New()
	long := strings.Repeat("x", rememberMax+1)
	for range 2 {
		if got, want := c.Count("word "+long), 1+c.Count(" "+long); got != want {
			t.Errorf("%d tokens, want %d", got, want)
		}
	}
	known := &c.known().entries
	for i := range known {
		if e := known[i].Load(); e != nil && len(e.piece) > rememberMax {
			t.Errorf("%q is remembered", e.piece)
		}
	}
}
