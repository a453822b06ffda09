package dashboard_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

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

// choose drops files on the form: names and contents.
func (w *browser) choose(pairs ...string) {
	w.Helper()
	var add strings.Builder
	for i := 0; i+1 < len(pairs); i += 2 {
		fmt.Fprintf(&add, "files.items.add(new File([%s], %q)); ", pairs[i+1], pairs[i])
	}
	is[bool](w, `(() => { const files = new DataTransfer(); `+add.String()+`
		document.querySelector("[data-drop]").dispatchEvent(new DragEvent("drop", {dataTransfer: files, bubbles: true, cancelable: true}));
		return true })()`)
}

// sendFiles sends the form, and returns the lines of its note and the names of the files that it still has.
func (w *browser) sendFiles() (lines, files string) {
	w.Helper()
	w.click("form[data-upload] button")
	w.await(`document.querySelector("[data-upload] progress").hidden`)
	return is[string](w, `[...document.querySelectorAll("[data-upload] [role=alert]:not([hidden]) p")].map(p => p.textContent).join("|")`),
		is[string](w, `[...document.querySelector("#file").files].map(f => f.name).join("|")`)
}

// What is refused of one file does not hold up the others. The form names it, keeps it, and sends it alone the next time.
// Without a connection or a session it stops, and keeps the rest.
func TestUploadOfSeveral(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	w := b.browse("submit")
	w.open("documents/upload")
	w.do(chromedp.SendKeys(chromedp.CSS("#set"), "harbour"))
	check := func(lines, files string, jobs int) {
		t.Helper()
		gotLines, gotFiles := w.sendFiles()
		got := is[int](w, `document.querySelectorAll("#sent [data-job]").length`)
		if matched, _ := path.Match(lines, gotLines); !matched || gotFiles != files || got != jobs {
			t.Errorf("the form says %q and keeps %q; %d jobs; want %q, %q, %d", gotLines, gotFiles, got, lines, files, jobs)
		}
	}
	w.choose("a.txt", `"a"`, "empty.txt", "", "b.txt", `"b"`)
	check("empty.txt: *empty", "empty.txt", 2)
	check("empty.txt: *empty", "empty.txt", 2)
	w.choose("large.bin", "new Uint8Array(40 << 20)", "empty.txt", "", "c.txt", `"c"`)
	check("large.bin: it is larger than 32 MiB. Use the API for it.|empty.txt: *empty", "large.bin|empty.txt", 3)
	w.choose("d.txt", `"d"`)
	check("", "", 4)
	w.choose("e.txt", `"e"`, "f.txt", `"f"`, "g.txt", `"g"`)
	b.restart(func() {
		check("e.txt: the connection was lost. Send it again.|Not sent: 2 more files.", "f.txt|g.txt|e.txt", 4)
	})
	check("", "", 7)
	w.choose("h.txt", `"h"`, "i.txt", `"i"`)
	is[int](w, `fetch("logout", {method: "POST", redirect: "manual"}).then(r => r.status)`)
	check("h.txt: you are signed out*|Not sent: 1 more file.", "i.txt|h.txt", 7)
	w.quietBut("Failed to load resource", "ERR_")
}
