package dashboard

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
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

	mostFollowed = 20 // jobs of one form
)

// uploadPage is what the form for a document shows.
type uploadPage struct {
	Set  string
	Sets []store.DocumentSet
	MiB  int
	Sent following
}

// following is the jobs of a form's uploads: its address has their ids.
type following struct {
	Set   string
	IDs   []string
	Batch batch
}

// Live is the address of the live part.
func (f following) Live() string {
	return "documents/upload/live?" + url.Values{"job": f.IDs}.Encode()
}

// followed reads the jobs that the address names, those that the caller may see.
func (p *page) followed(ctx context.Context, set string, more ...string) (f following, err error) {
	ids := append(p.r.URL.Query()["job"], more...)
	f.Set = set
	var found []store.Job
	for _, id := range ids[max(len(ids)-mostFollowed, 0):] {
		j, err := p.by.Reader(ctx).Job(ctx, id)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return f, err
		}
		f.IDs, found = append(f.IDs, id), append(found, j)
	}
	f.Batch = batchOf(found)
	return f, nil
}

func (p *page) uploadForm() error {
	ctx, cancel := p.ctx()
	defer cancel()
	v := uploadPage{Set: clip(p.r.URL.Query().Get("set"), 200), MiB: api.MaxPut >> 20}
	var err error
	if v.Sets, err = p.by.Reader(ctx).DocumentSets(ctx, mostDocuments); err != nil {
		return err
	}
	if v.Sent, err = p.followed(ctx, v.Set); err != nil {
		return err
	}
	return p.show("upload", "Upload a document", "documents", v)
}

// uploadLive sends the jobs of a form's uploads whenever something has happened.
func (p *page) uploadLive() error {
	return p.follow(func(ctx context.Context) ([]byte, error) {
		f, err := p.followed(ctx, "")
		if err != nil {
			return nil, err
		}
		return p.fragment("upload", "batch", "documents", f.Batch)
	})
}

func bad(detail string) error {
	return &api.Problem{Status: http.StatusBadRequest, Code: "VALIDATION_ERROR", Detail: detail}
}

// upload writes the file under a new name as it comes, submits its ingestion, and shows the job: to a script of the form
// as a part of its page, else on the job's own. The set comes before the file in the form. The file may take longer than
// other changes do.
func (p *page) upload() error {
	p.r = p.whole
	until := time.Now().Add(uploadTime)
	rc := http.NewResponseController(p.w)
	if err := errors.Join(rc.SetReadDeadline(until), rc.SetWriteDeadline(until.Add(p.d.changes+answerTime))); err != nil {
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
	defer p.bound()()
	j, err := p.by.SubmitUpload(p.r.Context(), api.NewJob{Type: "ingest", Payload: api.Object(payload)}, written)
	if err != nil {
		return err
	}
	if !p.scripted() {
		return p.goTo("jobs/"+j.ID, "submitted")
	}
	ctx, cancel := p.ctx()
	defer cancel()
	f, err := p.followed(ctx, set, j.ID)
	if err != nil {
		return err
	}
	text, err := p.fragment("upload", "sent", "documents", f)
	if err != nil {
		return err
	}
	p.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = p.w.Write(text) // an error means that the client is gone
	return nil
}
