package dashboard

import (
	"strconv"

	"golang.org/x/sync/errgroup"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

const (
	documentsPerPage = 50
	chunksPerPage    = 30
	mostDocuments    = 5_000 // that are looked at for the list of sets
)

// documentList is what the page of documents shows.
type documentList struct {
	Set, Text string
	Sets      []store.DocumentSet
	Documents []store.DocumentEntry
	Next      string
	First     bool
}

func (p *page) documents() error {
	ctx, cancel := p.ctx()
	defer cancel()
	values := p.r.URL.Query()
	after, err := placeOf[store.DocumentCursor](p.r)
	if err != nil {
		return err
	}
	list := documentList{Set: values.Get("set"), Text: clip(values.Get("q"), 200), First: after == nil}
	reader := p.by.Reader(ctx)
	var g errgroup.Group
	g.Go(func() (err error) { list.Sets, err = reader.DocumentSets(ctx, mostDocuments); return err })
	g.Go(func() (err error) {
		list.Documents, err = reader.Documents(ctx, store.DocumentQuery{
			DocumentSet: list.Set, Filter: list.Text, After: after, Details: true, Limit: documentsPerPage + 1,
		})
		return err
	})
	if err := g.Wait(); err != nil {
		return err
	}
	var more bool
	if list.Documents, more = cut(list.Documents, documentsPerPage); more {
		last := list.Documents[len(list.Documents)-1]
		list.Next = "documents" + query("set", list.Set, "q", list.Text, "after",
			cursorOf(&store.DocumentCursor{Filename: last.Filename, DocumentSet: last.DocumentSet}))
	}
	return p.show("documents", "Documents", "documents", list)
}

// documentPage is what the page of a document shows.
type documentPage struct {
	Document store.DocumentOutline
	Versions []versionView
	Read     readingView
	Chunks   []store.Passage
	Next     string
	Previous string
	Text     bool // the chunks as one text
	versions []store.DocumentVersion
}

// New reports whether a chunk was added by the active version.
func (v documentPage) New(position int) bool { return added(v.versions, position) }

func (p *page) document() error {
	ctx, cancel := p.ctx()
	defer cancel()
	id, values := p.r.PathValue("id"), p.r.URL.Query()
	d, err := p.by.Document(ctx, id)
	if err != nil {
		return err
	}
	v := documentPage{Document: d, Text: values.Get("view") == "text"}
	reader := p.by.Reader(ctx)
	if chunk := values.Get("chunk"); chunk != "" {
		found, err := reader.Passages(ctx, store.PassageQuery{IDs: []string{chunk}, Limit: 1})
		if err == nil && len(found) == 1 && found[0].DocumentID == d.DocumentID {
			redirectTo(p.w, up(p.r)+v.Anchor(found[0].Position))
			return nil
		}
		if err != nil {
			return err
		}
	}
	from, _ := strconv.Atoi(values.Get("from")) // of a wrong number: the first
	from = max(from, 0)
	var g errgroup.Group
	g.Go(func() (err error) { v.versions, err = reader.DocumentVersions(ctx, d.DocumentID); return err })
	g.Go(func() (err error) {
		v.Chunks, err = reader.DocumentPassages(ctx, store.DocumentPassageQuery{
			DocumentID: d.DocumentID, From: from, Limit: chunksPerPage + 1,
		})
		return err
	})
	if err := g.Wait(); err != nil {
		return err
	}
	v.Versions, v.Read = versionsOf(v.versions, v.Anchor)
	var more bool
	if v.Chunks, more = cut(v.Chunks, chunksPerPage); more {
		v.Next = v.at(from + chunksPerPage)
	}
	if from > 0 {
		v.Previous = v.at(max(from-chunksPerPage, 0))
	}
	return p.show("document", d.Filename, "documents", v)
}

// at is the address of the page that begins with a chunk.
func (v documentPage) at(from int) string {
	text := ""
	if v.Text {
		text = "text"
	}
	return "documents/" + v.Document.DocumentID + query("from", strconv.Itoa(from), "view", text)
}

// Other is the address of the same place in the other view.
func (v documentPage) Other() string {
	v.Text = !v.Text
	from := 0
	if len(v.Chunks) > 0 {
		from = v.Chunks[0].Position
	}
	return v.at(from)
}

// Anchor is the place of a chunk of this document, by its position.
func (v documentPage) Anchor(position int) string {
	return v.at(position/chunksPerPage*chunksPerPage) + "#c" + strconv.Itoa(position)
}

func (p *page) confirmDelete() error {
	ctx, cancel := p.ctx()
	defer cancel()
	d, err := p.by.Document(ctx, p.r.PathValue("id"))
	if err != nil {
		return err
	}
	return p.show("confirm", "Remove this document?", "documents", confirm{
		Title: "Remove this document?", Button: "Remove the document", Danger: true,
		Text: []string{
			"A job removes all its versions and chunks from the index: search and answers no longer find it. The uploaded " +
				"file stays in the storage. This can't be undone, but the file can be ingested again.",
		},
		Facts: []fact{
			{"Document", d.Filename},
			{"Set", d.DocumentSet},
			{"Version", number(d.Version)},
			{"Chunks", number(d.Chunks)},
		},
		Action: "documents/" + d.DocumentID + "/delete", Back: "documents/" + d.DocumentID,
	})
}

func (p *page) deleteDocument() error {
	j, err := p.by.DeleteDocument(p.r.Context(), p.r.PathValue("id"))
	if err != nil {
		return err
	}
	return p.goTo("jobs/"+j.ID, "deleting")
}
