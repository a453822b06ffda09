package pdf

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf/content"
)

// One glyph of lam and alef keeps its letters in reading order; two glyphs are reversed as all others are. The parts of a
// Persian word have a space between their glyphs.
func TestLettersOfGlyphs(t *testing.T) {
	t.Parallel()
	words := func(visual ...string) *page {
		p := &page{width: 600, height: 800}
		for i, v := range visual {
			left := 100 * float64(i)
			p.words = append(p.words, word{
				box: box{left, 100, left + 60, 112}, text: logical(v), visual: v, rtl: true, style: style{size: 10},
			})
		}
		return p
	}
	p := words("ةملاس", "ةملاس", ".ىلع", "ارجالا\u200Cمزلا")
	p.orderLetters([]glyphLine{
		{box{0, 100, 60, 112}, "ة م لا س"},
		{box{100, 100, 160, 112}, "ة م ل ا س"},
		{box{200, 100, 260, 112}, ".   لى ع"},
		{box{300, 100, 360, 112}, "ا ر ج لا ا   م ز لا"},
	})
	var got []string
	for _, w := range p.words {
		got = append(got, w.text)
	}
	if want := []string{"سلامة", "سالمة", "على.", "لازم\u200Cالاجرا"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A line that was stretched has gaps within its words; its glyphs have no space there.
func TestStretchedWordsAreJoined(t *testing.T) {
	t.Parallel()
	p := &page{width: 600, height: 800}
	for i, v := range []string{"ةقيرط", "لا", "يف"} {
		left := 40 * float64(i)
		p.words = append(p.words, word{
			box: box{left, 100, left + 37, 112}, text: logical(v), visual: v, rtl: true, style: style{size: 10},
		})
	}
	p.orderLetters([]glyphLine{{box{0, 100, 117, 112}, "ة ق ي ر ط ل ا   ي ف"}})
	if len(p.words) != 2 || p.words[0].text != "الطريقة" || p.words[1].text != "في" {
		t.Errorf("%+v", p.words)
	}
}

// Where a word's font changes, it is printed in parts without a gap. Words have a space between them, and a mark is no letter.
func TestTouchingPartsAreOneWord(t *testing.T) {
	t.Parallel()
	p := &page{width: 600, height: 800}
	left := 10.0
	for _, part := range []struct {
		visual string
		gap    float64 // before it
	}{{"یلخاد", 0}, {"ی", 2.5}, {"لااک", 0.06}, {"رازاب", 3}, {".", 0}, {"نم", 0}} {
		left += part.gap
		p.words = append(p.words, word{
			box: box{left, 100, left + 20, 112}, text: logical(part.visual), visual: part.visual, rtl: true, style: style{size: 10},
		})
		left += 20
	}
	p.orderLetters(nil)
	var got []string
	for _, w := range p.words {
		got = append(got, w.text)
	}
	if want := []string{"داخلی", "کالای", "بازار", ".", "من"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Numbers and Latin words within a right-to-left line keep what is before and after them.
func TestNumbersWithinRightToLeftLines(t *testing.T) {
	t.Parallel()
	for visual, want := range map[string]string{
		".2023 ماع":          "عام 2023.",
		")4711 مقر(":         "(رقم 4711)",
		"%3.5 ةبسن":          "نسبة 3.5%",
		"12/03/2024 خيرات":   "تاريخ 12/03/2024",
		"جئاتنلا .A":         "A. النتائج",
		"مق info@a.org بتكا": "اكتب info@a.org قم",
		".)ABC( 2024 תנש":    "שנת 2024 (ABC).",
		"13 ,12 םיפיעס":      "סעיפים 12, 13",
	} {
		p := &page{width: 600, height: 800}
		left := 0.0
		for w := range strings.FieldsSeq(visual) {
			right := left + 6*float64(len([]rune(w)))
			p.words = append(p.words, word{
				box: box{left, 100, right, 112}, text: w, rtl: hasRightToLeft(w), style: style{size: 10}, segment: 1,
			})
			if last := &p.words[len(p.words)-1]; last.rtl {
				last.text, last.visual = logical(w), w
			}
			left = right + 3
		}
		p.words = append(p.words, word{box: box{0, 200, 60, 212}, text: "سطر", rtl: true, segment: 2},
			word{box: box{70, 200, 90, 212}, text: "آخر", rtl: true, segment: 3})
		p.mirror()
		line := slices.DeleteFunc(slices.Clone(p.words), func(w word) bool { return w.segment != 1 })
		slices.SortFunc(line, byLeft)
		if got := joinWords(line); got != want {
			t.Errorf("%s: got %q, want %q", visual, got, want)
		}
	}
}

// Gaps next to Chinese are spaces only where the page has the glyph of one.
func TestGapsNextToChinese(t *testing.T) {
	t.Parallel()
	glyphs := []glyphLine{
		{box{0, 100, 62.5, 112}, "适 用 于 2 0 2 4"}, {box{65, 100, 95, 112}, "年 和"}, {box{94, 100, 160, 112}, "   L i n u x   系 统"},
	}
	runs := &runPage{runs: []run{ // of the first two words, with a move between them; of the third; of two spaces and the rest
		{box: box{0, 100, 62.5, 112}, gaps: []content.Gap{{From: 30, To: 32.5}}}, {box: box{65, 100, 95, 112}}, {box: box{95, 100, 160, 112}},
	}}
	for name, space := range map[string]func(before, after word) bool{
		"printed by pdftohtml": func(before, after word) bool { return spaceAt(glyphs, before, after) }, "drawn": runs.spaces(),
	} {
		p := &page{width: 600, height: 800}
		left := 0.0
		for _, s := range []string{"适用于", "2024", "年和", "Linux", "系统"} {
			right := left + 30
			p.words = append(p.words, word{box: box{left, 100, right, 112}, text: s, style: style{size: 10}, segment: 1})
			left = right + 2.5
		}
		p.closeGaps(p.doubtfulGaps(), space)
		if got, want := joinWords(p.words), "适用于2024年和 Linux 系统"; got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if got := joinTexts("第", "3次") + joinTexts("在", "Linux") + joinTexts("위", "「법」"); got != "第3次在Linux위 「법」" {
		t.Errorf("lines join to %q", got)
	}
}
