package xml

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
	if counted == 0 && said.Problem == "" {
		c.Findings = append(c.Findings, finding{Problem: "the model takes every number that the gateway read for a code"})
	}
	c.rate(counted, borne, wrong, bound)
	return c
}

// rate lowers the model's verdict and confidence to what the document bears out: nothing of an empty reading.
func (c *check) rate(counted, borne int, wrong bool, bound float64) {
	share := 0.0
	if counted > 0 {
		share = float64(borne) / float64(counted)
	}
	c.Confidence = min(c.Confidence, share)
	switch {
	case c.Verdict != agrees:
	case counted == 0:
		c.Verdict = unsure
	case wrong:
		c.Verdict = differs
	}
	if c.Verdict != agrees {
		c.Confidence = min(c.Confidence, bound*share/2)
	}
}

// examine returns what is wrong with a value; nil: the page bears it out. hard: the gateway's reading can't be used.
func (x index) examine(l leaf, said field) (found *finding, hard bool) {
	f := &finding{Path: l.path, Value: l.value, Page: said.Page}
	if said.Page >= 1 && said.Page <= len(x.pages) && x.on(said.Page, l) {
		if said.Value == "" || l.same(said.Value) {
			return nil, false
		}
		f.Stated, f.Problem = said.Value, "the model reads another value in the document"
		return f, true
	}
	for page := 1; page <= len(x.pages); page++ {
		if x.on(page, l) {
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
	if said.Value != "" && !l.same(said.Value) {
		f.Stated = said.Value
	}
	return f, true
}
