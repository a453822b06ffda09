package token

import (
	"strings"
	"sync"
	"testing"

	"github.com/tiktoken-go/tokenizer/codec"
	"pgregory.net/rapid"

	"github.com/seed-7227ef26/async-worker/internal/llm"
)

var _ llm.Counter = (*Counter)(nil)

func TestCount(t *testing.T) {
	t.Parallel()
	counter := New()
	for text, want := range map[string]int{
		"":                                0,
		"hello world":                     2,
		"tiktoken is great!":              6,
		"お誕生日おめでとう":                       9, // as in OpenAI's cookbook, "How to count tokens with tiktoken"
		"antidisestablishmentarianism":    6,
		"2 + 2 = 4":                       7,
		"<|endoftext|>":                   7,
		strings.Repeat(" hello", 100_000): 100_000,
	} {
		if got := counter.Count(text); got != want {
			t.Errorf("Count of %.30q = %d, want %d", text, got, want)
		}
	}
}

// Cutting a text into segments doesn't change its count while words end now and then.
func TestCountEqualsTheCodec(t *testing.T) {
	t.Parallel()
	codecs := []struct {
		whole   *codec.Codec
		counter *Counter
	}{{codec.NewCl100kBase(), New()}, {codec.NewO200kBase(), For("openai/gpt-4o-mini")}}
	pieces := rapid.SliceOfN(rapid.OneOf(
		rapid.StringMatching(`[a-zA-Z]{1,12}`),
		rapid.StringMatching(`[ \t\n\r.,;:'"!?()-]{1,6}`),
		rapid.StringMatching(`\p{Han}{1,8}`),
		rapid.StringMatching(`[0-9]{1,7}`),
		rapid.SampledFrom([]string{"'s", "'LL ", "it's", "e\u0301", "👩‍👩‍👧", " \n\n", "\r\n", " naïve", "ß", "  "}),
		rapid.String(),
	), 0, 400)
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(pieces.Draw(t, "pieces"), "")
		// Regular letters and blanks, so that no segment has to be cut inside a run.
		var b strings.Builder
		for i, r := range text {
			if r == 0x7f { // the codec takes it for nothing at all; tiktoken for a sign, as we do
				continue
			}
			if b.WriteRune(r); i%100 == 0 {
				b.WriteString("a ")
			}
		}
		text = b.String()
		for _, c := range codecs {
			want, err := c.whole.Count(text)
			if err != nil {
				t.Fatal(err)
			}
			if got := c.counter.Count(text); got != want {
				t.Fatalf("Count = %d, the codec %s says %d", got, c.whole.GetName(), want)
			}
		}
	})
}

func TestFor(t *testing.T) {
	t.Parallel()
	// The newer vocabulary has this word as one token.
	text := "антиконституционный"
	old, err := codec.NewCl100kBase().Count(text)
	if err != nil {
		t.Fatal(err)
	}
	for model, newer := range map[string]bool{
		"gpt-4o-mini": true, "gpt-4.1-nano-2025-04-14": true, "o3-mini": true, "openai/gpt-5": true,
		"ft:gpt-4o-2024-08-06:us": true, "GPT-4o": true,
		"gpt-4": false, "gpt-4-turbo": false, "gpt-35-turbo": false, "meta-llama/Llama-3-8B": false, "": false,
	} {
		if got := For(model).Count(text); (got < old) != newer {
			t.Errorf("%s: %d tokens; cl100k_base has %d", model, got, old)
		}
	}
}

// hostile are texts of a megabyte that make naive tokenizers quadratic.
func hostile() map[string]string {
	const size = 1 << 20
	return map[string]string{
		"one letter":        strings.Repeat("a", size),
		"blanks":            strings.Repeat(" ", size),
		"line ends":         strings.Repeat("\n", size),
		"blanks, line ends": strings.Repeat(" \n", size/2),
		"line ends, blanks": strings.Repeat("\n ", size/2),
		"dashes":            strings.Repeat("-", size),
		"digits":            strings.Repeat("7", size),
		"ideographs":        strings.Repeat("漢字仮名", size/12),
		"accents":           strings.Repeat("\u0301", size/2),
		"emoji":             strings.Repeat("👩‍👩‍👧‍👦", size/25),
		"broken bytes":      strings.Repeat("\xff", size),
	}
}

// Segments are bounded for any text, so the time is linear in its length.
func TestCountOfHostileTexts(t *testing.T) {
	t.Parallel()
	counter := New()
	for name, text := range hostile() {
		for rest := text; rest != ""; {
			n := cut(rest)
			if n <= 0 || n > segmentMax {
				t.Fatalf("%s: a segment of %d bytes", name, n)
			}
			rest = rest[n:]
		}
		part := text[:len(text)/64]
		want, err := codec.NewCl100kBase().Count(part)
		if err != nil {
			t.Fatal(err)
		}
		// Cuts at least half a kilobyte apart add at most one token each.
		if got := counter.Count(part); got < want || got > want+len(part)/segment {
			t.Errorf("%s: %d tokens, the codec says %d", name, got, want)
		}
	}
}

func TestCountIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	counter := New()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if got := counter.Count("hello world"); got != 2 {
				t.Errorf("Count = %d, want 2", got)
			}
		})
	}
	wg.Wait()
}

func BenchmarkCount(b *testing.B) {
	texts := hostile()
	texts["prose"] = strings.Repeat("The quick brown fox jumps over the lazy dog. ", 1<<20/45)
	counter := New()
	for name, text := range texts {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				counter.Count(text)
			}
		})
	}
}
