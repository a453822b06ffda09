package storetest

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// ingestIn ingests a document of one chunk in a language.
func (b *bench) ingestIn(filename, language, content string) {
	b.t.Helper()
	b.ingestAt(filename, language, content, embed(content))
}

// ingestAt is ingestIn with a vector.
func (b *bench) ingestAt(filename, language, content string, vector []float32) {
	b.t.Helper()
	_, h := b.run()
	s, err := b.StageDocument(b.ctx(), staging(h, filename))
	if err != nil {
		b.t.Fatal(err)
	}
	c := chunk(0, content)
	c.Language, c.HeadingPath, c.Embedding = language, nil, vector
	if missing, err := b.StageChunks(b.ctx(), batch(h, s, c)); err != nil || len(missing) > 0 {
		b.t.Fatalf("stage: missing %v, %v", missing, err)
	}
	b.complete(h, activate(s, 1))
}

// byWords are the files that a search by words finds, best first.
func (b *bench) byWords(text string) (files []string) {
	b.t.Helper()
	for _, h := range b.search(store.Query{Text: text}) {
		files = append(files, h.Filename)
	}
	return files
}

// testSearchBM25: words rank by how often they are in a chunk, by its length, and by their rarity.
func testSearchBM25(t *testing.T, b *bench) {
	const rest = " and the tide and the moorings and the lights and the ropes"
	b.ingestIn("once.txt", "en", "pilot ship crew dock rope gate"+rest)
	b.ingestIn("often.txt", "en", "pilot pilot pilot dock rope gate"+rest)
	b.ingestIn("short.txt", "en", "pilot ship crew dock rope gate")
	b.ingestIn("rare.txt", "en", "anchor ship crew dock rope gate"+rest)
	if got := b.byWords("pilot"); !slices.Equal(got, []string{"often.txt", "short.txt", "once.txt"}) {
		t.Errorf("pilot: %v", got)
	}
	if got := b.byWords("pilot or anchor?"); len(got) != 4 || got[0] != "rare.txt" {
		t.Errorf("the rarer word: %v", got)
	}
	// All words once in a chunk are no more than a frequent rare one, without an operator; with one they come first.
	if got := b.byWords(`"pilot ship"`); len(got) != 4 || got[0] != "short.txt" || got[1] != "once.txt" {
		t.Errorf("a phrase: %v", got)
	}
}

// testSearchRepeats: a long question is about the word that it keeps naming, in whatever form.
func testSearchRepeats(t *testing.T, b *bench) {
	b.ingestIn("a-tug.txt", "en", "The tug has a crew of five, and the gate is open.")
	b.ingestIn("b-pilot.txt", "en", "The pilot has a crew of five, and the gate is open.")
	b.ingestIn("c-none.txt", "en", "The ropes are on the dock.")
	if got := b.byWords("What does a pilot do when a tug is late, which pilots wait, and who pays them?"); len(got) != 2 || got[0] != "b-pilot.txt" {
		t.Errorf("the pilot is named twice, the tug once: %v", got)
	}
}

// testSearchLanguages: words are compared by the stemmer, the stop words and the script of each chunk's language.
func testSearchLanguages(t *testing.T, b *bench) {
	for _, d := range []struct{ name, language, content string }{
		{"en.txt", "en", "The son went to war at sea, and many ships came to die."},
		{"de.txt", "de", "Die Häuser der Stadt, es war nicht das Meer."},
		{"es.txt", "es", "Los barcos navegaban hacia las islas."},
		{"zh.txt", "zh", "黑豹队的防守丢了三百零八分。"},
		{"ja.txt", "ja", "港湾の規則を改正しました。"},
		{"th.txt", "th", "ท่าเรือเปิดทำการทุกวัน"},
		{"ar.txt", "ar", "وصلت السفينة إلى الميناء"},
		{"fa.txt", "fa", "کشتی\u200cهای بندر در یکی از روزها آمدند"},
		{"vi.txt", "vi", "con tàu đến cảng"},
	} {
		b.ingestIn(d.name, d.language, d.content)
	}
	for text, want := range map[string]string{
		"What did the sons die for?": "en.txt", // not a German article
		"wars":                       "en.txt", // not "was" in German
		"ship":                       "en.txt",
		"Haus":                       "de.txt",
		"Hauses der Städte":          "de.txt",
		"isla barco":                 "es.txt",
		"防守":                         "zh.txt",
		"黑豹队丢了多少分？":                  "zh.txt",
		"規則":                         "ja.txt",
		"เปิดทำการเมื่อไร": "th.txt",
		"سفينة":       "ar.txt",
		"السَّفِينَة": "ar.txt", // with vowel signs
		"كشتي":        "fa.txt", // as Arabic keyboards write it
		"con":         "vi.txt", // a stop word elsewhere
	} {
		got := b.byWords(text)
		if len(got) == 0 || got[0] != want {
			t.Errorf("%s: %v, want %q", text, got, want)
		}
	}
	if got := b.byWords("der die das"); !slices.Equal(got, []string{"en.txt"}) {
		t.Errorf("articles in German, and a verb in English: %v", got)
	}
	if got := b.byWords("to the"); len(got) != 1 || got[0] != "en.txt" {
		t.Errorf("nothing but stop words: %v", got)
	}
}

// testSearchStatistics: replaced and deleted chunks count no more: the scores are those of an index that never had them.
func testSearchStatistics(t *testing.T, b *bench) {
	scores := func(b *bench) (all []float64) {
		for _, text := range []string{"harbour", "pilot dues", "harbour pilot crane"} {
			for _, h := range b.search(store.Query{Text: text, Limit: 100}) {
				all = append(all, h.Score)
			}
		}
		return all
	}
	remains := func(b *bench) {
		b.ingest("a.pdf", "harbour dues", "the pilot of the harbour")
		b.ingest("b.pdf", "a crane "+strings.Repeat("and a crane ", 9))
	}
	b.ingest("a.pdf", "harbour crane pilot pilot", "dues", "dues and dues")
	b.ingest("c.pdf", "pilot harbour dues", "crane")
	remains(b)
	_, h := b.run()
	s, err := b.StageDocument(b.ctx(), staging(h, "c.pdf"))
	if err != nil {
		t.Fatal(err)
	}
	b.complete(h, store.Effect{
		Kind: store.EffectDeleteDocument,
		Args: store.Deletion{DocumentID: s.DocumentID, Version: s.Version},
	})
	fresh := newBench(t, b.open)
	remains(fresh)
	got, want := scores(b), scores(fresh)
	if len(want) == 0 || !slices.Equal(got, want) {
		t.Errorf("scores %v, of an index that never had more %v", got, want)
	}
}
