package agent

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// For any split into pieces, the value is the one that encoding/json decodes.
func TestValue(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.String().Draw(t, "text")
		other := map[string]any{"answer": "not this", "n": []any{1, "}", map[string]any{"answer": "nor this"}}}
		escape := rapid.Bool().Draw(t, "escape")
		raw := func(v any) string {
			b, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			return string(b)
		}
		text := raw(want)
		if escape { // every character as an escape in UTF-16
			var b strings.Builder
			for _, c := range want {
				for _, unit := range utf16Of(c) {
					fmt.Fprintf(&b, `\u%04x`, unit)
				}
			}
			text = `"` + b.String() + `"`
		}
		document := fmt.Sprintf(`{ "x": %s, "answer" : %s , "citations": %s}`, raw(other), text, raw([]any{other}))
		var got strings.Builder
		v := newValue()
		for len(document) > 0 {
			n := min(rapid.IntRange(1, 9).Draw(t, "piece"), len(document))
			for n < len(document) && document[n]&0xC0 == 0x80 { // pieces are whole characters
				n++
			}
			got.WriteString(v.feed(document[:n]))
			document = document[n:]
		}
		var decoded string
		if err := json.Unmarshal([]byte(text), &decoded); err != nil {
			t.Fatal(err)
		}
		if got.String() != decoded {
			t.Fatalf("got %q, want %q", got.String(), decoded)
		}
	})
	for document, want := range map[string]string{
		`{"answer": {"a": [1, "x,}"], "b": {}}, "c": 1}`: `{"a": [1, "x,}"], "b": {}}`,
		`{"c": {"answer": 1}, "answer": [1, 2]}`:         `[1, 2]`,
		`{"answer": 12.5e3}`:                             `12.5e3`,
		`{"answer": null, "d": 1}`:                       `null`,
		`{"a\u006eswer": "x"}`:                           `x`,
		`["answer", "x"]`:                                ``,
		`no JSON "answer": "x"`:                          ``,
		`}}}}]]]{"answer`:                                ``,
	} {
		if got := newValue().feed(document); got != want {
			t.Errorf("%s: %q, want %q", document, got, want)
		}
	}
}

func utf16Of(c rune) []uint16 {
	if c < 0x10000 {
		return []uint16{uint16(c)}
	}
	c -= 0x10000
	return []uint16{uint16(0xD800 + c>>10), uint16(0xDC00 + c&0x3FF)}
}

func TestLocate(t *testing.T) {
	t.Parallel()
	const text = "The “quay cranes”\n  are ﬁxed – at 22\u00a0m/s. Soft\u00adhyphen, e\u0301tude, ½."
	for quote, want := range map[string]string{
		`"quay cranes" are fixed - at 22 m/s`: "“quay cranes”\n  are ﬁxed – at 22\u00a0m/s",
		"  Softhyphen, étude":                 "Soft\u00adhyphen, e\u0301tude",
		"1⁄2.":                                "½.",
		"The":                                 "The",
	} {
		if got, ok := locate(text, quote); !ok || got != want {
			t.Errorf("%q: %q %v, want %q", quote, got, ok, want)
		}
	}
	for _, quote := range []string{"", "   ", "…", "–", "the", "cranes are", "quay cranes are ... m/s"} {
		if got, ok := locate(text, quote); ok {
			t.Errorf("%q is found as %q", quote, got)
		}
	}
	for _, c := range []struct{ text, quote, want string }{ // want is empty: a part of a word or number is no quote
		{"A discount of 15 % applies from 100 tons.", "5 % applies from 100 tons", ""},
		{"A discount of 15 % applies from 100 tons.", "15 % applies from 10", ""},
		{"15 % or 5 %", "5 %", "5 %"},
		{"at 22 m/s, not 2 m/s", "2 m/s", "2 m/s"},
		{"It is unlawful.", "lawful", ""},
		{"It is un\u00adlawful.", "lawful", ""},
		{"unlawful or lawful", "lawful", "lawful"},
		{"the lawfulness", "lawful", ""},
		{"e\u0301tude", "tude", ""},
		{"3.15 %, 1,5 t and 1’500 t", "15 %", ""},
		{"3.15 %, 1,5 t and 1’500 t", "1", ""},
		{"3.15 %, 1,5 t and 1’500 t", "5 t", ""},
		{"3.15 %, 1,5 t and 1’500 t", "500 t", ""},
		{"3.15 %, 1,5 t and 1’500 t", ".15 %", ""},
		{"2½ t", "½ t", ""},
		{"½ t", "1", ""},
		{"The ﬁnd", "nd", ""},
		{"22 m/s¹, and 5", "22 m/s", "22 m/s"}, // a footnote
		{"In 2022.", "2022", "2022"},
		{"at −5 °C", "5 °C", ""},
		{"at −5 °C", "-5 °C", "−5 °C"},
		{"-5 °C", "5 °C", ""},
		{"a loss of -€5 million", "€5 million", ""},
		{"a loss of −$ 3.2m", "$ 3.2m", ""},
		{"a loss of −$3.2m", "-$3.2m", "−$3.2m"},
		{"est de 12\u202f500 € par an", "500 € par an", ""},
		{"est de 12\u202f500 € par an", "est de 12", ""},
		{"est de 12\u202f500 € par an", "12 500 €", "12\u202f500 €"},
		{"1 250 000 kr", "1 250", ""},
		{"1 250 000 kr", "000 kr", ""},
		{"In 2022 500 boats came, in 2023 12 of them twice.", "500 boats came, in 2023", "500 boats came, in 2023"},
		{"100 Bolts 12\n101 Nuts 15\n102 Screws 9", "101 Nuts 15", "101 Nuts 15"},
		{"Berth 4\n\n120 boats use the quay.", "120 boats use the quay.", "120 boats use the quay."},
		{"Bolt   12   500", "Bolt 12", "Bolt   12"},
		{"COVID-19 300 patients, B2 300 beds", "300 patients", "300 patients"},
		{"COVID-19 300 patients, B2 300 beds", "300 beds", "300 beds"},
		{"R12 500 per berth, EUR12\u202f500", "500 per berth", ""},
		{"R12 500 per berth, EUR12\u202f500", "R12", ""},
		{"R12 500 per berth, EUR12\u202f500", "EUR12", ""},
		{"€12 500 or −12 500", "500 or", ""},
		{"١٢٫٥ دينار", "٥ دينار", ""},
		{"rows 4-5", "5", "5"},
		{"gate B-5", "5", "5"},
		{"风速为15米", "风速", "风速"},
		{"风速为15米", "15米", "15米"},
		{"风速为15米", "5米", ""},
		{"エレベーター3号機は点検中", "3号機は点検中", "3号機は点検中"},
		{"サーバーA", "サーバー", "サーバー"},
		{"풍속은 22 m/s에서", "풍속", "풍속"},
		{"ความเร็วลม", "ลม", "ลม"},
		{"ที่", "ท", ""},
	} {
		if got, ok := locate(c.text, c.quote); got != c.want || ok != (c.want != "") {
			t.Errorf("%q in %q: %q %v, want %q", c.quote, c.text, got, ok, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) { // what is found is a part of the text, and any part is found
		text := rapid.String().Draw(t, "text")
		runes := []rune(text)
		from := rapid.IntRange(0, len(runes)).Draw(t, "from")
		part := string(runes[from:rapid.IntRange(from, len(runes)).Draw(t, "to")])
		if got, ok := locate(text, part); ok && !strings.Contains(text, got) {
			t.Fatalf("%q of %q is found as %q", part, text, got)
		}
	})
}

func TestRenumber(t *testing.T) {
	t.Parallel()
	kept := map[int]int{2: 1, 3: 2}
	for text, want := range map[string]string{
		"A [1] B [2] C [3].": "A B [1] C [2].", "A[1, 2,3]": "A[1, 2]",
		"In [2024] and [0], [x]": "In [2024] and [0], [x]", "": "",
		"A [1-3] B [1–2] C [2; 3] D [1;2]": "A [1-2] B [1] C [1, 2] D [1]",
		"[3-1], [2-4], [1-], [2 - 3]":      "[3-1], [2-4], [1-], [1-2]",
	} {
		if got := renumber(quoted(text), kept, 3); string(got) != string(quoted(want)) {
			t.Errorf("%q: %s, want %q", text, got, want)
		}
	}
	const object = `{"b": ["A [1] \"B\" [2]", 1.50, "[3]"],  "[1]": {"a": "x\u00e9 [1]"}, "c": 2}`
	if got := renumber(json.RawMessage(object), kept, 3); string(got) !=
		`{"b": ["A \"B\" [1]", 1.50, "[2]"],  "[1]": {"a": "xé"}, "c": 2}` {
		t.Errorf("an object became %s", got)
	}
}
