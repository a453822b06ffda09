package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/search"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// searchParameters is the JSON schema of the arguments of the tool search.
const searchParameters = `{"type":"object","properties":{
	"query":{"type":"string","description":"what to look for"},
	"k":{"type":"integer","minimum":1,"maximum":20,"description":"how many passages at most (8)"},
	"metadata":{"type":"object","description":"only documents whose metadata has these keys and values"},
	"from":{"type":"string","description":"only documents of this day or later, as 2024-12-31"},
	"to":{"type":"string","description":"only documents of this day or earlier"},
	"language":{"type":"string","description":"only documents in this language, as en"},
	"per_document":{"type":"integer","minimum":1,"maximum":20,"description":"how many passages of one document at most"},
	"expand":{"type":"integer","minimum":0,"maximum":3,"description":"how many passages before and after each, under its heading, to read as well (0)"}},
	"required":["query"],"additionalProperties":false}`

// searchArguments are the arguments of the tool search.
type searchArguments struct {
	Query       string         `json:"query"`
	K           *int           `json:"k"`
	Metadata    store.Metadata `json:"metadata"`
	From        string         `json:"from"`
	To          string         `json:"to"`
	Language    string         `json:"language"`
	PerDocument *int           `json:"per_document"`
	Expand      int            `json:"expand"`
}

// query checks the arguments.
func (a searchArguments) query() (q search.Query, err error) {
	q = search.Query{Text: strings.TrimSpace(a.Query), Limit: 8, Expand: a.Expand}
	if a.K != nil {
		q.Limit = *a.K
	}
	if a.PerDocument != nil {
		q.PerDocument = *a.PerDocument
	}
	switch {
	case q.Text == "":
		return q, mistaken("query is empty: say what to look for")
	case len(q.Text) > 4<<10:
		return q, mistaken("query has %d bytes: a few words or a question will do", len(q.Text))
	case q.Limit < 1 || q.Limit > 20:
		return q, mistaken("k is %d: it is 1 to 20", q.Limit)
	case a.PerDocument != nil && (q.PerDocument < 1 || q.PerDocument > 20):
		return q, mistaken("per_document is %d: it is 1 to 20", q.PerDocument)
	case q.Expand < 0 || q.Expand > 3:
		return q, mistaken("expand is %d: it is 0 to 3", q.Expand)
	}
	from, err := dayOf("from", a.From)
	if err != nil {
		return q, err
	}
	to, err := dayOf("to", a.To)
	if err != nil {
		return q, err
	}
	if to != nil {
		end := to.AddDate(0, 0, 1).Add(-time.Second)
		to = &end
	}
	q.Within = search.Narrowed(a.Metadata, from, to, a.Language)
	return q, wrongQuery(q.Check())
}

// wrongQuery is a search.InvalidError as the model's mistake; other errors stay.
func wrongQuery(err error) error {
	if bad, ok := errors.AsType[*search.InvalidError](err); ok {
		return mistaken("%v", bad)
	}
	return err
}

// dayOf is the day that an argument names; nil: it names none.
func dayOf(name, text string) (*time.Time, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // an argument may be left out
	}
	d, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return nil, mistaken("%s is %q: write a day as 2024-12-31", name, clip(text, 40))
	}
	return &d, nil
}

func (r *run) search(ctx context.Context, raw string, out *result) error {
	var args searchArguments
	if err := arguments(raw, &args, `{"query": "notice period", "k": 8}`); err != nil {
		return err
	}
	q, err := args.query()
	if err != nil {
		return err
	}
	found, err := r.find(ctx, q)
	if errors.Is(err, store.ErrValue) && len(args.Metadata) > 0 {
		return mistaken("metadata has a value that can't be searched for, such as a number of too many digits")
	}
	if err != nil {
		return wrongQuery(err)
	}
	if found.Notice != "" {
		out.note("%s", found.Notice)
	}
	if len(found.Hits) > 0 && !slices.ContainsFunc(found.Hits, func(h search.Hit) bool { return h.Matched }) {
		out.note("no passage has a word of the query; these are only near it in meaning, and may be about something " +
			"else")
	}
	for i, h := range found.Hits {
		for _, p := range slices.Concat(h.Before, []store.Passage{passageOf(h)}, h.After) {
			if !r.show(out, p, 0) {
				rest := passagesOf(found.Hits[i:])
				out.note("%s more found, left out for room: ask for fewer, or read them with read_chunks: %s",
					plural(len(rest), "passage"), strings.Join(ids(rest), " "))
				return nil
			}
		}
		if names := copiesOf(h); names != "" {
			out.note("the same text is in %s", names)
		}
	}
	if len(found.Hits) == 0 {
		out.note("nothing was found. Try other words; list_documents shows what there is.")
	}
	return nil
}

// mostCopies is how many documents with the text of a passage are named.
const mostCopies = 5

// copiesOf names the documents that have a hit's text, too.
func copiesOf(h search.Hit) string {
	var names []string
	for _, c := range h.AlsoIn[:min(len(h.AlsoIn), mostCopies)] {
		names = append(names, attribute(c.Filename))
	}
	if more := len(h.AlsoIn) - mostCopies; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

// find searches within the scope.
func (r *run) find(ctx context.Context, q search.Query) (search.Found, error) {
	q.DocumentSet, q.Unmarked = r.payload.DocumentSet, true
	found, err := r.deps.Find(ctx, r.deps.Store, q)
	if err != nil {
		return search.Found{}, fmt.Errorf("search: %w", err)
	}
	return found, nil
}

func passagesOf(hits []search.Hit) []store.Passage {
	all := make([]store.Passage, len(hits))
	for i, h := range hits {
		all[i] = passageOf(h)
	}
	return all
}

func passageOf(h search.Hit) store.Passage {
	return store.Passage{
		ChunkID: h.ChunkID, DocumentID: h.DocumentID, DocumentSet: h.DocumentSet, Filename: h.Filename,
		Version: h.Version, Content: h.Content, HeadingPath: h.HeadingPath, Pages: h.Pages, Kind: h.Kind,
	}
}
