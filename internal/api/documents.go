package api

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/seed-7227ef26/async-worker/internal/apitoken"
	"github.com/seed-7227ef26/async-worker/internal/message"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// Document is a document in the index.
type Document struct {
	ID          string    `json:"id"`
	DocumentSet string    `json:"documentSet"`
	Filename    string    `json:"filename"`
	Title       string    `json:"title,omitempty"`
	Language    string    `json:"language,omitempty"`
	Pages       int       `json:"pages,omitempty" doc:"Left out: the format has none."`
	Version     int       `json:"version"`
	Chunks      int       `json:"chunks"`
	UpdatedAt   time.Time `json:"updatedAt"`
	Headings    []Heading `json:"headings,omitempty" doc:"Of a single document."`
}

// Heading is a heading of a document.
type Heading struct {
	Level   int    `json:"level"`
	Text    string `json:"text"`
	Page    int    `json:"page,omitempty"`
	ChunkID string `json:"chunkId,omitempty"`
}

// Chunk is a chunk of a document.
type Chunk struct {
	ID          string   `json:"id"`
	Position    int      `json:"position"`
	Kind        string   `json:"kind"`
	Pages       []int    `json:"pages" nullable:"false"`
	HeadingPath []string `json:"headingPath" nullable:"false"`
	Content     string   `json:"content"`
}

// Box is a place on a page.
type Box struct {
	Page   int     `json:"page"`
	Left   float64 `json:"left"`
	Top    float64 `json:"top"`
	Right  float64 `json:"right"`
	Bottom float64 `json:"bottom"`
}

func documentOf(d store.DocumentEntry) Document {
	return Document{
		ID: d.DocumentID, DocumentSet: d.DocumentSet, Filename: d.Filename, Title: d.Title, Language: d.Language,
		Pages: d.Pages, Version: d.Version, Chunks: d.Chunks, UpdatedAt: d.UpdatedAt.UTC(),
	}
}

func chunkOf(p store.Passage) Chunk {
	return Chunk{
		ID: p.ChunkID, Position: p.Position, Kind: p.Kind, Pages: some(p.Pages), HeadingPath: some(p.HeadingPath),
		Content: p.Content,
	}
}

// some is a list that is not null as JSON.
func some[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

type documentsInput struct {
	ListInput
	DocumentSet string `query:"documentSet" maxLength:"256"`
	Text        string `query:"q" maxLength:"256" doc:"A part of the filename or title, in any case."`
}

// DocumentInput names a document.
type DocumentInput struct {
	ID string `path:"id" format:"uuid" doc:"Of the document."`
}

func (a *API) registerDocuments() {
	get := func(path, id, summary string) call {
		return call{
			method: http.MethodGet, path: "/v1/documents" + path, id: id, tag: "documents", scope: apitoken.Read, summary: summary,
		}
	}
	register(a, get("", "list-documents", "List documents by name"), a.listDocuments)
	register(a, get("/{id}", "get-document", "Get a document with its headings"), a.getDocument)
	register(a, get("/{id}/chunks", "document-chunks", "The chunks of a document, in order"), a.documentChunks)
	markdown := get("/{id}/markdown", "document-markdown", "The text of a document, as Markdown")
	markdown.responses = map[string]*huma.Response{"200": {
		Description: "The text", Content: map[string]*huma.MediaType{"text/markdown": {Schema: &huma.Schema{Type: "string"}}},
	}}
	register(a, markdown, a.documentMarkdown)
	register(a, call{
		method: http.MethodDelete, path: "/v1/documents/{id}", id: "delete-document", tag: "documents",
		scope: apitoken.Operate, summary: "Remove a document from the index, by a job", status: http.StatusAccepted,
	}, a.deleteDocument)
	register(a, call{
		method: http.MethodPost, path: "/v1/search", id: "search", tag: "documents", scope: apitoken.Read,
		summary: "Find chunks by words and by meaning",
	}, a.search)
}

func (a *API) listDocuments(ctx context.Context, in *documentsInput) (*bodyOf[Page[Document]], error) {
	after, err := placeOf[store.DocumentCursor](in.Cursor)
	if err != nil {
		return nil, err
	}
	found, err := a.reader(ctx).Documents(ctx, store.DocumentQuery{
		DocumentSet: in.DocumentSet, Filter: in.Text, After: after, Limit: in.Limit + 1,
	})
	if err != nil {
		return nil, err
	}
	return body(page(found, in.Limit, documentOf, func(d store.DocumentEntry) string {
		return cursorOf(store.DocumentCursor{Filename: d.Filename, DocumentSet: d.DocumentSet})
	})), nil
}

// outline finds a document by its id.
func (a *API) outline(ctx context.Context, id string) (store.DocumentOutline, error) {
	found, err := a.reader(ctx).Outlines(ctx, "", id)
	if err != nil {
		return store.DocumentOutline{}, err
	}
	for _, d := range found {
		if d.DocumentID == strings.ToLower(id) { // another may have it as its filename
			return d, nil
		}
	}
	return store.DocumentOutline{}, store.ErrNotFound
}

func (a *API) getDocument(ctx context.Context, in *DocumentInput) (*bodyOf[Document], error) {
	d, err := a.outline(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	out := documentOf(d.DocumentEntry)
	for _, h := range d.Headings {
		out.Headings = append(out.Headings, Heading{Level: h.Level, Text: h.Text, Page: h.Page, ChunkID: h.ChunkID})
	}
	return body(out), nil
}

type chunksInput struct {
	DocumentInput
	ListInput
}

// chunkPlace is a place among the chunks of a version of a document.
type chunkPlace struct {
	Version  int `json:"version"` // zero: of any, as an older worker's cursor has none
	Position int `json:"position"`
}

// UnmarshalJSON also reads the cursors of an older worker, which are a position.
func (c *chunkPlace) UnmarshalJSON(text []byte) error {
	type plain chunkPlace
	if json.Unmarshal(text, &c.Position) == nil {
		return nil
	}
	return json.Unmarshal(text, (*plain)(c))
}

// documentChunks lists the chunks of one version: each page says of which one the next has to be.
func (a *API) documentChunks(ctx context.Context, in *chunksInput) (*bodyOf[Page[Chunk]], error) {
	if _, err := a.outline(ctx, in.ID); err != nil {
		return nil, err
	}
	from, err := placeOf[chunkPlace](in.Cursor)
	if err != nil {
		return nil, err
	}
	if from == nil {
		from = &chunkPlace{}
	}
	found, err := a.reader(ctx).DocumentPassages(ctx, store.DocumentPassageQuery{
		DocumentID: in.ID, From: max(from.Position, 0), Limit: in.Limit + 1,
	})
	if err != nil {
		return nil, err
	}
	// A cursor with a version leads to a chunk of it: if there is none, the document was replaced by a shorter one.
	if from.Version > 0 && (len(found) == 0 || found[0].Version != from.Version) {
		return nil, problem(http.StatusGone, "CURSOR_EXPIRED", "the document was replaced; begin again without the cursor")
	}
	return body(page(found, in.Limit, chunkOf, func(p store.Passage) string {
		return cursorOf(chunkPlace{p.Version, p.Position + 1})
	})), nil
}

const (
	textPage  = 200              // chunks of a document's text that are read at a time
	textLimit = 10 * time.Minute // for all of it, if the client keeps reading
)

// documentMarkdown writes the chunks one after the other, page by page of chunks, so that a large document needs little
// memory. It breaks off where the document is replaced or removed meanwhile. The server's limit for a response is that of
// a page of chunks here: else a client could only get as much as comes within 30 s.
func (a *API) documentMarkdown(ctx context.Context, in *DocumentInput) (*huma.StreamResponse, error) {
	d, err := a.outline(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	reader := a.reader(ctx)
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		hc.SetHeader("Content-Type", "text/markdown; charset=utf-8")
		_, w := humago.Unwrap(hc)
		rc, until := http.NewResponseController(w), time.Now().Add(textLimit)
		for from, written := 0, 0; ; {
			found, err := reader.DocumentPassages(hc.Context(), store.DocumentPassageQuery{
				DocumentID: in.ID, From: from, Limit: textPage,
			})
			if err != nil {
				panic(http.ErrAbortHandler) // the client sees that the text is not complete
			}
			within := time.Now().Add(writeLimit)
			if within.After(until) || rc.SetWriteDeadline(within) != nil {
				panic(http.ErrAbortHandler) // as above
			}
			for _, p := range found {
				if p.Version != d.Version {
					panic(http.ErrAbortHandler) // as above
				}
				if _, err := hc.BodyWriter().Write([]byte(p.Content + "\n\n")); err != nil {
					return
				}
				from, written = p.Position+1, written+1
			}
			if len(found) == textPage {
				continue
			}
			if written < d.Chunks {
				panic(http.ErrAbortHandler) // as above
			}
			return
		}
	}}, nil
}

func (a *API) deleteDocument(ctx context.Context, in *DocumentInput) (*accepted, error) {
	d, err := a.outline(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	t, err := a.taskOf(NewJob{Type: string(task.Ingest), ID: uuid.NewString(), Payload: encode(map[string]any{
		"filename": d.Filename, "document_set": d.DocumentSet, "delete": true,
	})}, principalFrom(ctx))
	if err != nil {
		return nil, err
	}
	s := a.record(t)
	if s.Message, err = message.Write(ctx, a.deps.Bucket, t); err != nil {
		return nil, err
	}
	answer, err := a.deps.Store.SubmitOnce(ctx, s)
	if err != nil {
		return nil, err
	}
	a.audit(ctx, "submitted the removal of a document", "task_id", answer.Job.ID, "document", d.DocumentID)
	a.send(ctx, t.Priority, s.Submission)
	return &accepted{"/v1/jobs/" + answer.Job.ID, jobOf(answer.Job)}, nil
}
