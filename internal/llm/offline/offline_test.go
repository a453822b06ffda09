package offline_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/llm/offline"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

var _ llm.Embedder = (*offline.Embedder)(nil)

func embed(t testing.TB, dimensions int, inputs ...string) [][]float32 {
	t.Helper()
	e, err := offline.New(dimensions)
	if err != nil {
		t.Fatal(err)
	}
	got, err := e.Embed(t.Context(), inputs)
	if err != nil {
		t.Fatal(err)
	}
	return got.Vectors
}

func dot(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

var passages = []string{
	"The landlord shall return the deposit within thirty days after the end of the lease.",
	"Photosynthesis turns sunlight, water and carbon dioxide into sugar and oxygen.",
	"Der Vertrag endet mit Ablauf des Jahres, wenn er nicht verlängert wird.",
	"Invoices are payable within fourteen days; late payments bear interest of five per cent.",
	"The turbine blades are inspected for cracks after every two thousand hours of flight.",
	"Boil the pasta for nine minutes, drain it and toss it with olive oil and garlic.",
	"東京は日本の首都であり、世界最大級の都市である。",
	"Le café fermé rouvrira au printemps après les travaux de rénovation.",
	"A goroutine is a lightweight thread managed by the Go runtime.",
	"The committee approved the annual budget and the minutes of the previous meeting.",
}

// A query finds the passage that shares its words, in any form.
func TestQueryFindsThePassageThatSharesItsWords(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]int{
		"when does the landlord have to return my deposit?": 0,
		"SUNLIGHT and sugars":                               1,
		"Verträge, die nicht verlängert werden":             2,
		"what interest is due on a late payment":            3,
		"inspecting a turbine blade for a crack":            4,
		"how many minutes do I cook the pasta":              5,
		"日本の首都":                                             6,
		"cafe ferme au printemps":                           7,
		"lightweight threads of the go runtime":             8,
		"which committee approved the budget?":              9,
		"ＧＯＲＯＵＴＩＮＥ":                                         8,
	} {
		for _, dimensions := range []int{256, 1536} {
			vectors := embed(t, dimensions, append([]string{query}, passages...)...)
			best := 0
			for i := range passages {
				if dot(vectors[0], vectors[i+1]) > dot(vectors[0], vectors[best+1]) {
					best = i
				}
			}
			if best != want {
				t.Errorf("%d dimensions: %q found %q", dimensions, query, passages[best])
			}
		}
	}
}

// The vectors are stored: the same text must have the same vector on every machine and in every release.
func TestVectorsStay(t *testing.T) {
	t.Parallel()
	got := fmt.Sprintf("%.4f", embed(t, 8, "Feature hashing, twice: feature hashing.")[0])
	if want := "[0.4162 -0.1140 -0.3825 -0.3220 -0.6173 0.1476 0.1209 -0.3825]"; got != want {
		t.Errorf("got %s, want %s; if the change is intended, increase the number in Model", got, want)
	}
}

func TestVectorsHaveUnitLength(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		dimensions := rapid.IntRange(1, 300).Draw(t, "dimensions")
		text := rapid.OneOf(rapid.StringN(1, 200, -1), rapid.SampledFrom([]string{"!", " ", "\x00", "\xff", "…"})).
			Draw(t, "text")
		e, err := offline.New(dimensions)
		if err != nil {
			t.Fatal(err)
		}
		got, err := e.Embed(context.Background(), []string{text, text})
		if err != nil {
			t.Fatal(err)
		}
		v := got.Vectors[0]
		if len(v) != dimensions || math.Abs(dot(v, v)-1) > 1e-5 {
			t.Fatalf("%d dimensions, squared length %g", len(v), dot(v, v))
		}
		if fmt.Sprint(v) != fmt.Sprint(got.Vectors[1]) {
			t.Fatal("the same text has two vectors")
		}
	})
}

func TestErrors(t *testing.T) {
	t.Parallel()
	if _, err := offline.New(0); err == nil || !strings.Contains(err.Error(), "EMBEDDING_DIMENSIONS") {
		t.Errorf("New(0): %v", err)
	}
	e, err := offline.New(8)
	if err != nil {
		t.Fatal(err)
	}
	_, err = e.Embed(t.Context(), []string{"a", ""})
	if got, ok := errors.AsType[*taskerr.Error](err); !ok || got.Class != taskerr.InternalBug ||
		!strings.Contains(got.Message, "input 1") {
		t.Errorf("an empty input: %v", err)
	}
	stop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stop)
	if _, err := e.Embed(ctx, []string{"a"}); !errors.Is(err, stop) {
		t.Errorf("a canceled context: %v", err)
	}
}

func BenchmarkEmbed(b *testing.B) {
	e, err := offline.New(1536)
	if err != nil {
		b.Fatal(err)
	}
	text := strings.Join(passages, " ")
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := e.Embed(b.Context(), []string{text}); err != nil {
			b.Fatal(err)
		}
	}
}

func ExampleEmbedder() {
	e, err := offline.New(512)
	if err != nil {
		panic(err)
	}
	got, err := e.Embed(context.Background(), []string{"returning deposits", passages[0], passages[5]})
	if err != nil {
		panic(err)
	}
	fmt.Println(dot(got.Vectors[0], got.Vectors[1]) > dot(got.Vectors[0], got.Vectors[2]))
	// Output: true
}

// TestQuestion: the rare words of a question find its passage, however many of its other words another one has.
func TestQuestion(t *testing.T) {
	t.Parallel()
	texts := []string{
		"The harbour office keeps a list of every vessel, and the office charges each vessel a fee by its length.",
		"Pilots board at the outer buoy.",
	}
	e, err := offline.New(1536)
	if err != nil {
		t.Fatal(err)
	}
	chunks := map[string]*float64{"which": nil, "pilots": new(1.0), "office": new(50.0), "vessel": new(60.0), "fee": new(40.0), "a": nil}
	const question = "Which office charges a vessel a fee for pilots?"
	vectors := embed(t, 1536, texts...)
	plain, weighed := e.Question(question, 0, chunks), e.Question(question, 100, chunks)
	if text := embed(t, 1536, question)[0]; !slices.Equal(plain, text) {
		t.Error("without texts it is not the vector of the text")
	}
	if dot(plain, vectors[0]) < dot(plain, vectors[1]) {
		t.Error("without rarity the first passage has more of the words")
	}
	if dot(weighed, vectors[0]) > dot(weighed, vectors[1]) {
		t.Error("the rare word has no weight")
	}
	if n := dot(weighed, weighed); math.Abs(n-1) > 1e-6 {
		t.Errorf("its length is %v", math.Sqrt(n))
	}

	// Of a script without spaces, keys are pairs of characters.
	kanji := embed(t, 1536, "港湾規則。港湾事務所。港湾料金。", "水先案内。")
	pairs := map[string]*float64{"港湾": new(80.0), "湾の": new(30.0), "の水": new(0.0), "水先": new(1.0)}
	if q := e.Question("港湾の水先", 100, pairs); dot(q, kanji[0]) > dot(q, kanji[1]) {
		t.Error("the rare characters have no weight")
	}

	// What all texts have is not nothing.
	for _, all := range []float64{1, 20_000, 1e7} {
		v := e.Question("Office", all, map[string]*float64{"office": new(all)})
		if want := e.Question("Office", 0, nil); dot(v, want) < 0.99 {
			t.Errorf("the word of all %v texts is another one's: %v", all, dot(v, want))
		}
	}

	// Keys have the forms of letters, and the pairs, of SQL.
	for _, c := range []struct {
		question, rare, frequent string
		chunks                   map[string]*float64
	}{
		{"کتاب بندری", "بندری", "کتاب", map[string]*float64{"كتاب": new(90.0), "بندري": new(1.0)}},
		{"사무소의 도선사", "도선사", "사무소의", map[string]*float64{
			"사무": new(90.0), "무소": new(90.0), "소의": new(90.0), "도선": new(1.0), "선사": new(1.0),
		}},
	} {
		v, near := e.Question(c.question, 100, c.chunks), embed(t, 1536, c.rare, c.frequent)
		if dot(v, near[0]) < 2*dot(v, near[1]) {
			t.Errorf("%s: the rare word has no weight", c.question)
		}
	}
}
