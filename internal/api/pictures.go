package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/seed-7227ef26/async-worker/internal/apitoken"
)

// What Deps.Picture returns.
var (
	ErrNoPicture       = errors.New("the page can't be drawn")
	ErrChangedDocument = errors.New("the document was replaced since it was read into the index")
	ErrPicturesBusy    = errors.New("other pages are being drawn")
)

// PageInput names a page of a document.
type PageInput struct {
	DocumentInput
	Page int `path:"page" minimum:"1" maximum:"1000000" doc:"From 1."`
}

type pictureInput struct {
	PageInput
	IfNoneMatch string `header:"If-None-Match" maxLength:"1000" doc:"The ETag of a picture that the caller has."`
}

// Picture is a page as a picture.
type Picture struct {
	Status       int    // zero: 200
	ContentType  string `header:"Content-Type"`
	ETag         string `header:"ETag"`
	CacheControl string `header:"Cache-Control"`
	Body         []byte
}

func (a *API) registerPictures() {
	register(a, call{
		method: http.MethodGet, path: "/v1/documents/{id}/pages/{page}/picture", id: "page-picture", tag: "documents",
		scope:   apitoken.Read,
		summary: "A page of a PDF as a picture, as long as the file is the one that is in the index",
		responses: map[string]*huma.Response{"200": {
			Description: "A PNG of 1200 pixels' width; the boxes of hits are parts of its width and height",
			Content:     map[string]*huma.MediaType{"image/png": {Schema: &huma.Schema{Type: "string", Format: "binary"}}},
		}, "304": {Description: "The caller has the picture, as its `If-None-Match` says"}},
	}, a.pagePicture)
}

// noPicture is the answer of a page that can't be drawn.
func noPicture() *Problem {
	return problem(http.StatusNotFound, "NO_PICTURE", "the page can't be drawn: the document is not a PDF of at most "+
		"64 MB in the tenant's container, it is damaged, or it has no such page; show the page's text in its place")
}

func (a *API) pagePicture(ctx context.Context, in *pictureInput) (*Picture, error) {
	d, err := a.outline(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if a.deps.Picture == nil || d.ContentSHA256 == "" || in.Page > max(d.Pages, 1) {
		return nil, noPicture()
	}
	// The browser asks each time: whoever may no longer read the document gets nothing from a cache.
	out := &Picture{
		ContentType: "image/png", ETag: fmt.Sprintf(`"%s-%d"`, d.ContentSHA256, in.Page), CacheControl: "private, no-cache",
	}
	if strings.Contains(in.IfNoneMatch, out.ETag) {
		out.Status = http.StatusNotModified
		return out, nil
	}
	out.Body, err = a.deps.Picture(ctx, d.Blob, d.ContentSHA256, in.Page)
	switch {
	case errors.Is(err, ErrNoPicture):
		return nil, noPicture()
	case errors.Is(err, ErrChangedDocument):
		return nil, problem(http.StatusConflict, "DOCUMENT_CHANGED",
			"the file is not the one that is in the index; ingest it again to see its pages")
	case errors.Is(err, ErrPicturesBusy), errors.Is(err, context.DeadlineExceeded):
		busy := problem(http.StatusServiceUnavailable, "UNAVAILABLE", "other pages are being drawn; try again")
		busy.retryAfter = time.Second
		return nil, busy
	case err != nil:
		return nil, err
	}
	return out, nil
}
