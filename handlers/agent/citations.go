package agent

import (
	"context"
	"fmt"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// maxCitations is how many citations of an answer are taken.
const maxCitations = 100

type cited struct {
	ChunkID string `json:"chunk_id"`
	Quote   string `json:"quote"`
}

// verify keeps the citations that hold: their chunks were read in this run and still exist, and contain the quotes.
// It reports what is wrong with the others.
func (r *run) verify(ctx context.Context, a *answer, all []cited) (wrong []string, err error) {
	taken := all[:min(len(all), maxCitations)]
	chunks, err := r.citable(ctx, taken)
	if err != nil {
		return nil, err
	}
	kept := map[int]int{} // the model's number of a citation, from 1, to its new number
	for i, c := range taken {
		p, there := chunks[c.ChunkID]
		if !there {
			wrong = append(wrong, fmt.Sprintf("citation %d: the chunk %q was not read in this run: cite what you read",
				i+1, clip(c.ChunkID, 40)))
			continue
		}
		quote, found := locate(p.Content, c.Quote)
		if !found {
			wrong = append(wrong, fmt.Sprintf(
				"citation %d: its quote does not occur in the chunk: copy a part of it word for word, with "+
					"whole words and numbers, without leaving anything out", i+1))
			continue
		}
		a.citations = append(a.citations, citation(p, quote))
		kept[i+1] = len(a.citations)
	}
	if len(all) > maxCitations {
		wrong = append(wrong, fmt.Sprintf("there are %d citations: give at most %d", len(all), maxCitations))
		a.warnings = append(a.warnings, fmt.Sprintf("%s left out: there are more than %d",
			plural(len(all)-maxCitations, "citation"), maxCitations))
	}
	if n := len(taken) - len(a.citations); n > 0 {
		a.warnings = append(a.warnings, plural(n, "citation")+
			" could not be verified, and left out: what the answer says there rests on nothing that was read")
	}
	if a.dropped = len(all) - len(a.citations); a.dropped > 0 {
		r.renumber(a, kept, len(all))
	} else if len(all) == 0 {
		a.warnings = append(a.warnings, "the answer cites nothing")
	}
	return wrong, nil
}

// renumber makes the references in an answer those to its kept citations. An answer that would then not conform to
// response_schema keeps them.
func (r *run) renumber(a *answer, kept map[int]int, all int) {
	value := renumber(a.value, kept, all)
	if r.payload.shape != nil {
		if wrong, err := r.payload.shape.check(value); len(wrong) > 0 || err != nil {
			a.warnings = append(a.warnings, "the numbers in the answer are those of before citations were left out: with "+
				"others it would not conform to response_schema")
			return
		}
	}
	a.value = value
}

// citable returns the cited chunks that were read, by id.
func (r *run) citable(ctx context.Context, all []cited) (map[string]store.Passage, error) {
	var read []string
	for _, c := range all {
		if _, ok := r.state.Read[c.ChunkID]; ok {
			read = append(read, c.ChunkID)
		}
	}
	chunks := map[string]store.Passage{}
	if len(read) == 0 {
		return chunks, nil
	}
	passages, err := r.deps.Store.Passages(ctx, store.PassageQuery{
		DocumentSet: r.payload.DocumentSet, IDs: read, Limit: 200,
	})
	if err != nil {
		return nil, fmt.Errorf("read what the answer cites: %w", err)
	}
	for _, p := range passages {
		chunks[p.ChunkID] = p
	}
	return chunks, nil
}

func citation(p store.Passage, quote string) Citation {
	c := Citation{DocumentID: p.DocumentID, Filename: p.Filename, ChunkID: p.ChunkID, Quote: quote}
	if len(p.Pages) > 0 {
		c.Page = &p.Pages[0]
	}
	if len(p.Pages) > 1 {
		c.Pages = p.Pages
	}
	return c
}
