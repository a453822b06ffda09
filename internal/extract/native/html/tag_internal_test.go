package html

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// TestTagEndsWhereTheTokenizerEndsIt: a tag of any characters ends at the same byte for both, in one piece or in two,
// and a short one stays as it is.
func TestTagEndsWhereTheTokenizerEndsIt(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	const letters = `ab="'/> <` + "\t\n\f\r\v"
	for range 200_000 {
		page := []byte("<a")
		for range 1 + random.IntN(16) {
			page = append(page, letters[random.IntN(len(letters))])
		}
		z := html.NewTokenizer(bytes.NewReader(page))
		complete := z.Next() != html.ErrorToken
		end := len(z.Raw())
		one, two := &tag{}, &tag{}
		kept, read := one.shorten(page, nil)
		half := random.IntN(len(page))
		_, first := two.shorten(page[:half], nil)
		second := 0
		if two.state != ended {
			_, second = two.shorten(page[half:], nil)
		}
		if complete != (one.state == ended) || complete && (read != end || first+second != end) || one.cut ||
			!bytes.Equal(kept, page[:read]) {
			t.Fatalf("%q: the tokenizer's tag has %d bytes, complete: %v; this one %d (in two pieces %d) and is %q",
				page, end, complete, read, first+second, kept)
		}
	}
}

// TestShortenedTags: what is left of a long tag is a tag with the same end and the attributes that came first.
func TestShortenedTags(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("v", maxTag)
	var many strings.Builder
	for i := range maxTag / 5 {
		fmt.Fprintf(&many, " a%d", i)
	}
	for _, tt := range []struct {
		what, tag string
		attr      map[string]string
		cut, self bool
	}{
		{"a long value that isn't read", `<img src="` + long + long + `" alt="b">`, map[string]string{"alt": "b"}, false, false},
		{"a long value that is read", `<img alt='` + long + long + `' lang="c">`, map[string]string{"lang": "c"}, true, false},
		{"a long value without quotes", `<img src=` + long + ` alt=b />`, map[string]string{"alt": "b"}, false, true},
		{"many attributes", `<p lang="d"` + many.String() + ` alt="e > f" title=g/>`, map[string]string{"lang": "d"}, true, false},
		{"many attributes of an empty element", `<p lang="d"` + many.String() + ` alt="e > f" / >`, map[string]string{"lang": "d"}, true, false},
		{"many attributes of a closed element", `<p lang="d"` + many.String() + ` alt="e > f"/>`, map[string]string{"lang": "d"}, true, true},
		{"a value over the end", `<p lang="d"` + many.String()[:maxTag-100] + ` alt="` + long + `">`, map[string]string{"lang": "d"}, true, false},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			s := &shortener{r: strings.NewReader(tt.tag + "text <b>")}
			z := html.NewTokenizer(s)
			z.Next()
			token := z.Token()
			got := map[string]string{}
			for _, a := range token.Attr {
				got[a.Key] = a.Val
			}
			for key, value := range tt.attr {
				if got[key] != value {
					t.Errorf("%s is %.40q, want %q", key, got[key], value)
				}
			}
			if len(z.Raw()) > maxTag+maxKey || s.cut != tt.cut || (token.Type == html.SelfClosingTagToken) != tt.self {
				t.Errorf("%d bytes, cut: %v, %s", len(z.Raw()), s.cut, token.Type)
			}
			if z.Next() != html.TextToken || z.Token().Data != "text " {
				t.Error("the text after the tag is not whole")
			}
		})
	}
}
