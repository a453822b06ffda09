package object_test

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf/object"
)

// all returns the objects of a text, with strings and arrays emptied, up to the first error.
func all(l *object.Lexer) (out []object.Object, err error) {
	for {
		o, err := l.Next()
		if err != nil {
			return out, err
		}
		out = append(out, emptied(o))
	}
}

func emptied(o object.Object) object.Object {
	switch v := o.(type) {
	case object.String:
		return object.String("")
	case object.Array:
		return object.Array(nil)
	case object.Dict:
		for key := range v {
			v[key] = emptied(v[key])
		}
	}
	return o
}

// numbered returns what all does of a Lexer that is asked for a number before each object.
func numbered(l *object.Lexer) (out []object.Object, err error) {
	for {
		if v, ok := l.Number(); ok {
			out = append(out, v)
			continue
		}
		o, err := l.Next()
		if err != nil {
			return out, err
		}
		out = append(out, emptied(o))
	}
}

// A Lexer that skips strings and arrays returns the same of everything else, also of what is damaged.
func TestSkippedIsWhatWouldBeRead(t *testing.T) {
	t.Parallel()
	compare := func(text string) {
		t.Helper()
		want, wantErr := all(object.NewLexer(strings.NewReader(text)))
		got, err := all(object.NewContentLexer(strings.NewReader(text)))
		if !reflect.DeepEqual(got, want) || err.Error() != wantErr.Error() {
			t.Errorf("%.200q: got %v, %v; want %v, %v", text, got, err, want, wantErr)
		}
		got, err = numbered(object.NewContentLexer(iotest.OneByteReader(strings.NewReader(text))))
		if !reflect.DeepEqual(got, want) || err.Error() != wantErr.Error() {
			t.Errorf("%.200q byte by byte: got %v, %v; want %v, %v", text, got, err, want, wantErr)
		}
		got, err = numbered(object.NewContentLexer(strings.NewReader(text)))
		if !reflect.DeepEqual(got, want) || err.Error() != wantErr.Error() {
			t.Errorf("%.200q by numbers: got %v, %v; want %v, %v", text, got, err, want, wantErr)
		}
	}
	long := strings.Repeat("x", 5000)
	for _, text := range []string{
		"BT /F1 12 Tf (a (nested) \\) one) Tj ET", "[(W)83(e)-333<4142>[1 [2]]/N<</A[3]/B(x)>>true] TJ 1 w",
		"(" + long + "\\" + long + ") Tj [" + strings.Repeat("(ab) -3.5 ", 3000) + "] TJ q", "[1 % comment ]\n 2] 0 d",
		"(\\\r\n\\053\\)) Tj", "[1 >> 2] S", "[1 endobj", "[(open", "(open", "[} { ) word] n", "[<</A 1] 2>>] n",
	} {
		compare(text)
	}
	parts := strings.Split("( ) [ ] < > << >> \\ / /N 1 -2.5 word q endobj true % \n \r { } 4142 stream "+long, " ")
	random := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		var b strings.Builder
		for range 1 + random.IntN(30) {
			b.WriteString(parts[random.IntN(len(parts))])
			b.WriteString([]string{"", " "}[random.IntN(2)])
		}
		compare(b.String())
	}
}

// The strings of a content stream have the bytes that a Lexer of objects reads, also where they are damaged.
func TestShownIsWhatWouldBeRead(t *testing.T) {
	t.Parallel()
	parts := strings.Split("( ) ( ) < > \\ \\( \\) \\n \\101 \\7 \\\n \\\r\n a bc 4142 4 \n \r "+strings.Repeat("x", 5000), " ")
	random := rand.New(rand.NewPCG(3, 4))
	seen := 0
	for range 5000 {
		var b strings.Builder
		for range 1 + random.IntN(20) {
			b.WriteString(parts[random.IntN(len(parts))])
		}
		want, got := object.NewLexer(strings.NewReader(b.String())), object.NewContentLexer(strings.NewReader(b.String()))
		for {
			o, err := want.Next()
			if _, gotErr := got.Next(); err != nil || gotErr != nil {
				break
			}
			s, ok := o.(object.String)
			if !ok {
				continue
			}
			seen++
			if shown := got.Shown(); len(shown) != 1 || string(shown[0].Codes) != string(s) {
				t.Fatalf("%.200q: got %d strings, want %q", b.String(), len(shown), s)
			}
		}
	}
	if seen < 1000 {
		t.Errorf("%d strings", seen)
	}
}
