package storetest

import (
	"math"
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
		{"ezafe.txt", "fa", "هزینهٔ لنگر"},
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
		"豹":                          "zh.txt",
		`"豹" OR tanker`:              "zh.txt",
		"黑豹队丢了多少分？":                  "zh.txt",
		"規則":                         "ja.txt",
		"เปิดทำการเมื่อไร": "th.txt",
		"سفينة":       "ar.txt",
		"السَّفِينَة": "ar.txt", // with vowel signs
		"كشتي":        "fa.txt", // as Arabic keyboards write it
		"هزینه":       "ezafe.txt",
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

// testSearchForeignStops: a word without meaning in the question's language is none of another language that the tenant
// has, however rare it is there.
func testSearchForeignStops(t *testing.T, b *bench) {
	b.ingestIn("de-1.txt", "de", "Die Gebühren im Hafen sind hoch, sagt der Lotse.")
	b.ingestIn("de-2.txt", "de", "Im Hafen sind die Gebühren fällig, wenn das Schiff liegt.")
	b.ingestIn("de-3.txt", "de", "Das Schiff ist im Hafen, und die Gebühren steigen.")
	b.ingestIn("en-1.txt", "en", "Many ships came to die in that war.")
	b.ingestIn("en-2.txt", "en", "The harbour lies behind the island.")
	b.ingestIn("en-3.txt", "en", "The island has a harbour and a crane.")
	for text, want := range map[string][]string{
		"Wie hoch sind die Gebühren?": {"de-1.txt", "de-2.txt", "de-3.txt"},
		"Was war im Hafen?":           {"de-1.txt", "de-2.txt", "de-3.txt"},
		"war":                         {"en-1.txt"}, // alone it can be either
		"die ships":                   {"en-1.txt"},
		"Do ships die?":               {"en-1.txt"},
		"Wie sind die Liegeplätze?":   nil, // the word that says what is meant is in no chunk
	} {
		got := b.byWords(text)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
	// If both languages fit, the word counts little.
	b.ingestIn("en-4.txt", "en", "The name of the fees there is Gebühren.")
	if got := b.byWords("die Gebühren"); len(got) != 5 || got[4] != "en-1.txt" {
		t.Errorf("die Gebühren: %v, want en-1.txt last", got)
	}
}

// testSearchManyLanguages: a tenant's languages are all searched by their stemmers, however many it has, and a score is
// what it is where there is only one.
func testSearchManyLanguages(t *testing.T, b *bench) {
	fill := func(b *bench, of func(language string) string) {
		b.ingestIn("tr.txt", "tr", "Gemiler limanı terk etti.")
		b.ingestIn("en.txt", "en", "The pilot of the harbour met the crew of the crane.")
		for language, content := range map[string]string{ // without stop words: their lengths count the same in each language
			"de": "Wetter Regen Sturm", "es": "tiempo lluvia", "fr": "orage pluie", "it": "pioggia temporale", "pt": "chuva tempestade",
			"nl": "regen storm weer", "sv": "regn oväder", "ru": "погода дождь", "fi": "myrsky sade", "ro": "ploaie furtună",
			"vi": "rain pilots harbours wind rain wind rain wind rain wind",
		} {
			b.ingestIn("1-"+language+".txt", of(language), content)
			b.ingestIn("2-"+language+".txt", of(language), content)
		}
	}
	fill(b, func(language string) string { return language })
	unstemmed, two := newBench(t, b.open), newBench(t, b.open)
	fill(unstemmed, func(language string) string {
		if language == "vi" { // it has no stemmer
			return language
		}
		return "en"
	})
	fill(two, func(string) string { return "en" })
	for text, name := range map[string]string{"gemilerin limanda": "tr.txt", "the harbours": "en.txt", "pilots of harbours": "en.txt"} {
		want := two.search(store.Query{Text: text})
		for tenant, b := range map[string]*bench{"many languages": b, "a language without stemmer": unstemmed} {
			hits := b.search(store.Query{Text: text})
			if len(hits) == 0 || len(want) == 0 || hits[0].Filename != name {
				t.Errorf("%s: %d hits in a tenant of %s, want %s first", text, len(hits), tenant, name)
			} else if math.Abs(hits[0].Score-want[0].Score) > 0.05 {
				t.Errorf("%s: the score is %.2f in a tenant of %s, %.2f in one of two", text, hits[0].Score, tenant, want[0].Score)
			}
		}
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
