package search_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/search"
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
