package agent

import (
	"context"
	"fmt"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

func (r *run) readChunks(ctx context.Context, raw string, out *result) error {
	args := struct {
		IDs        []string `json:"ids"`
		Neighbours int      `json:"neighbours"`
		From       int      `json:"from"`
	}{}
	if err := arguments(raw, &args, `{"ids": ["7f0c…"], "neighbours": 1}`); err != nil {
		return err
	}
	switch {
	case len(args.IDs) == 0 || len(args.IDs) > 20:
		return mistaken("ids has %d entries: give 1 to 20 chunk ids", len(args.IDs))
	case args.Neighbours < 0 || args.Neighbours > 3:
		return mistaken("neighbours is %d: it is 0 to 3", args.Neighbours)
	case args.From < 0 || args.From > 0 && (len(args.IDs) > 1 || args.Neighbours > 0):
		return mistaken("from is %d: it goes on in one passage, without neighbours, where a result was cut", args.From)
	}
	passages, err := r.deps.Store.Passages(ctx, store.PassageQuery{
		DocumentSet: r.payload.DocumentSet, IDs: args.IDs, Around: args.Neighbours, Limit: 200,
	})
	if err != nil {
		return fmt.Errorf("read passages: %w", err)
	}
	there := map[string]bool{}
	for _, p := range passages {
		there[p.ChunkID] = true
	}
	for i, p := range passages {
		if !r.show(out, p, args.From) {
			out.note("%s left out for room: read them with another call: %s", plural(len(passages)-i, "passage"),
				strings.Join(ids(passages[i:]), " "))
			break
		}
	}
	var missing []string
	for _, id := range args.IDs {
		if !there[id] {
			missing = append(missing, fmt.Sprintf("%q", clip(id, 40)))
		}
	}
	if len(missing) > 0 {
		out.note("there is no such chunk: %s. Use ids of other results, whole.", strings.Join(missing, ", "))
	}
	return nil
}

func ids(passages []store.Passage) (all []string) {
	for _, p := range passages {
		all = append(all, p.ChunkID)
	}
	return all
}

func (r *run) outline(ctx context.Context, raw string, out *result) error {
	args := struct {
		Document string `json:"document"`
	}{}
	if err := arguments(raw, &args, `{"document": "report.pdf"}`); err != nil {
		return err
	}
	d, err := r.document(ctx, args.Document)
	if err != nil {
		return err
	}
	out.add(r.entry(d.DocumentEntry))
	if len(d.Headings) == 0 {
		out.note("it has no headings: search in it, or grep")
	}
	for i, h := range d.Headings {
		line := fmt.Sprintf("%s %s", strings.Repeat("#", min(max(h.Level, 1), 6)), attribute(h.Text))
		if h.Page > 0 {
			line += fmt.Sprintf(" page=%d", h.Page)
		}
		if h.ChunkID != "" {
			line += " chunk_id=" + attribute(h.ChunkID)
		}
		if !out.add(line + "\n") {
			out.note("%s more left out for room: grep for what you look for", plural(len(d.Headings)-i, "heading"))
			break
		}
	}
	return nil
}

// document returns the document within the scope that a name means.
func (r *run) document(ctx context.Context, name string) (store.DocumentOutline, error) {
	if strings.TrimSpace(name) == "" {
		return store.DocumentOutline{}, mistaken(
			"document is empty: give a document_id or a file's name; list_documents shows them")
	}
	all, err := r.deps.Store.Outlines(ctx, r.payload.DocumentSet, name)
	switch {
	case err != nil:
		return store.DocumentOutline{}, fmt.Errorf("look for the document: %w", err)
	case len(all) == 0:
		return store.DocumentOutline{}, mistaken("there is no document %q; list_documents shows them", clip(name, 100))
	case len(all) > 1:
		var which []string
		for _, d := range all {
			which = append(which, fmt.Sprintf("%s (set %s)", d.DocumentID, attribute(d.DocumentSet)))
		}
		return store.DocumentOutline{}, mistaken("%d documents have this name: give the document_id of one: %s",
			len(all), strings.Join(which, ", "))
	}
	return all[0], nil
}

// entry describes a document on one line.
func (r *run) entry(d store.DocumentEntry) string {
	line := fmt.Sprintf("document_id=%s file=%s", attribute(d.DocumentID), attribute(d.Filename))
	if r.payload.DocumentSet == "" {
		line += " set=" + attribute(d.DocumentSet)
	}
	if d.Title != "" {
		line += " title=" + attribute(d.Title)
	}
	if d.Pages > 0 {
		line += fmt.Sprintf(" pages=%d", d.Pages)
	}
	return line + fmt.Sprintf(" chunks=%d\n", d.Chunks)
}

func (r *run) listDocuments(ctx context.Context, raw string, out *result) error {
	args := struct {
		Filter string `json:"filter"`
		Page   *int   `json:"page"`
	}{}
	if strings.TrimSpace(raw) == "" {
		raw = "{}"
	}
	if err := arguments(raw, &args, `{"filter": "report", "page": 1}`); err != nil {
		return err
	}
	const size, most = 50, 1000
	page := 1
	if args.Page != nil {
		page = *args.Page
	}
	if page < 1 || page > most/size {
		return mistaken("page is %d: it is 1 to %d; narrow the list by a filter", page, most/size)
	}
	all, err := r.deps.Store.Documents(ctx, store.DocumentQuery{
		DocumentSet: r.payload.DocumentSet, Filter: clip(args.Filter, 200), Limit: min(page*size+1, most),
	})
	if err != nil {
		return fmt.Errorf("list documents: %w", err)
	}
	first := (page - 1) * size
	if first >= len(all) {
		out.note("there are no documents on this page; all of them are %d", len(all))
		return nil
	}
	for _, d := range all[first:min(first+size, len(all))] {
		if !out.add(r.entry(d)) {
			out.note("there are more: narrow the list by a filter")
			return nil
		}
	}
	switch {
	case len(all) > first+size:
		out.note("there are more: ask for page %d, or narrow the list by a filter", page+1)
	case len(all) == most:
		out.note("the list ends at %d documents, and there may be more: narrow it by a filter", most)
	}
	return nil
}
