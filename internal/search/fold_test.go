package search_test

import (
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/search"
)

// TestCopies: a text in another form is a copy; one that says something else is none, in whatever language, and however
// much else is the same.
func TestCopies(t *testing.T) {
	t.Parallel()
	rest := strings.Repeat(" The harbour master keeps the keys of each gate along the quay.", 20)
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"The Harbour, \"open\": daily", "the harbour open\ndaily", false}, // the case of a short word
		{"The Harbour, \"open\": daily", "The HARBOUR | open |\n**daily**!", true},
		{"the oﬃce opens", "the office opens", true},
		{"cafe\u0301", "café", true},
		{"１２ ﾎﾟｰﾄ", "12 ポート", true},
		{"الصفحة ٣", "الصفحة 3", true},
		{"ﻻ تدخل", "لا تدخل", true},
		{"har\u00adbour", "harbour", true},
		{"港口的\n主人", "港口的主人。", true},
		{"5 °C", "-5 °C", false},
		{"10²", "102", false},
		{"10²", "10", false},
		{"6½ t", "6 t", false},
		{"1.500", "1,500", false},
		{"1/5", "1.5", false},
		{"\n| Fire exit free | x |  |\n", "\n| Fire exit free |  | x |\n", false},
		{"\n|  | Fire exit free |\n", "\n| Fire exit free |  |\n", false},
		{"\n| free | x | - |\n", "\n| free | - | x |\n", false},
		{"\n| free | • | |\n", "\n| free | | • |\n", false},
		{"\n| Year | Net |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |\n", "\nYear, Net\n1, 2\n3; 4\n", true},
		{"result (1,250)", "result 1,250", false},
		{"result ($1,250)", "result $1,250", false},
		{"result (€ 1,250)", "result € 1,250", false},
		{"result (-1,250)", "result -1,250", false},
		{"result -$1,250", "result $1,250", false},
		{"result 1,250-", "result 1,250", false},
		{"result 1,250−", "result 1,250-", true},
		{"gate(s) (open)", "gate s open", true},
		{"rule(5)", "rule 5", true},
		{"- 5 gates", "5 gates", true},
		{"take .5 mg", "take 5 mg", false},
		{"5' long", "5\" long", false},
		{"5′ long", "5″ long", false},
		{"5’ long", "5” long", false},
		{"5'' long", "5' long", false},
		{"5´ long", "5“ long", false},
		{"take (.5)", "take .5", false},
		{"––5", "--5", true},
		{"gates....5", "gates 5", true},
		{"5’10” and 5′", "5'10\" and 5'", true},
		{"the 'harbour'", "the \"harbour\"", true},
		{"5 mW", "5 MW", false},
		{"x < y", "x > y", false},
		{"☐ yes ☒ no", "☒ yes ☐ no", false},
		{"C#", "C", false},
		{"It may be opened.", "It may be opened?", false},
		{"in Berlin", "in Paris", false},
		{"is allowed", "is forbidden", false},
		{"可以进入", "不可进入", false},
		{"三百元", "五百元", false},
		{"壹仟", "贰仟", false},
		{"入れます", "入れません", false},
		{"들어갈 수 있다", "들어갈 수 없다", false},
		{"เปิด", "ไม่เปิด", false},
		{"अंदर आना है", "अंदर नहीं आना है", false},
		{"δεν ανοίγει", "ανοίγει", false},
		{"không mở", "mở", false},
		{"नियम ३", "नियम ५", false},
		{"nie wolno", "wolno", false},
		{"otwarte", "nieotwarte", false},
		{"avautuu", "ei avaudu", false},
		{"öppet", "inte öppet", false},
		{"nyitva", "nincs nyitva", false},
		{"باز است", "باز نیست", false},
		{"\xff broken", "\xfe broken", true}, // neither is a character
	} {
		var l library
		l.add("a", rest+c.a+rest)
		l.add("b", rest+c.b+rest)
		hits := find(t, l, search.Query{Text: "harbour", Limit: 5})
		if got := len(hits) == 1; got != c.same {
			t.Errorf("%q and %q: folded %v, want %v", c.a, c.b, got, c.same)
		}
	}
	var l library
	l.add("a", "...")
	l.add("b", "---")
	if hits := find(t, l, search.Query{Text: "harbour", Limit: 5}); len(hits) != 2 {
		t.Errorf("texts without a word: %d hits", len(hits))
	}
}
