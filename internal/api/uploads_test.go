package api_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/api"
	storage "github.com/seed-7227ef26/async-worker/internal/azure"
	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/blob/azure"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

func (b *bench) stored(name string) string {
	b.Helper()
	_, r, err := b.deps.Bucket.Open(b.Context(), name)
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	content, err := io.ReadAll(r)
	if err != nil {
		b.Fatal(err)
	}
	return string(content)
}

// A blob is written once, under the name that was asked for, and nobody's is overwritten.
func TestPutBlob(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	as := []string{"Authorization", "Bearer " + b.tokens["submit"], "Content-Type", "application/pdf"}
	for _, name := range []string{"a.pdf", "folder/Bericht 100%.pdf", "tasks.pdf", "x/tasks/a"} {
		r := b.want(b.ask("PUT", "/v1/blobs/"+url.PathEscape(name), "of "+name, as...), http.StatusCreated, "")
		if r.field("blob") != name || b.stored(name) != "of "+name {
			t.Errorf("%s: %s", name, r.text)
		}
		b.want(b.ask("PUT", "/v1/blobs/"+url.PathEscape(name), "other", as...), http.StatusConflict, "BLOB_EXISTS")
		if got := b.stored(name); got != "of "+name {
			t.Errorf("%s is %q now", name, got)
		}
		if !strings.Contains(b.log.String(), `by=submiter scope=submit`) || !strings.Contains(b.log.String(), "wrote a blob") {
			t.Error("no audit line")
		}
	}
	for _, name := range []string{
		"../a", "a/../b", "/a", "a/", `a\b`, "a\x00b", "a\nb", "./a", "\xff", strings.Repeat("x", 1025),
		"tasks/a.json", "derived/docling/0.json.gz", "decks/d.json", "exports/e.pptx", "results/t.xml",
		// These would be files where the worker makes its folders, and no large message could be sent any more.
		"tasks", "derived", "decks", "exports", "results", "uploads",
	} {
		b.want(b.ask("PUT", "/v1/blobs/"+url.PathEscape(name), "x", as...), http.StatusBadRequest, "VALIDATION_ERROR")
	}
	// A name that the service of the blobs refuses is named like one that we refuse.
	long := b.want(b.ask("PUT", "/v1/blobs/"+strings.Repeat("x", 300), "x", as...), http.StatusBadRequest, "VALIDATION_ERROR")
	if !strings.Contains(long.text, `"path.name"`) {
		t.Error(long.text)
	}
	for _, path := range []string{"", "%2e%2e%2fx", "a/b", ".", "..", "%2e", "%2e%2e", "..%2f..%2fx", "%252e%252e%252fx/y"} {
		if r := b.ask("PUT", "/v1/blobs/"+path, "x", as...); r.status < 400 || r.status >= 500 {
			t.Errorf("%s: %d %s", path, r.status, r.text)
		}
	}
	b.want(b.ask("PUT", "/v1/blobs/empty", "", as...), http.StatusBadRequest, "VALIDATION_ERROR")
	for _, encoding := range []string{"gzip", "br", "identity, gzip"} {
		b.want(b.ask("PUT", "/v1/blobs/encoded", "x", append(as, "Content-Encoding", encoding)...),
			http.StatusUnsupportedMediaType, "UNSUPPORTED_ENCODING")
	}
	b.want(b.ask("PUT", "/v1/blobs/part", "x", append(as, "Content-Range", "bytes 0-0/2")...), http.StatusBadRequest,
		"VALIDATION_ERROR")
	b.want(b.ask("PUT", "/v1/blobs/plain", "x", append(as, "Content-Encoding", "Identity")...), http.StatusCreated, "")
	b.want(b.ask("PUT", "/v1/blobs/type", "x", "Content-Type", "nonsense"), http.StatusBadRequest, "VALIDATION_ERROR")
}

// Who sends too large a file is told the way that there is for it, if there is one.
func TestTooLargeSaysTheWay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edit func(*api.Deps)
		want string
	}{
		"a folder":  {func(*api.Deps) {}, "than 33554432 bytes; put it into the documents on the worker's machine: async-worker enqueue --upload"},
		"a service": {func(d *api.Deps) { d.Bucket = unsigning{d.Bucket} }, "than 33554432 bytes; get an address with POST /v1/uploads"},
		"no way":    {func(d *api.Deps) { d.MaxBlob = 1 << 20 }, "than 1048576 bytes, the largest document of this worker (MAX_BLOB_MB)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, c.edit)
			r := b.want(b.ask("PUT", "/v1/blobs/large", strings.Repeat("x", 32<<20+1)), http.StatusRequestEntityTooLarge, "BODY_TOO_LARGE")
			if !strings.Contains(r.text, c.want) {
				t.Errorf("got %s, want %q", r.text, c.want)
			}
		})
	}
}

// What is too large, is cut off, or comes in pieces.
func TestPutBlobSizes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.api.SetMaxBlob(1000)
	put := func(name, header, content string) (int, string) {
		conn, err := net.Dial("tcp", b.server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "PUT /v1/blobs/%s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n%s\r\n\r\n%s", name,
			b.tokens["submit"], header, content)
		if strings.HasPrefix(name, "cut") { // else the server takes the client for gone
			_ = conn.(*net.TCPConn).CloseWrite()
		}
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(text)
	}
	long := strings.Repeat("x", 1001)
	for name, c := range map[string]struct {
		header, content string
		status          int
	}{
		"whole":     {"Content-Length: 1000", long[:1000], 201},
		"pieces":    {"Transfer-Encoding: chunked", "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n", 201},
		"long":      {"Content-Length: 1001", long, 413},
		"longer":    {"Transfer-Encoding: chunked", "3e9\r\n" + long + "\r\n0\r\n\r\n", 413},
		"empty":     {"Transfer-Encoding: chunked", "0\r\n\r\n", 400},
		"cut":       {"Content-Length: 1000", "abc", 400},
		"cut piece": {"Transfer-Encoding: chunked", "3\r\nabc\r\n5\r\n", 400},
		"promised":  {"Content-Length: 99999999999", "abc", 413},
	} {
		name = strings.ReplaceAll(name, " ", "-")
		if status, text := put(name, c.header, c.content); status != c.status {
			t.Errorf("%s: %d %s, want %d", name, status, text, c.status)
		}
		if _, err := b.deps.Bucket.Stat(t.Context(), name); (err == nil) != (c.status == 201) {
			t.Errorf("%s is there: %v", name, err)
		}
	}
}

// Uploads that do not end keep others from uploading, and from nothing else. Those of one caller keep him alone.
func TestTooManyUploads(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var writers []*io.PipeWriter
	ended := make(chan int)
	for i, caller := range []string{"submit", "submit", "operate", "operate"} {
		r, w := io.Pipe()
		writers = append(writers, w)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, fmt.Sprintf("%s/v1/blobs/slow-%d", b.server.URL, i), r)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+b.tokens[caller])
		go func() {
			resp, err := b.server.Client().Do(req)
			if err != nil {
				ended <- 0
				return
			}
			_ = resp.Body.Close()
			ended <- resp.StatusCode
		}()
		// It is accepted once some MiB more than fit into the buffers of the connection are taken.
		if _, err := w.Write(make([]byte, 16<<20)); err != nil {
			t.Fatal(err)
		}
		if i == 1 {
			b.want(b.ask("PUT", "/v1/blobs/one-more", "x", "Authorization", "Bearer "+b.tokens["submit"]),
				http.StatusServiceUnavailable, "TOO_MANY_UPLOADS")
			b.want(b.ask("PUT", "/v1/blobs/of-another", "x"), http.StatusCreated, "")
		}
	}
	r := b.want(b.ask("PUT", "/v1/blobs/one-more", "x"), http.StatusServiceUnavailable, "TOO_MANY_UPLOADS")
	if r.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	b.want(b.ask("GET", "/v1/jobs", ""), http.StatusOK, "")
	for _, w := range writers {
		_ = w.Close()
	}
	for range writers {
		if status := <-ended; status != http.StatusCreated {
			t.Errorf("a slow upload: %d", status)
		}
	}
	b.want(b.ask("PUT", "/v1/blobs/one-more", "x"), http.StatusCreated, "")
}

// An upload address is of a new blob, in the tenant's container, and of the worker's own blobs there are none.
func TestNewUpload(t *testing.T) {
	t.Parallel()
	creds, err := storage.FromConnectionString("UseDevelopmentStorage=true")
	if err != nil {
		t.Fatal(err)
	}
	bucket, err := azure.Open(creds, tenant+"-files", azure.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, func(d *api.Deps) { d.Bucket = bucket })
	as := []string{"Authorization", "Bearer " + b.tokens["submit"]}
	seen := map[string]bool{}
	for range 2 {
		r := b.want(b.ask("POST", "/v1/uploads", `{"filename":"x/Bericht.pdf","size":5,"contentType":"application/pdf"}`,
			as...), http.StatusCreated, "")
		address, err := url.Parse(r.field("url"))
		name := r.field("blob")
		if err != nil || seen[name] || !strings.HasSuffix(name, "/x/Bericht.pdf") || r.field("method") != "PUT" ||
			!strings.HasSuffix(address.Path, "/"+tenant+"-files/"+name) || address.Query().Get("sp") != "c" ||
			!strings.Contains(r.text, `"x-ms-blob-type":"BlockBlob"`) || r.field("expiresAt") == "" {
			t.Errorf("%s, %v", r.text, err)
		}
		seen[name] = true
	}
	if strings.Contains(b.log.String(), "sig=") || !strings.Contains(b.log.String(), "handed out an upload address") {
		t.Errorf("the log has a signature, or no audit line:\n%s", b.log)
	}
	for _, body := range []string{
		`{"filename":"../x","size":1}`, `{"filename":"tasks/x","size":1}`, `{"filename":"","size":1}`,
		`{"filename":"a\nb","size":1}`, `{"filename":"a","size":0}`, `{"filename":"a","size":-1}`, `{"filename":"a"}`,
		`{"filename":"a","size":536870913}`, `{"filename":"a","size":1,"contentType":"a\r\nb: c"}`,
		`{"filename":"a","size":1,"container":"x"}`, `{"filename":"` + strings.Repeat("x", 901) + `","size":1}`,
	} {
		b.want(b.ask("POST", "/v1/uploads", body, as...), http.StatusBadRequest, "VALIDATION_ERROR")
	}
	// A folder on disk signs nothing.
	plain := newBench(t)
	plain.want(plain.ask("POST", "/v1/uploads", `{"filename":"a","size":1}`), http.StatusConflict, "NO_UPLOAD_ADDRESS")
	// Nor does an identity without the right; the operator is told which.
	without := newBench(t, func(d *api.Deps) { d.Bucket = unsigning{} })
	without.want(without.ask("POST", "/v1/uploads", `{"filename":"a","size":1}`), http.StatusConflict, "NO_UPLOAD_ADDRESS")
	if !strings.Contains(without.log.String(), "lacks the right to sign") {
		t.Errorf("the log does not say why:\n%s", without.log)
	}
}

// unsigning is a bucket whose identity may not sign.
type unsigning struct{ blob.Bucket }

func (unsigning) SignUpload(context.Context, string, string, time.Duration) (blob.Upload, error) {
	return blob.Upload{}, &taskerr.Error{
		Class: taskerr.ValidationError, Message: "the identity lacks the right to sign", Cause: blob.ErrUnsigned,
	}
}

func (unsigning) SignDownload(context.Context, string, time.Duration) (blob.Download, error) {
	return blob.Download{}, blob.ErrUnsigned
}
