package summarize

import (
	"fmt"
	"slices"
	"sync"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/enrich"
	"github.com/seed-7227ef26/async-worker/internal/evidence"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// Result is the result of the contract and some more; the store adds summary_id.
type Result struct {
	Filename         string     `json:"filename"`          // as the task names it
	Summary          string     `json:"summary"`           // the text
	KeyPoints        []KeyPoint `json:"key_points"`        // what the document says, each with its passages
	Model            string     `json:"model"`             // that wrote it
	PromptTokens     int        `json:"prompt_tokens"`     // that this task paid for, in all its attempts
	CompletionTokens int        `json:"completion_tokens"` // likewise

	Style Style `json:"style"` // as requested
	// of the summary, as requested, or as it is; und: it can't be told
	Language   string `json:"language"`
	Words      int    `json:"words"`           // of the summary
	Cut        bool   `json:"cut"`             // to max_words, after a sentence
	Title      string `json:"title,omitempty"` // that the document states, or its first heading
	Pages      int    `json:"pages"`           // of the document; 0: the format has none
	Extractive bool   `json:"extractive"`      // sentences of the document, chosen without a model
	// of the summary: what the passages that its key points cite don't bear out
	Unverified    []Claim   `json:"unverified"`
	LeftOut       []LeftOut `json:"left_out"`           // of the document
	Parts         int       `json:"parts"`              // that the summary was made in
	PartsReused   int       `json:"parts_reused"`       // whose answers another task had paid for
	ContentSHA256 string    `json:"content_sha256"`     // of the document's bytes
	Extractor     string    `json:"extractor"`          // what read the document, e.g. native/pdf
	Warnings      []string  `json:"warnings,omitempty"` // what a reader of the summary should know
}

// KeyPoint is a statement with what it is taken from.
type KeyPoint struct {
	Text       string     `json:"text"`                 // the statement
	Pages      []int      `json:"pages"`                // ascending; empty: the format has none
	Citations  []Citation `json:"citations"`            // the passages that it is taken from
	Unverified []Claim    `json:"unverified,omitempty"` // what the cited passages don't bear out
}

// Citation is a passage of the document.
type Citation struct {
	ChunkKey string `json:"chunk_key"`         // of the same chunk, when the document is in the index
	Pages    []int  `json:"pages"`             // ascending; empty: the format has none
	Heading  string `json:"heading,omitempty"` // from the top heading down
}

// Claim is a number or a quotation that is not in the passages that it should be in.
type Claim struct {
	Kind       evidence.Kind `json:"kind"`        // number or quotation
	Text       string        `json:"text"`        // the number or quotation
	InDocument bool          `json:"in_document"` // it is elsewhere in the document
}

// LeftOut is a part of the document of which the summary says nothing.
type LeftOut struct {
	Heading string `json:"heading,omitempty"` // its heading
	Pages   []int  `json:"pages"`             // its pages; empty: the format has none
	Reason  string `json:"reason"`            // why
}

// maxCitations limits the passages that one key point cites.
const maxCitations = 12

// result makes the result of the last call's notes.
func (w *work) result(n notes) Result {
	r := w.blank()
	r.Summary = n.Summary
	places := map[string]int{} // of passages by hash: the first one with the text
	for i := len(w.doc.passages) - 1; i >= 0; i-- {
		places[w.doc.passages[i].hash] = i
	}
	var cited []int
	for _, p := range n.Points {
		var at []int
		for _, hash := range p.Passages {
			if i, there := places[hash]; there {
				at = append(at, i)
			}
		}
		slices.Sort(at)
		r.KeyPoints = append(r.KeyPoints, w.keyPoint(p.Text, at))
		cited = append(cited, at...)
	}
	r.LeftOut = w.leftOut(n.Omitted, places)
	w.settle(&r)
	r.Unverified = w.unverified(r.Summary, cited)
	if len(r.LeftOut) > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d parts of the document are not in the summary, see left_out",
			len(r.LeftOut)))
	}
	return r
}

// blank returns a result with what is known about the document.
func (w *work) blank() Result {
	return Result{
		Filename: w.payload.Filename, KeyPoints: []KeyPoint{}, Style: w.payload.Style, Title: w.doc.title,
		Pages:      w.doc.info.Pages,
		Unverified: []Claim{}, LeftOut: []LeftOut{}, ContentSHA256: w.doc.sha256, Extractor: w.doc.info.Extractor,
		Warnings: slices.Clone(w.doc.warnings),
	}
}

// keyPoint returns a statement about passages.
func (w *work) keyPoint(text string, passages []int) KeyPoint {
	k := KeyPoint{
		Text: text, Pages: w.pages(passages), Citations: []Citation{}, Unverified: w.unverified(text, passages),
	}
	for _, i := range passages[:min(len(passages), maxCitations)] {
		p := w.doc.passages[i]
		k.Citations = append(k.Citations, Citation{p.key, orEmpty(p.pages), headingOf(p.heading)})
	}
	if len(k.Unverified) == 0 {
		k.Unverified = nil
	}
	return k
}

func (w *work) pages(passages []int) []int {
	pages := []int{}
	for _, i := range passages {
		pages = append(pages, w.doc.passages[i].pages...)
	}
	slices.Sort(pages)
	return slices.Compact(pages)
}

func orEmpty(pages []int) []int {
	if pages == nil {
		return []int{}
	}
	return pages
}

// unverified returns the claims in a text that passages don't support.
func (w *work) unverified(text string, passages []int) []Claim {
	texts := make([]string, 0, len(passages))
	for _, i := range slices.Compact(slices.Sorted(slices.Values(passages))) {
		texts = append(texts, headingOf(w.doc.passages[i].heading), w.doc.passages[i].text)
	}
	claims := []Claim{}
	missing := evidence.NewSource(texts...).Unsupported(text)
	if len(missing) == 0 {
		return claims
	}
	nowhere := w.doc.all().Unsupported(text)
	for _, c := range missing {
		claims = append(claims, Claim{c.Kind, c.Text, !slices.Contains(nowhere, c)})
	}
	return claims
}

// whole returns the index of all of a document's text, made on first use.
type whole struct {
	once   sync.Once
	source *evidence.Source
}

func (d *document) all() *evidence.Source {
	d.whole.once.Do(func() {
		texts := make([]string, len(d.passages))
		for i, p := range d.passages {
			texts[i] = p.text
		}
		d.whole.source = evidence.NewSource(texts...)
	})
	return d.whole.source
}

func (w *work) leftOut(omitted []run, places map[string]int) []LeftOut {
	out := []LeftOut{}
	for _, o := range omitted {
		first, there := places[o.First]
		if !there {
			continue
		}
		last := max(first, places[o.Last])
		var all []int
		for i := first; i <= last; i++ {
			all = append(all, i)
		}
		out = append(out, LeftOut{headingOf(w.doc.passages[first].heading), w.pages(all), o.Reason})
	}
	return out
}

// settle brings a summary into the requested form as far as possible without a model, and warns about the rest.
func (w *work) settle(r *Result) {
	if r.Style == Bullets {
		r.Summary = bulleted(r.Summary, w.deps.Extracts.Sentences)
	}
	if most := w.payload.MaxWords; most != nil && words(r.Summary) > *most {
		r.Summary, r.Cut = cutTo(r.Summary, *most, w.deps.Extracts.Sentences), true
		r.Warnings = append(r.Warnings, fmt.Sprintf("the summary was longer than %d words, and is cut", *most))
	}
	r.Words = words(r.Summary)
	found := enrich.Detect(r.Summary).Code
	r.Language = found
	switch want := w.payload.Language; {
	case want != "" && (found == enrich.Unknown || sameLanguage(found, want)):
		r.Language = want
	case want != "":
		r.Warnings = append(r.Warnings, fmt.Sprintf("the summary should be in %s, and seems to be in %s",
			languageName(want), languageName(found)))
	case found == enrich.Unknown:
		r.Language = w.doc.language
	}
}

// outcome returns the result, and the row for the commit of the job's success.
func (w *work) outcome(r Result) handlers.Outcome {
	out := handlers.Outcome{Result: r, Effects: []store.Effect{{Kind: store.EffectSaveSummary, Args: store.Summary{
		Filename: r.Filename, Blob: w.payload.Blob, SourceSHA256: r.ContentSHA256, Summary: r.Summary,
		KeyPoints: r.KeyPoints,
		Model:     r.Model, Style: string(r.Style), Language: r.Language, MaxWords: w.payload.MaxWords,
		Extractive: r.Extractive,
		Unverified: r.Unverified, LeftOut: r.LeftOut, PromptTokens: r.PromptTokens,
		CompletionTokens: r.CompletionTokens,
	}}}}
	if w.deps.Chat != nil && !w.asked.Load() {
		out.Unused = append(out.Unused, taskerr.Chat)
	}
	if d := w.deps.ExtractorNeeds; d != "" && w.doc.info.Service != d {
		out.Unused = append(out.Unused, d)
	}
	return out
}
