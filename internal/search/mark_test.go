package search_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/search"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// The words that were searched for are marked in whatever form the text has them, and are in what is shown of it.
func TestMarked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ query, text, want string }{
		{"quay cranes", "crane 1 & the Quay", "<mark>crane</mark> 1 &amp; the <mark>Quay</mark>"},
		{"park", "parked, parking, parliament, spark", "<mark>parked</mark>, <mark>parking</mark>, parliament, spark"},
		{"port", "portfolio por", "portfolio por"},
		{"the", "them then the", "them then <mark>the</mark>"},
		{"größe", "Größen", "<mark>Größen</mark>"},
		{"<b>", "<b>", "&lt;b&gt;"},
		{"port <script>", `<script>port</script>"'`, "&lt;<mark>script</mark>&gt;<mark>port</mark>&lt;/<mark>script</mark>&gt;&#34;&#39;"},
		{"東京の天気", "今日の東京は雨、天気は悪い", "今日の<mark>東京</mark>は雨、<mark>天気</mark>は悪い"},
		{"cafe\u0301", "Café, cafe\u0301", "<mark>Café</mark>, <mark>cafe\u0301</mark>"},
		{"كتاب", "هذا كِتَاب.", "هذا <mark>كِتَاب</mark>."},
		{"یک کتاب", "كتاب", "<mark>كتاب</mark>"},
		{"CO2", "the CO₂, CO", "the <mark>CO₂</mark>, CO"},
		{"rule 40", "the 40 rules, 404 and 4", "the <mark>40</mark> <mark>rules</mark>, 404 and 4"},
		{"office", "the oﬃce", "the <mark>oﬃce</mark>"},
		{"ｏｆｆｉｃｅ", "the office", "the <mark>office</mark>"},
		{"ポート", "新しいﾎﾟｰﾄです", "新しい<mark>ﾎﾟｰﾄ</mark>です"},
		{"ﾎﾟｰﾄ", "新しいホ\u309aートです", "新しい<mark>ホ\u309aート</mark>です"},
		{"한국", "\u1112\u1161\u11ab\u1100\u116e\u11a8은", "<mark>\u1112\u1161\u11ab\u1100\u116e\u11a8</mark>은"},
		{"佐々木", "佐々木さん", "<mark>佐々木</mark>さん"},
		{"שלום", "אמר <שלום> לו", "אמר &lt;<mark>שלום</mark>&gt; לו"},
		{".*( [a-z]+", "a.*b(", "a.*b("},
		{"crane", "a\xff crane\xe2\x82", "a\xff <mark>crane</mark>\xe2\x82"},
		{"नमस्ते", "वह नमस्ते कहता", "वह <mark>नमस्ते</mark> कहता"},
	} {
		if got := search.NewMarker(c.query).Excerpt(c.text, 900, 200); got != c.want {
			t.Errorf("%q in %q: %s, want %s", c.query, c.text, got, c.want)
		}
	}
	filler := strings.Repeat("Füllung ", 300)
	for name, text := range map[string]string{
		"at the end": filler + "a crane", "in the middle": filler + "a crane " + filler, "at the beginning": "a crane " + filler,
		"nowhere": filler, "after one long word": strings.Repeat("ü", 2000) + " crane",
	} {
		got := search.NewMarker("crane").Excerpt(text, 900, 200)
		plain := strings.NewReplacer("<mark>", "", "</mark>", "").Replace(got)
		if name != "nowhere" && !strings.Contains(got, "<mark>crane</mark>") {
			t.Errorf("%s: the word is not shown: %.100s", name, got)
		}
		if n := utf8.RuneCountInString(plain); n > 900+2 || !strings.Contains(text, strings.Trim(plain, "…")) {
			t.Errorf("%s: %d characters that are not a part of the text: %.100s", name, n, plain)
		}
	}
}

// What the search matched is marked, and not what only begins alike; that is for a text that has none of it, or is in a
// language without a stemmer.
func TestMarksOfSearch(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		query string
		marks *store.Marks
		text  string
		want  string
	}{
		"another form":      {"running men", &store.Marks{Words: []string{"runs", "men"}, Alike: []string{"running", "men"}, Stemmed: true}, "Men Runs runn", "<mark>Men</mark> <mark>Runs</mark> runn"},
		"an umlaut":         {"Haus", &store.Marks{Words: []string{"häuser", "haus"}, Alike: []string{"haus"}, Stemmed: true}, "Haus, HA\u0308USER, Haushe", "<mark>Haus</mark>, <mark>HA\u0308USER</mark>, Haushe"},
		"stop words":        {"the crane", &store.Marks{Words: []string{"cranes"}, Alike: []string{"crane"}, Stemmed: true}, "the cranes, the crane", "the <mark>cranes</mark>, the crane"},
		"none of the words": {"the crane", &store.Marks{Words: []string{"craned"}, Alike: []string{"crane"}, Stemmed: true}, "the cranes", "the <mark>cranes</mark>"},
		"nothing":           {"the crane", &store.Marks{Alike: []string{"crane"}, Stemmed: true}, "the ships", "the ships"},
		"no stemmer":        {"do portu", &store.Marks{Words: []string{"portu"}, Alike: []string{"portu"}}, "do portu i portuje", "do <mark>portu</mark> i <mark>portuje</mark>"},
		"not migrated":      {"the crane", nil, "the cranes", "<mark>the</mark> <mark>cranes</mark>"},
		"parts":             {"example.com", &store.Marks{Words: []string{"example.com", "-12", "o'brien"}, Stemmed: true}, "example.com 12 O'Brien", "<mark>example</mark>.<mark>com</mark> <mark>12</mark> <mark>O</mark>&#39;<mark>Brien</mark>"},
		"an address":        {"info@firma.de", &store.Marks{Words: []string{"info@firma.de"}, Alike: []string{"info@firma.de"}, Stemmed: true}, "el puerto de Vigo: Info＠firma.de, firma", "el puerto de Vigo: <mark>Info</mark>＠<mark>firma</mark>.<mark>de</mark>, firma"},
		"a number":          {"1.5", &store.Marks{Words: []string{"1.5"}, Alike: []string{"1.5"}}, "Table 1, version 1.5, 5 rows", "Table 1, version <mark>1</mark>.<mark>5</mark>, 5 rows"},
		"a path":            {"firma.de/de/", &store.Marks{Words: []string{"/de/", "firma.de", "firma.de/de/"}, Stemmed: true}, "de firma.de/de/, de/", "de <mark>firma</mark>.<mark>de</mark>/<mark>de</mark>/, de/"},
		"a repeated part":   {"1.1.2", &store.Marks{Words: []string{"1.1.2"}, Stemmed: true}, "1.1.1.2 1.1. 2", "1.<mark>1</mark>.<mark>1</mark>.<mark>2</mark> 1.1. 2"},
		"only its parts":    {"firma.de", &store.Marks{Words: []string{}, Alike: []string{"firma.de"}}, "die Firma", "die <mark>Firma</mark>"},
		"short":             {"EU x", &store.Marks{Words: []string{"eu", "x"}, Stemmed: true}, "EU x y", "<mark>EU</mark> <mark>x</mark> y"},
		"vowel signs":       {"كتاب", &store.Marks{Words: []string{"الكتاب"}, Stemmed: true}, "هذا الكِتَاب.", "هذا <mark>الكِتَاب</mark>."},
		"without spaces":    {"東京 tower", &store.Marks{Words: []string{"towers"}, Stemmed: true}, "東京 towers tower", "<mark>東京</mark> <mark>towers</mark> tower"},
		"only without":      {"東京 tower", &store.Marks{Alike: []string{"tower"}, Stemmed: true}, "東京 towers", "<mark>東京</mark> <mark>towers</mark>"},
		"escaped":           {"<b>", &store.Marks{Words: []string{"b", `a\"`}, Stemmed: true}, `<b>"`, "&lt;<mark>b</mark>&gt;&#34;"},
	} {
		if got := search.NewMarker(c.query).For(c.marks).Excerpt(c.text, 900, 200); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	text := "the sea and the port. " + strings.Repeat("the sea. ", 100) + "It runs aground."
	marks := &store.Marks{Words: []string{"runs"}, Alike: []string{"run"}, Stemmed: true}
	if got := search.NewMarker("the run").For(marks).Highlight(text); !strings.Contains(got.Excerpt, "<mark>runs</mark>") || len(got.Marks) != 1 {
		t.Errorf("the excerpt begins at a stop word: %+v", got)
	}
	text = strings.Repeat("el puerto de Vigo. ", 100) + "info@firma.de"
	marks = &store.Marks{Words: []string{"info@firma.de"}, Alike: []string{"info@firma.de"}}
	if got := search.NewMarker("info@firma.de").For(marks).Highlight(text); !strings.Contains(got.Excerpt, "<mark>info</mark>@") {
		t.Errorf("the excerpt doesn't show the address: %+v", got)
	}
}

// The offsets of a highlight are those of the marked words, in characters.
func TestMarks(t *testing.T) {
	t.Parallel()
	text := "🚢 Größen der Kräne: 東京 & größe" + strings.Repeat(" x", 400)
	h := search.NewMarker("größe kräne 東京").Highlight(text)
	var words []string
	for _, m := range h.Marks {
		words = append(words, string([]rune(text)[m[0]:m[1]]))
	}
	if got := strings.Join(words, " "); got != "Größen Kräne 東京 größe" {
		t.Errorf("marked: %q of %v", got, h.Marks)
	}
	if !strings.HasPrefix(h.Excerpt, "🚢 <mark>Größen</mark> der") || !strings.HasSuffix(h.Excerpt, "…") {
		t.Errorf("excerpt: %s", h.Excerpt)
	}
	text = "the oﬃce ﾎﾟｰﾄ e\u0301cole"
	words = nil
	for _, m := range search.NewMarker("école office ポート").Highlight(text).Marks {
		words = append(words, string([]rune(text)[m[0]:m[1]]))
	}
	if got := strings.Join(words, " "); got != "oﬃce ﾎﾟｰﾄ e\u0301cole" {
		t.Errorf("marked, of letters in another form: %q", got)
	}
	if h := search.NewMarker("crane").Highlight("none"); h.Marks == nil || len(h.Marks) > 0 || h.Excerpt != "none" {
		t.Errorf("without a word: %+v", h)
	}
}
