package pdf

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// visualLine is a line of words from left to right at a left edge and a top.
type visualLine struct {
	left, top int
	text      string
}

// laidOut returns the text of a page of lines as poppler prints them.
func laidOut(t *testing.T, lines ...visualLine) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(`<page width="600" height="800">`)
	for _, l := range lines {
		b.WriteString("<line>")
		left := float64(l.left)
		for w := range strings.FieldsSeq(l.text) {
			right := left + 5*float64(len([]rune(w)))
			fmt.Fprintf(&b, `<word xMin="%g" yMin="%d" xMax="%g" yMax="%d">%s</word>`, left, l.top, right, l.top+12, w)
			left = right + 3
		}
		b.WriteString("</line>")
	}
	b.WriteString("</page>")
	var texts []string
	d := newDocument(1, func(b extract.Block) error { texts = append(texts, b.Text); return nil })
	err := readWords(strings.NewReader(b.String()), 1, func(p *page) error {
		p.mirror()
		return d.add(t.Context(), p)
	})
	if err == nil {
		err = d.flush(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(texts, "\n")
}

// english is more Latin words than any of the lines from right to left has.
func english(top int) []visualLine {
	return []visualLine{
		{72, top, "The tenant pays the rent on the first day of each month, and the landlord"},
		{72, top + 14, "keeps the house in good order. Either of them may end the contract early."},
	}
}

// A line from right to left reads so on an English page, too: its numbers stay with their nouns.
func TestRightToLeftLinesOfEnglishPages(t *testing.T) {
	t.Parallel()
	for visual, want := range map[string]string{
		"دقع ىلع 2024 ةنسل 12 مقر نوناقلا نم 5 ةداملا قبطت": "تطبق المادة 5 من القانون رقم 12 لسنة 2024 على عقد",
		".2024 תנש לש 12 קוח יפל 5 ףיעס לח":                 "חל סעיף 5 לפי חוק 12 של שנת 2024.",
		"%3.5 תיביר לע 4.500,00 םולשת":                      "תשלום 4.500,00 על ריבית 3.5%",
		"12/5 דע 10-20 ןיב +49 30 ןופלט":                    "טלפון +49 30 בין 10-20 עד 12/5",
		")12 ףיעס( 5 קוח":                                   "חוק 5 (סעיף 12)",
		"(5) ףיעסב רומאכ 12 קוח":                            "חוק 12 כאמור בסעיף (5)",
		"הנשל 3.5% לש תיביר 12 ףיעס":                        "סעיף 12 ריבית של 3.5% לשנה",
		".)ABC( 2024 תנש 12 קוח":                            "חוק 12 שנת 2024 (ABC).",
		"13 ,12 םיפיעס יפל":                                 "לפי סעיפים 12, 13",
		"7 קרפ Deep Learning לע 3 רמאמ":                     "מאמר 3 על Deep Learning פרק 7",
	} {
		between := laidOut(t, slices.Concat(english(72), []visualLine{{72, 120, visual}}, english(150))...)
		if !strings.Contains(between, "\n"+want+"\n") {
			t.Errorf("between English lines %q reads\n%s\nwant %q", visual, between, want)
		}
		beside := laidOut(t, slices.Concat(english(72), english(100), []visualLine{
			{72, 150, "Article 5 of the law applies"}, {330, 150, visual}, {72, 164, "to this contract of the two"}, {330, 164, visual},
		})...)
		if !strings.Contains(beside, want) {
			t.Errorf("beside English lines %q reads\n%s\nwant %q", visual, beside, want)
		}
	}
}

// An English line keeps its order around right-to-left words, and these keep theirs.
func TestRightToLeftWordsOfEnglishLines(t *testing.T) {
	t.Parallel()
	for visual, want := range map[string]string{
		"Her name is םולש and she lives at 12 High Street": "Her name is שלום and she lives at 12 High Street",
		"The word בר םולש means peace in 2 languages":      "The word שלום רב means peace in 2 languages",
		"It fell under the law תנש 12 קוח of the state":    "It fell under the law חוק 12 שנת of the state",
		"They say (םולש) and םולש, then leave":             "They say (שלום) and שלום, then leave",
		"They say hello (בר םולש). Then they leave":        "They say hello (שלום רב). Then they leave",
		"Peace: םולכ רבדל תדמוע תכרבמ":                     "Peace: מברכת עומדת לדבר כלום",
		"Peace םולכ רבדל תדמוע.":                           "Peace עומדת לדבר כלום.",
		"She wrote 'חר for a street":                       "She wrote רח' for a street",
	} {
		if got := laidOut(t, slices.Concat(english(72), []visualLine{{72, 120, visual}}, english(150))...); !strings.Contains(got, want) {
			t.Errorf("%q reads\n%s\nwant %q", visual, got, want)
		}
	}
}

// Lines from right to left below English ones are another paragraph, however near they are.
func TestDirectionPartsParagraphs(t *testing.T) {
	t.Parallel()
	got := laidOut(t, slices.Concat(english(72), []visualLine{
		{72, 100, "The law that both of them obey is the one of the state in which they live."},
		{140, 114, "12 קוח יפל הרישה תא רשא וניאר לבא ונייה םש"},
		{330, 128, "םע ףיעס יפל ונחנא"},
		{383, 142, ".)7 ,6"},
		{72, 156, "The tenant pays the rent on the first day of each month, and the landlord"},
	})...)
	if want := "live.\nשם היינו אבל ראינו אשר את השירה לפי חוק 12 אנחנו לפי סעיף עם 6, 7).\nThe tenant"; !strings.Contains(got, want) {
		t.Errorf("got\n%s\nwant %q", got, want)
	}
}

// A list's markers stay before items from right to left.
func TestRightToLeftItemsOfEnglishPages(t *testing.T) {
	t.Parallel()
	for visual, want := range map[string]string{
		"• 12 קוח יפל": "לפי חוק 12", "2. 12 קוח יפל": "לפי חוק 12", "12 קוח יפל •": "• לפי חוק 12",
	} {
		got := laidOut(t, slices.Concat(english(72), []visualLine{{72, 130, visual}, {72, 144, visual}})...)
		if !strings.Contains(got, want+"\n") && !strings.HasSuffix(got, want) {
			t.Errorf("%q reads\n%s\nwant %q", visual, got, want)
		}
	}
}

// Words that an engine read from an image are in order, and their lines run from right to left, too.
func TestRightToLeftLinesOfImages(t *testing.T) {
	t.Parallel()
	line := func(top float64, words ...string) Line {
		l := make(Line, len(words))
		for i, w := range words {
			left := 0.1 + 0.08*float64(i)
			if hasRightToLeft(words[0]) {
				left = 0.9 - 0.08*float64(i)
			}
			l[i] = Word{w, extract.Box{Left: left, Top: top, Right: left + 0.07, Bottom: top + 0.012}}
		}
		return l
	}
	var texts []string
	layout := NewLayout(1, func(b extract.Block) error { texts = append(texts, b.Text); return nil })
	err := layout.Add(t.Context(), 1, 600, 800, Reading{Lines: []Line{
		line(0.1, strings.Fields("The tenant pays the rent on the first")...), line(0.12, strings.Fields("day of each month to the landlord.")...),
		line(0.2, strings.Fields("חל סעיף 5 לפי חוק 12.")...),
	}})
	if err == nil {
		err = layout.Flush(t.Context())
	}
	if got := strings.Join(texts, "\n"); err != nil || !strings.HasSuffix(got, "\nחל סעיף 5 לפי חוק 12.") {
		t.Errorf("got %q, %v", got, err)
	}
}
