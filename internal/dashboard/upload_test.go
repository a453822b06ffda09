package dashboard_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/api"
	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/dashboard"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// uploaded are the names of the blobs of uploads.
func (b *bench) uploaded() (names []string) {
	b.Helper()
	for p, err := range b.bucket.List(b.Context(), "uploads/") {
		if err != nil {
			b.Fatal(err)
		}
		names = append(names, p.Name)
	}
	return names
}

// silent is a store that does not answer whether it recorded a job.
type silent struct{ store.Store }

func (silent) SubmitOnce(context.Context, store.OnceSubmission) (store.OnceAnswer, error) {
	return store.OnceAnswer{}, taskerr.Errorf(taskerr.TransientStorage, "the database did not answer")
}

// keeping is a bucket that removes nothing.
type keeping struct{ blob.Bucket }

func (keeping) Remove(context.Context, string) error { return errors.New("the container is read-only") }

// leaving is a store that refuses a job when its caller has gone away.
type leaving struct {
	store.Store
	leave context.CancelFunc
}

func (s leaving) SubmitOnce(context.Context, store.OnceSubmission) (store.OnceAnswer, error) {
	s.leave()
	return store.OnceAnswer{}, &store.BusyError{JobID: "active"}
}

// heeding is a bucket that heeds the context, which has to have an end.
type heeding struct{ blob.Bucket }

func (b heeding) Remove(ctx context.Context, name string) error {
	if _, bounded := ctx.Deadline(); !bounded || ctx.Err() != nil {
		return errors.Join(ctx.Err(), errors.New("the removal ends with the request, or never"))
	}
	return b.Bucket.Remove(ctx, name)
}

// The blob of a refused job is removed even if the browser has gone away by then.
func TestRefusedUploadOfNobody(t *testing.T) {
	t.Parallel()
	ctx, leave := context.WithCancel(t.Context())
	b := newBench(t, func(d *api.Deps) { d.Store, d.Bucket = leaving{d.Store, leave}, heeding{d.Bucket} })
	kind, body := file(t, "s", "a.pdf", "content")
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, dashboard.Root+"/documents/upload", body)
	r.AddCookie(&http.Cookie{Name: "async_worker_" + tenant, Value: b.tokens["submit"]})
	r.Header.Set("Content-Type", kind)
	b.pages.ServeHTTP(&deadlines{ResponseRecorder: httptest.NewRecorder()}, r)
	if left := b.uploaded(); ctx.Err() == nil || len(left) > 0 {
		t.Errorf("the bucket has %q: %s", left, b.log)
	}
}

// An upload whose job is refused leaves no blob. One whose job may be recorded keeps it, and so does a bucket that fails,
// which the answer does not tell.
func TestRefusedUpload(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edit   func(*api.Deps)
		set    string
		status int
		kept   int
		logged string
	}{
		"busy":     {func(*api.Deps) {}, "harbour", http.StatusConflict, 0, ""},
		"invalid":  {func(*api.Deps) {}, "a\nb", http.StatusBadRequest, 0, ""},
		"overload": {func(d *api.Deps) { d.HighWatermark = -1 }, "s", http.StatusServiceUnavailable, 0, ""},
		"silent":   {func(d *api.Deps) { d.Store = silent{d.Store} }, "s", http.StatusServiceUnavailable, 1, ""},
		"stuck": {
			func(d *api.Deps) { d.Bucket = keeping{d.Bucket} }, "harbour", http.StatusConflict, 1,
			"an upload whose job was refused could not be removed",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, c.edit)
			b.begin("active", "ingest", `{"filename":"tide table.pdf","document_set":"harbour"}`)
			kind, body := file(t, c.set, "tide table.pdf", "content")
			v := b.visit("submit")
			v.want(v.do(http.MethodPost, "documents/upload", body, "Content-Type", kind), c.status)
			if left := b.uploaded(); len(left) != c.kept {
				t.Errorf("the bucket has %q", left)
			}
			if !strings.Contains(b.log.String(), c.logged) {
				t.Errorf("the log lacks %q: %s", c.logged, b.log)
			}
		})
	}
}
