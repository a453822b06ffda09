package chart_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// levels is a series with categories of several levels, the innermost first. Each level is a list of c:pt.
func levels(values int, all ...string) string {
	return ser("a", `<c:cat><c:multiLvlStrRef><c:multiLvlStrCache><c:lvl>`+strings.Join(all, `</c:lvl><c:lvl>`)+
		`</c:lvl></c:multiLvlStrCache></c:multiLvlStrRef></c:cat>`, data("val", strings.Split(strings.Repeat("1 ", values), " ")[:values]...))
}

func pt(index int, text string) string {
	return fmt.Sprintf(`<c:pt idx="%d"><c:v>%s</c:v></c:pt>`, index, text)
}

func TestLevels(t *testing.T) {
	t.Parallel()
	months := pt(0, "May") + pt(1, "June") + pt(2, "May") + pt(3, "June")
	long := strings.Repeat("\u00e4", 1999) + "x"
	for _, tt := range []struct{ what, chart, want string }{
		{
			"an outer text applies until the next", levels(4, months, pt(0, "2024")+pt(2, "2025")),
			",a\n2024 May,1\n2024 June,1\n2025 May,1\n2025 June,1\n",
		},
		{"an empty level", levels(2, pt(0, "May")+pt(1, "June"), "", pt(1, "2024")), ",a\nMay,1\n2024 June,1\n"},
		{
			"more than eight levels", levels(1, pt(0, "1"), pt(0, "2"), pt(0, "3"), pt(0, "4"), pt(0, "5"), pt(0, "6"), pt(0, "7"), pt(0, "8"),
				pt(0, "9")), ",a\n8 7 6 5 4 3 2 1,1\n",
		},
		{"a long outer text", levels(1, pt(0, "May"), pt(0, long+"\u00e4")), ",a\n" + long + " May,1\n"},
		{"a long inner text", levels(1, pt(0, long+long), pt(0, "2024")), ",a\n2024 " + long + long + ",1\n"},
	} {
		if got, err := read(t, tt.chart); err != nil || got != tt.want {
			t.Errorf("%s: got\n%s\n%v; want\n%s", tt.what, got, err, tt.want)
		}
	}
}

// TestTextsAreCharged: texts count as soon as they are held. One of an outer level is in the file once and in memory for each
// inner point.
func TestTextsAreCharged(t *testing.T) {
	t.Parallel()
	errSpent := errors.New("spent")
	var inner strings.Builder
	for i := range 1000 {
		inner.WriteString(pt(i, "x"))
	}
	long := strings.Repeat("z", 30_000)
	for _, tt := range []struct {
		what, chart string
		bytes       int
	}{
		{ // the name, the points, the repetitions
			"levels", levels(1000, inner.String(), pt(0, strings.Repeat("y", 99))), 1 + 1000 + 99 + 1000 + 1000*100,
		},
		{"points", ser("a", data("cat", long, long), data("val", long, "1")), 1 + 3*30_000 + 1},
		{"names", ser(long, data("val", "1")) + ser(long, data("val", "1")), 2 * 30_001},
		{"titles", strings.Repeat(`<c:title><a:p><a:t>`+long+`</a:t></a:p></c:title>`, 3), 3 * 30_000},
	} {
		for budget, want := range map[int]error{tt.bytes: nil, tt.bytes - 1: errSpent} {
			left := budget
			_, err := spending(t, tt.chart, func(bytes int) error {
				if left -= bytes; left < 0 {
					return errSpent
				}
				return nil
			})
			if !errors.Is(err, want) || left != budget-tt.bytes {
				t.Errorf("%s with %d bytes: got %v, %d bytes left", tt.what, budget, err, left)
			}
		}
	}
}
