package storetest

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// testSearchScripts: exclusions, phrases and OR act in all scripts. Without spaces a run of characters is found within a
// longer one; the explained search says the same.
func testSearchScripts(t *testing.T, b *bench) {
	for _, d := range []struct{ name, language, content string }{
		{"zh-defence", "zh", "港湾里黑豹队的防守丢了三百零八分。"},
		{"zh-train", "zh", "港湾旁边有火车。从火车站出发。"},
		{"zh-apart", "zh", "港湾的守防不好，东西京都。"},
		{"ja-tower", "ja", "港湾には東京tower、大阪城がある。"},
		{"ja-dues", "ja", "港湾の規則を改正しました。東京 の塔 tower"},
		{"ko", "ko", "항만 요금은 매년 오릅니다"},
		{"th", "th", "ท่าเรือเปิดทำการทุกวัน"},
		{"fa", "fa", "کشتی در بندر است"},
		{"ar", "ar", "السَّفِينَة في ميناء"},
		{"en", "en", "the quay crane of 港湾 lifts a container"},
	} {
		b.ingestIn(d.name, d.language, d.content)
	}
	harbours := []string{"zh-defence", "zh-train", "zh-apart", "ja-tower", "ja-dues", "en"}
	without := func(names ...string) (rest []string) {
		for _, name := range harbours {
			if !slices.Contains(names, name) {
				rest = append(rest, name)
			}
		}
		return rest
	}
	for text, want := range map[string][]string{
		"港湾":                               harbours,
		"港湾 -防守":                           without("zh-defence"),
		"港湾 －防守":                           without("zh-defence"), // as a Chinese keyboard writes it
		"港湾　－防守":                           without("zh-defence"),
		"港湾 -“防守”":                         without("zh-defence"),
		`港湾 -"防守丢"`:                        without("zh-defence"),
		"港湾 -丢守":                           harbours, // both characters, not together
		"港湾 -车":                            without("zh-train"),
		"港湾 -分":                            without("zh-defence"), // the last of a run
		"港湾 -火车站":                          without("zh-train"),
		"港湾 -東京":                           without("ja-tower", "ja-dues"),
		"港湾 -東京tower":                      without("ja-tower", "ja-dues"),
		`港湾 -"東京 の塔"`:                      without("ja-dues"),
		`港湾 -"東京, 大阪"`:                     without("ja-tower"), // words of other scripts between them do not count
		"港湾 -crane":                        without("en"),
		"港湾 -cranes":                       without(), // no stemming
		`港湾 -"quay crane"`:                 without("en"),
		`港湾 -"crane quay"`:                 harbours,
		"港湾 -防守 -crane -規則":                without("zh-defence", "en", "ja-dues"),
		"港湾 -😀 -\"\" -\" \" -「」 -":         harbours,
		"-防守":                              nil,
		"港湾 -" + strings.Repeat("防守", 300): harbours,
		"항만 -요금":                           nil,
		"항만 -배":                            {"ko"},
		"ท่าเรือ -ทำการ":                   nil,
		"ท่าเรือ -กรุงเทพ":                 {"th"},
		"بندر -كشتي":                       nil, // an Arabic keyboard's letters
		"بندر -کشتی":                       nil,
		"ميناء -السفينة":                   nil,
		"ميناء -سيارة":                     {"ar"},
		"ميناء -سفينة":                     nil,    // the same without its article
		"ميناء -سفين":                      {"ar"}, // its stem is another word
		`ميناء -"سفينة"`:                   {"ar"},
		"ميناء -سفن":                       {"ar"}, // the plural
		"tower -港湾":                        nil,
		"港湾 -tower":                        without("ja-tower", "ja-dues"),
	} {
		for _, near := range [][]float32{nil, embed("the quay crane of 港湾 lifts a container")} {
			hits := b.search(store.Query{Text: text, Limit: 50, Embedding: near, Explain: true})
			var got []string
			for _, h := range hits {
				if h.Matched {
					got = append(got, h.Filename)
				}
				if h.Legs == nil {
					t.Errorf("%.60s: %s is not explained", text, h.Filename)
				}
			}
			if missing := unlike(want, got); missing != "" {
				t.Errorf("%.60s, near %v: %s", text, near != nil, missing)
			}
		}
	}
	complete := func(text string) (files []string) {
		for _, h := range b.search(store.Query{Text: text, Limit: 50, Explain: true}) {
			if h.Legs != nil && h.Legs.Complete {
				files = append(files, h.Filename)
			}
		}
		return files
	}
	for text, want := range map[string][]string{
		`"防守"`:                    {"zh-defence"},
		`"港湾" OR "항만"`:            append(without(), "ko"),
		`"防守" OR "quay crane"`:    {"zh-defence", "en"},
		`"防守" OR crane OR 火车`:     {"zh-defence", "en", "zh-train"},
		`"火车站"`:                   {"zh-train"},
		`"車站火"`:                   nil,
		`"東京"`:                    {"ja-tower", "ja-dues"}, // not 東西京都
		`"東京tower"`:               {"ja-tower", "ja-dues"},
		`"tower"`:                 {"ja-tower", "ja-dues"},
		`"東京" "大阪城"`:              {"ja-tower"},
		`"quay crane" "港湾"`:       {"en"},
		`"crane quay" "港湾"`:       nil,
		`"港湾" OR "港湾" -防守 -crane`: without("zh-defence", "en"),
		`"เปิดทำการ"`:             {"th"},
		`"요금은 매년"`:                {"ko"},
		`"كشتي در"`:               {"fa"},
		`"السفينة في"`:            {"ar"},
	} {
		if missing := unlike(want, complete(text)); missing != "" {
			t.Errorf("complete, %s: %s", text, missing)
		}
	}
	other := newBench(t, b.open)
	other.ingestIn("theirs", "zh", "港湾里黑豹队的防守丢了三百零八分。")
	if got := complete(`"防守"`); !slices.Equal(got, []string{"zh-defence"}) {
		t.Errorf("I10: beside another tenant's: %v", got)
	}
	if hits := b.search(store.Query{Text: `"防守" OR "火车" -分`, Limit: 50, DocumentSet: "none"}); len(hits) != 0 {
		t.Errorf("in a set without documents: %v", contents(hits))
	}
	for _, h := range b.search(store.Query{Text: `"防守" OR "規則"`, Limit: 50, Within: &store.Within{Language: "ja"}, Explain: true}) {
		if h.Filename == "zh-defence" {
			t.Error("a document of another language")
		}
	}
}

// testSearchTurkish: a word of Turkish is the same whatever becomes of its I in lower case, and an English one stays what it is.
func testSearchTurkish(t *testing.T, b *bench) {
	for name, content := range map[string]string{
		"small":    "liman için kılavuz kaptan gerekir",
		"capitals": "KILAVUZ KAPTAN VE LİMAN GEREKİR",
		"city":     "liman Iğdır ve İstanbul arasında",
		"cities":   "LİMAN IĞDIR VE İSTANBUL ARASINDA",
	} {
		b.ingestIn(name, "tr", content)
	}
	b.ingestIn("en", "en", "In the WIFI manual I find a pilot")
	all := []string{"small", "capitals", "city", "cities"}
	for text, want := range map[string][]string{
		"KILAVUZ": {"small", "capitals"}, "kılavuz": {"small", "capitals"}, "Kılavuz": {"small", "capitals"},
		"Iğdır": {"city", "cities"}, "ığdır": {"city", "cities"}, "IĞDIR": {"city", "cities"},
		"İSTANBUL": {"city", "cities"}, "istanbul": {"city", "cities"}, "İstanbul'da": {"city", "cities"},
		"LİMAN": all, "liman": all, "liman -KILAVUZ": {"city", "cities"}, "liman -kılavuz": {"city", "cities"},
		"liman -IĞDIR": {"small", "capitals"}, "liman -İstanbul": {"small", "capitals"},
		"WIFI": {"en"}, "wifi": {"en"}, "I find": {"en"}, "pilot -WIFI": nil, "PILOT": {"en"},
		// What the parser takes for a tag or an entity is no word.
		"<DIV> pilot": {"en"}, "&Iuml; pilot": {"en"}, "pilot -<I>": {"en"}, `"<İ>" pilot`: {"en"}, "<I>": nil,
	} {
		if missing := unlike(want, b.byWords(text)); missing != "" {
			t.Errorf("%s: %s", text, missing)
		}
	}
}

// testSearchLetters: letters and digits are the same however they are composed, and how wide they are.
func testSearchLetters(t *testing.T, b *bench) {
	for name, content := range map[string]string{
		"composed":   norm.NFC.String("die Gebühren steigen, sagt Müller"),
		"decomposed": norm.NFD.String("die Gebühren sinken, sagt Müller"),
		"half":       "ﾊﾝﾌﾞﾙｸﾞ の 港",
		"wide":       "ｔｏｗｅｒ ２０２３",
		"signs":      "CO₂ auf 5 m² im Hafen¹ der Reederei™, ﬁnal ①Anker 6½",
		"hangul":     norm.NFD.String("항만 요금"),
	} {
		b.ingestIn(name, "", content)
	}
	for text, want := range map[string][]string{
		norm.NFC.String("Gebühren"):                 {"composed", "decomposed"},
		norm.NFD.String("Gebühren"):                 {"composed", "decomposed"},
		norm.NFD.String("Müller -sinken"):           {"composed"},
		norm.NFC.String("sinken -Müller"):           nil,
		norm.NFD.String("steigen -Müller"):          nil,
		norm.NFC.String(`"Gebühren sinken" Müller`): {"composed", "decomposed"},
		"ハンブルグ":                                     {"half"},
		"ﾊﾝﾌﾞﾙｸﾞ":                                   {"half"},
		"港 -ハンブルグ":                                  nil,
		"tower":                                     {"wide"},
		"２０２３":                                      {"wide"},
		`tower -"2023"`:                             nil,
		"ｔｏｗｅｒ －2022":                               {"wide"},
		"co2":                                       {"signs"},
		"m2":                                        {"signs"},
		"Hafen":                                     {"signs"}, // not Hafen1
		"Reederei":                                  {"signs"},
		"final":                                     {"signs"},
		"Anker":                                     {"signs"},
		"Hafen -CO2":                                nil,
		"Hafen -61":                                 {"signs"},
		"항만":                                        {"hangul"},
		"항만 -요금":                                    nil,
		norm.NFD.String("항만"):                       {"hangul"},
	} {
		if missing := unlike(want, b.byWords(text)); missing != "" {
			t.Errorf("%s: %s", text, missing)
		}
	}
}
