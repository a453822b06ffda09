package dashboard

import (
	"context"
	"encoding/json"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/internal/api"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

const (
	mostQuery  = 2_000 // bytes
	mostHits   = 20
	hitExcerpt = 900 // runes of a hit that are shown
	hitBefore  = 200 // of them before the first word that is marked, if it comes late
)

// searchPage is what the page of the search shows.
type searchPage struct {
	Text, Set string
	Sets      []store.DocumentSet
	Asked     bool
	Hits      []hit
	Notice    string // what to know of their order
	Error     string // why the search did not work
}

// hit is a passage that was found, with its place in each leg of the search.
type hit struct {
	store.Hit
	Words, Meaning leg
	AlsoIn         []string      // files that have the same text
	Marked         template.HTML // its text with the question's words marked: of a long one the part around the first of them
}

// leg is what a part of the search says of a hit.
type leg struct {
	Place int // from 1; zero: it is not among the best of this leg
	Score float64
}

// Points is the score as a number from 0 to 1, with two digits.
func (l leg) Points() string { return fmt.Sprintf("%.2f", l.Score) }

// rankedBy is a hit with its places in the legs.
func rankedBy(h store.Hit, legs api.Legs) hit {
	of := func(all []store.Hit, score func(store.Hit) float64) leg {
		i := slices.IndexFunc(all, func(o store.Hit) bool { return o.ChunkID == h.ChunkID })
		if i < 0 {
			return leg{}
		}
		return leg{i + 1, score(all[i])}
	}
	return hit{
		Hit: h, Words: of(legs.Words, func(h store.Hit) float64 { return h.Score }),
		Meaning: of(legs.Meaning, func(h store.Hit) float64 { return h.Similarity }),
	}
}

// search shows what was found. An error is a part of the page: another one may show only the hits of it.
func (p *page) search() error {
	ctx, cancel := p.ctx()
	defer cancel()
	values := p.r.URL.Query()
	v := searchPage{Text: strings.TrimSpace(values.Get("q")), Set: values.Get("set")}
	var err error
	if v.Sets, err = p.by.Reader(ctx).DocumentSets(ctx, mostDocuments); err == nil && v.Text != "" {
		err = p.find(ctx, &v)
	}
	if err != nil {
		v.Error = p.by.Describe(ctx, "search", err).Detail
	}
	return p.show("search", "Search", "search", v)
}

// find searches for what a page asks, and gives the page what was found.
func (p *page) find(ctx context.Context, v *searchPage) error {
	v.Asked = true
	if len(v.Text) > mostQuery {
		return bad(fmt.Sprintf("The question has %d bytes, and may have %d: ask with fewer words.", len(v.Text), mostQuery))
	}
	found, legs, err := p.by.SearchLegs(ctx, api.Question{Query: v.Text, DocumentSet: v.Set, Limit: mostHits})
	if err != nil {
		return err
	}
	v.Notice = found.Notice
	for _, h := range found.Hits {
		shown := rankedBy(h.Hit, legs)
		shown.Marked = template.HTML(h.Excerpt(hitExcerpt, hitBefore)) //nolint:gosec // each word is escaped
		for _, c := range h.AlsoIn {
			shown.AlsoIn = append(shown.AlsoIn, c.Filename)
		}
		v.Hits = append(v.Hits, shown)
	}
	return nil
}

// askPage is what the form for a question shows.
type askPage struct {
	Set     string
	Sets    []store.DocumentSet
	Key     string // makes the form's second sending the same job
	Prompt  string
	Problem string // what is wrong with it
}

func (p *page) askForm() error {
	ctx, cancel := p.ctx()
	defer cancel()
	sets, err := p.by.Reader(ctx).DocumentSets(ctx, mostDocuments)
	if err != nil {
		return err
	}
	v := askPage{Set: p.r.URL.Query().Get("set"), Sets: sets, Key: uuid.NewString()}
	return p.show("ask", "Ask", "ask", v)
}

// ask submits a job of the agent, and shows it: the answer appears there as it is written. After an error the form has
// what was written.
func (p *page) ask() error {
	v := askPage{
		Prompt: strings.TrimSpace(p.r.PostFormValue("prompt")), Set: p.r.PostFormValue("set"), Key: clip(p.r.PostFormValue("key"), 100),
	}
	j, err := p.submitQuestion(v)
	if err == nil {
		return p.goTo("jobs/"+j.ID, "")
	}
	known := p.problem(err)
	v.Problem = known.Detail
	if known.Code == "IDEMPOTENCY_CONFLICT" {
		v.Key, v.Problem = uuid.NewString(), "This form was sent before with another question. Send it again to ask this one, too."
	}
	ctx, cancel := p.ctx()
	defer cancel()
	if v.Sets, err = p.by.Reader(ctx).DocumentSets(ctx, mostDocuments); err != nil && v.Set != "" {
		v.Sets = []store.DocumentSet{{Name: v.Set}} // the one that was chosen stays
	}
	return p.send(known.Status, "ask", p.view("Ask", "ask", v))
}

func (p *page) submitQuestion(v askPage) (api.Job, error) {
	if v.Prompt == "" {
		return api.Job{}, bad("There is no question.")
	}
	payload := map[string]string{"prompt": v.Prompt}
	if v.Set != "" {
		payload["document_set"] = v.Set
	}
	raw, err := json.Marshal(payload)
	if err != nil {
		return api.Job{}, err
	}
	return p.by.Submit(p.r.Context(), api.NewJob{Type: "agent", Payload: api.Object(raw)}, v.Key)
}
