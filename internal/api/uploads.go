package api

import (
	"bufio"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/internal/apitoken"
	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

const (
	// MaxPut is the largest blob that is written through the API, in bytes. An upload address takes larger ones.
	MaxPut       = 32 << 20
	maxPuts      = 4 // at a time: each holds some MiB
	maxPutsOfOne = 2 // of one caller
	putLimit     = 2 * time.Minute
	uploadLife   = 15 * time.Minute // of an upload address
	uploadFolder = "uploads/"
	octets       = "application/octet-stream"
)

// NewUpload is a file to upload.
type NewUpload struct {
	Filename    string `json:"filename" minLength:"1" maxLength:"900" doc:"As a blob's name: folders are allowed."`
	Size        int64  `json:"size" minimum:"1" doc:"In bytes; at most MAX_BLOB_MB."`
	ContentType string `json:"contentType,omitempty" maxLength:"255" doc:"Default: application/octet-stream."`
}

// Upload is an address to which one file can be written, once and without a token.
type Upload struct {
	Blob      string            `json:"blob" doc:"A new name for the file; for a job's payload."`
	URL       string            `json:"url" doc:"Holds a signature: whoever has it may upload."`
	Method    string            `json:"method" example:"PUT"`
	Headers   map[string]string `json:"headers" doc:"To send with the file."`
	ExpiresAt time.Time         `json:"expiresAt"`
}

// Blob is a blob that was written.
type Blob struct {
	Blob string `json:"blob" doc:"Its name, for a job's payload."`
	Size int64  `json:"size" doc:"In bytes."`
}

// blobInput is a blob whose content is read as it comes.
type blobInput struct {
	Name string `path:"name" maxLength:"1024" doc:"Of the blob; a slash in it is sent as %2F."`

	w http.ResponseWriter
	r *http.Request
}

// Resolve implements huma.Resolver: it keeps the request.
func (in *blobInput) Resolve(ctx huma.Context) []error {
	in.r, in.w = humago.Unwrap(ctx)
	return nil
}

func (a *API) registerUploads() {
	register(a, call{
		method: http.MethodPost, path: "/v1/uploads", id: "new-upload", tag: "documents", scope: apitoken.Submit,
		summary: "Get an address to upload a file to, for 15 minutes", status: http.StatusCreated,
	}, a.newUpload)
	register(a, call{
		method: http.MethodPut, path: "/v1/blobs/{name}", id: "put-blob", tag: "documents", scope: apitoken.Submit,
		summary: "Write a new blob of up to 32 MiB", status: http.StatusCreated, body: MaxPut, byItself: true,
		request: &huma.RequestBody{
			Required: true, Description: "The content, of any type.",
			Content: map[string]*huma.MediaType{octets: {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}},
		},
	}, a.putBlob)
}

// SetMaxBlob replaces the size of the largest document, in bytes.
func (a *API) SetMaxBlob(bytes int64) { a.maxBlob.Store(bytes) }

// checkName refuses the names that are no blob's, and those of workers' own blobs.
func checkName(field, name string) error {
	if problem := task.BlobNameProblem(name); problem != "" {
		return invalid(field, problem)
	}
	for _, folder := range blob.WorkerFolders() {
		if strings.HasPrefix(name, folder) {
			return invalid(field, "is in "+folder+", which is the worker's own; use another folder")
		}
	}
	return nil
}

// checkEncoding refuses content that is encoded: it would be stored as it comes, and read as damaged later.
func checkEncoding(h http.Header) error {
	for _, encoding := range h.Values("Content-Encoding") {
		if encoding = strings.TrimSpace(encoding); encoding != "" && !strings.EqualFold(encoding, "identity") {
			return problem(http.StatusUnsupportedMediaType, "UNSUPPORTED_ENCODING",
				"send the file as it is, without Content-Encoding")
		}
	}
	return nil
}

// checkWhole refuses a part of a file (RFC 9110, 14.5): it would be stored as the whole, and the other parts refused.
func checkWhole(h http.Header) error {
	if h.Get("Content-Range") != "" {
		return invalid("header.Content-Range", "is not served; send the whole file in one request")
	}
	return nil
}

// contentTypeOf checks a content type.
func contentTypeOf(field, text string) (string, error) {
	if text == "" {
		return octets, nil
	}
	kind, params, err := mime.ParseMediaType(text)
	if err != nil || len(text) > 255 || !strings.Contains(kind, "/") {
		return "", invalid(field, "is not a media type, such as application/pdf")
	}
	return mime.FormatMediaType(kind, params), nil
}

func (a *API) newUpload(ctx context.Context, in *bodyOf[NewUpload]) (*bodyOf[Upload], error) {
	name := uploadFolder + uuid.NewString() + "/" + in.Body.Filename
	if err := errors.Join(checkName("body.filename", in.Body.Filename), checkName("body.filename", name)); err != nil {
		return nil, err
	}
	kind, err := contentTypeOf("body.contentType", in.Body.ContentType)
	if err != nil {
		return nil, err
	}
	if most := a.maxBlob.Load(); in.Body.Size > most {
		return nil, invalid("body.size", "is more than the largest document, "+strconv.FormatInt(most, 10)+" bytes")
	}
	signer, ok := a.deps.Bucket.(blob.Signer)
	if !ok {
		return nil, blob.ErrUnsigned
	}
	u, err := signer.SignUpload(ctx, name, kind, uploadLife)
	if denied, ok := errors.AsType[*taskerr.Error](err); ok && errors.Is(err, blob.ErrUnsigned) { // the answer does not name the right
		a.deps.Log.Warn("an upload address can't be signed", "error", denied)
	}
	if err != nil {
		return nil, err
	}
	a.audit(ctx, "handed out an upload address", "blob", name, "bytes", in.Body.Size)
	return body(Upload{Blob: name, URL: u.URL, Method: u.Method, Headers: u.Header, ExpiresAt: u.Expires.UTC()}), nil
}

func (a *API) putBlob(ctx context.Context, in *blobInput) (*bodyOf[Blob], error) {
	most := min(MaxPut, a.maxBlob.Load())
	if in.r.ContentLength > most {
		if err := checkName("path.name", in.Name); err != nil {
			return nil, err
		}
		return nil, a.tooLarge()
	}
	if err := errors.Join(checkEncoding(in.r.Header), checkWhole(in.r.Header)); err != nil {
		return nil, err
	}
	return a.put(ctx, newBlob{
		field: "path.name", name: in.Name, kind: in.r.Header.Get("Content-Type"), content: in.r.Body, w: in.w,
	})
}

// newBlob is a blob to write, of a request's content.
type newBlob struct {
	field   string // of the request that has the name
	name    string
	kind    string // content type
	content io.ReadCloser
	w       http.ResponseWriter
}

func (a *API) put(ctx context.Context, in newBlob) (*bodyOf[Blob], error) {
	if err := checkName(in.field, in.name); err != nil {
		return nil, err
	}
	if folder := in.name + "/"; folder == uploadFolder || slices.Contains(blob.WorkerFolders(), folder) {
		// Where the blobs are in a folder, a file would stand in the place of one that is made later.
		return nil, invalid(in.field, "is the name of a folder; use another")
	}
	kind, err := contentTypeOf("header.Content-Type", in.kind)
	if err != nil {
		return nil, err
	}
	by := principalFrom(ctx).identity()
	if !a.limits.beginPut(by) {
		return nil, tooManyUploads()
	}
	defer a.limits.endPut(by)
	ctx, cancel := context.WithTimeout(ctx, putLimit)
	defer cancel()
	until, rc := time.Now().Add(putLimit), http.NewResponseController(in.w)
	if err := errors.Join(rc.SetReadDeadline(until), rc.SetWriteDeadline(until.Add(writeLimit))); err != nil {
		return nil, err
	}
	most := min(MaxPut, a.maxBlob.Load())
	content := &incoming{r: http.MaxBytesReader(in.w, in.content, most)}
	buffered := bufio.NewReader(content)
	if _, err := buffered.Peek(1); err != nil {
		return nil, content.problem(a)
	}
	p, err := a.deps.Bucket.PutNew(ctx, in.name, buffered, kind)
	if content.err != nil && !errors.Is(content.err, io.EOF) {
		return nil, content.problem(a)
	}
	if e, ok := errors.AsType[*taskerr.Error](err); ok && e.Class == taskerr.ValidationError { // the name, on this disk
		return nil, invalid(in.field, quoted.ReplaceAllString(e.Message, "…"))
	}
	if err != nil {
		return nil, err
	}
	a.audit(ctx, "wrote a blob", "blob", in.name, "bytes", p.Size)
	return body(Blob{Blob: in.name, Size: p.Size}), nil
}

func tooManyUploads() *Problem {
	p := problem(http.StatusServiceUnavailable, "TOO_MANY_UPLOADS", "too many files are being uploaded; try again later")
	p.retryAfter = 5 * time.Second
	return p
}

// tooLarge says how a larger file gets into the container, if it may be there at all.
func (a *API) tooLarge() *Problem {
	most, way := int64(MaxPut), "; put it into the documents on the worker's machine: async-worker enqueue --upload"
	if _, ok := a.deps.Bucket.(blob.Signer); ok {
		way = "; get an address with POST /v1/uploads"
	}
	if largest := a.maxBlob.Load(); largest <= most {
		most, way = largest, ", the largest document of this worker (MAX_BLOB_MB); split it, or let the operator raise that"
	}
	return problem(http.StatusRequestEntityTooLarge, "BODY_TOO_LARGE",
		"the file is larger than "+strconv.FormatInt(most, 10)+" bytes"+way)
}

// incoming is a request's content; err is the first error of reading it.
type incoming struct {
	r   io.Reader
	err error
}

// Read implements io.Reader.
func (in *incoming) Read(p []byte) (int, error) {
	n, err := in.r.Read(p)
	if err != nil && in.err == nil {
		in.err = err
	}
	return n, err
}

// problem says why the content could not be read.
func (in *incoming) problem(a *API) *Problem {
	switch _, large := errors.AsType[*http.MaxBytesError](in.err); {
	case large:
		return a.tooLarge()
	case errors.Is(in.err, io.EOF):
		return invalid("body", "is empty")
	case errors.Is(in.err, os.ErrDeadlineExceeded):
		return problem(http.StatusRequestTimeout, "REQUEST_TIMEOUT", "the file did not come within "+putLimit.String()+
			"; send it over a faster connection")
	}
	return invalid("body", "ended early, and nothing was written; send the whole file again")
}
