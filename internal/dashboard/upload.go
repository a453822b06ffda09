package dashboard

import (
	"encoding/json"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/internal/api"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

const (
	mostField  = 1 << 10 // bytes of a field of the form
	mostBody   = api.MaxPut + 64<<10
	uploadTime = 3 * time.Minute
)

// uploadPage is what the form for a document shows.
type uploadPage struct {
	Set  string
	Sets []store.DocumentSet
	MiB  int
}

func (p *page) uploadForm() error {
	ctx, cancel := p.ctx()
	defer cancel()
	sets, err := p.by.Reader(ctx).DocumentSets(ctx, mostDocuments)
	if err != nil {
		return err
	}
	v := uploadPage{Set: clip(p.r.URL.Query().Get("set"), 200), Sets: sets, MiB: api.MaxPut >> 20}
	return p.show("upload", "Upload a document", "documents", v)
}

func bad(detail string) error {
	return &api.Problem{Status: http.StatusBadRequest, Code: "VALIDATION_ERROR", Detail: detail}
}

// upload writes the file under a new name as it comes, submits its ingestion, and shows the job. The set comes before the
// file in the form.
func (p *page) upload() error {
	until := time.Now().Add(uploadTime)
	rc := http.NewResponseController(p.w)
	if err := errors.Join(rc.SetReadDeadline(until), rc.SetWriteDeadline(until)); err != nil {
		return err
	}
	p.r.Body = http.MaxBytesReader(p.w, p.r.Body, mostBody)
	parts, err := p.r.MultipartReader()
	if err != nil {
		return bad("The form could not be read. Choose a file and send it again.")
	}
	set := ""
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return bad("There is no file in the form. Choose one.")
		}
		if err != nil {
			return bad("The file did not arrive whole, or is larger than 32 MiB. Nothing was written.")
		}
		switch part.FormName() {
		case "set":
			text, err := io.ReadAll(io.LimitReader(part, mostField+1))
			if err != nil || len(text) > mostField {
				return bad("The name of the set could not be read, or is too long.")
			}
			set = strings.TrimSpace(string(text))
		case "file":
			return p.ingest(set, part)
		}
	}
}

func (p *page) ingest(set string, part *multipart.Part) error {
	name := path.Base(strings.ReplaceAll(part.FileName(), "\\", "/"))
	if name == "." || name == "/" {
		return bad("There is no file in the form. Choose one.")
	}
	if set == "" {
		return bad("The document needs a set. Name one.")
	}
	blob := "uploads/" + uuid.NewString() + "/" + name
	written, err := p.by.PutBlob(p.r.Context(), p.w, blob, part.Header.Get("Content-Type"), part)
	if err != nil {
		return err
	}
	payload, err := json.Marshal(map[string]string{"filename": name, "document_set": set, "blob": written.Blob})
	if err != nil {
		return err
	}
	j, err := p.by.Submit(p.r.Context(), api.NewJob{Type: "ingest", Payload: api.Object(payload)}, "")
	if err != nil {
		return err
	}
	return p.goTo("jobs/"+j.ID, "submitted")
}
