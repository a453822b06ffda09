package xml

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/seed-7227ef26/async-worker/internal/evidence"
)

// The verdicts.
const (
	agrees  = "agrees"
	differs = "differs"
	unsure  = "unsure"
)

// finding is something that the check found, for a person to look at.
type finding struct {
	Path    string `json:"path"`            // a JSON Pointer into the gateway's JSON
	Value   string `json:"value,omitempty"` // what the gateway read
	Page    int    `json:"page,omitempty"`  // on which the model says it is; 0: none
	Stated  string `json:"stated,omitempty"`
	Problem string `json:"problem"`
	Pages   []int  `json:"pages,omitempty"` // on which it is
}

// reading is what the model says.
type reading struct {
	Verdict    string   `json:"verdict"`
	Confidence float64  `json:"confidence"`
	Fields     []field  `json:"fields"`
	Remarks    []remark `json:"remarks"`
	Problem    string   `json:"problem,omitempty"` // why there is none
	Unseen     int      `json:"-"`                 // the first page that the model did not see; 0: it saw all
}

type field struct {
	Path  string `json:"path"`
	Value string `json:"value"`
	Page  int    `json:"page"`
	Code  bool   `json:"code"`
}

type remark struct {
	Path    string `json:"path"`
	Problem string `json:"problem"`
}

// judge holds each value of the gateway against the document. The model only points: every amount, date and number has
// to occur on the page on which the model says that it is. One that doesn't takes the confidence below bound, whatever
// the model thinks.
func judge(leaves []leaf, doc document, said reading, bound float64) check {
	c := check{Verdict: said.Verdict, Confidence: min(max(said.Confidence, 0), 1), Findings: []finding{}}
	index := newIndex(doc)
	fields := map[string]field{}
	for _, f := range said.Fields {
		fields[f.Path] = f
	}
	counted, borne, wrong := 0, 0, false
	for _, l := range leaves {
		if !l.countable() {
			continue
		}
		f, named := fields[l.path]
		if named && f.Code && l.maybeCode() {
			continue
		}
		counted++
		found, hard := index.examine(l, f)
		if found == nil {
			borne++
			continue
		}
		wrong = wrong || hard
		c.Findings = append(c.Findings, *found)
	}
	for _, r := range said.Remarks {
		c.Findings = append(c.Findings, finding{Path: r.Path, Problem: "the model: " + r.Problem})
	}
	if said.Problem != "" {
		c.Findings = append(c.Findings, finding{Problem: said.Problem})
	}
	if said.Unseen > 0 {
		c.Findings = append(c.Findings, finding{
			Page: said.Unseen, Problem: "the pages from here on are too long for the model, and it did not see them",
		})
	}
	share := 1.0
	if counted > 0 {
		share = float64(borne) / float64(counted)
	}
	c.Confidence = min(c.Confidence, share)
	if wrong && c.Verdict == agrees {
		c.Verdict = differs
	}
	if c.Verdict != agrees {
		c.Confidence = min(c.Confidence, bound*share/2)
	}
	return c
}

// index are the pages of a document, to look values up.
type index struct {
	pages   []*evidence.Source
	compact []string // letters and digits alone
}

func newIndex(doc document) index {
	var x index
	for _, text := range doc.pages {
		x.pages = append(x.pages, evidence.NewSource(text))
		x.compact = append(x.compact, compact(text))
	}
	return x
}

// examine returns what is wrong with a value; nil: the page bears it out. hard: the gateway's reading can't be used.
func (x index) examine(l leaf, said field) (found *finding, hard bool) {
	f := &finding{Path: l.path, Value: l.value, Page: said.Page}
	if said.Page >= 1 && said.Page <= len(x.pages) && x.on(said.Page, l.value) {
		if said.Value == "" || same(l.value, said.Value) {
			return nil, false
		}
		f.Stated, f.Problem = said.Value, "the model reads another value in the document"
		return f, true
	}
	for page := 1; page <= len(x.pages); page++ {
		if x.on(page, l.value) {
			f.Pages = append(f.Pages, page)
		}
	}
	switch {
	case len(f.Pages) == 0:
		f.Problem = "it is nowhere in the document"
	case said.Page > 0:
		f.Problem = "it is not on the page on which the model says it is"
	default:
		f.Problem = "the model names no page"
		return f, false
	}
	if said.Value != "" && !same(l.value, said.Value) {
		f.Stated = said.Value
	}
	return f, true
}

// on reports whether a page has a value, in any notation.
func (x index) on(page int, value string) bool {
	source := x.pages[page-1]
	if bears(source, value) {
		return true
	}
	if n, err := strconv.ParseFloat(value, 64); err == nil && n > 0 && n < 1 { // 0.19 of a rate is printed as 19 %
		if bears(source, strconv.FormatFloat(n*100, 'f', -1, 64)) {
			return true
		}
	}
	if short := compact(value); len(short) > maxCode && strings.Contains(x.compact[page-1], short) {
		return true // numbers of accounts and taxes, set in groups
	}
	return onDate(source, x.compact[page-1], value)
}

// bears reports whether a text has all numbers of a value.
func bears(s *evidence.Source, value string) bool {
	return !slices.ContainsFunc(s.Unsupported(value), func(c evidence.Claim) bool { return c.Kind == evidence.Number })
}

// same reports whether two values are the same number, date or text.
func same(a, b string) bool {
	x, y := document{[]string{a}}, document{[]string{b}}
	return compact(a) == compact(b) || newIndex(x).on(1, b) && newIndex(y).on(1, a)
}

// compact returns the letters and digits of a text, without case.
func compact(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

// months are the beginnings of the names of months in English, German, French, Spanish, Italian, Dutch and Portuguese.
var months = [...][]string{
	{"jan", "ene", "gen"},
	{"feb", "fév", "fev"},
	{"mar", "mär", "maa", "mrt"},
	{"apr", "avr", "abr"},
	{"may", "mai", "mag", "mei"},
	{"jun", "jui", "giu"},
	{"jul", "jui", "lug"},
	{"aug", "aoû", "ago"},
	{"sep", "set"},
	{"oct", "okt", "ott", "out"},
	{"nov"},
	{"dec", "dez", "déc", "dic"},
}

// onDate reports whether a page has an ISO date whose month it spells out: "3 May 2024".
func onDate(s *evidence.Source, text, value string) bool {
	if len(value) < len(time.DateOnly) {
		return false
	}
	day, err := time.Parse(time.DateOnly, value[:len(time.DateOnly)])
	if err != nil || !bears(s, strconv.Itoa(day.Year())) {
		return false
	}
	d := strconv.Itoa(day.Day())
	return slices.ContainsFunc(months[day.Month()-1], func(name string) bool {
		for _, written := range []string{d + name, d + "th" + name, d + "de" + name, d + "st" + name, d + "nd" + name, d + "rd" + name} {
			if strings.Contains(text, written) {
				return true
			}
		}
		i := strings.Index(text, name) // "May 3, 2024"
		return i >= 0 && strings.Contains(text[i:], d+strconv.Itoa(day.Year()))
	})
}
