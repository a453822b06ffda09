// Package export writes decks as PPTX or PDF files: it fetches the deck's JSON with its pictures, and maybe a template,
// writes the file, uploads it, and hands out a signed address.
package export

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/deck/fonts"
	"github.com/seed-7227ef26/async-worker/internal/deck/pptx"
	"github.com/seed-7227ef26/async-worker/internal/deck/printer"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/source"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// The stages, as job.Stages lists them.
const (
	stagePreparing  = "preparing"
	stageRendering  = "rendering_slides"
	stagePackaging  = "packaging"
	stageUploading  = "uploading_artifact"
	stageFinalizing = "finalizing"
)

// mostActive is how many jobs export one deck at a time.
const mostActive = 2

// Store is what the task needs of the store.
type Store interface {
	store.Decks
	DeckRow(ctx context.Context, id string) (store.DeckRow, error)
}

// Deps are the dependencies of the export task.
type Deps struct {
	Bucket  blob.Bucket
	Store   Store
	Limits  extract.Limits
	Fonts   *fonts.Library
	Soffice bool          // PDF is made by LibreOffice (PDF_ENGINE=soffice)
	Address time.Duration // how long a signed address holds at least; zero: none is made
	TempDir string        // for the deck and its files, in a private folder for each task
}

// Handler handles export tasks.
type Handler struct{ deps Deps }

// New returns a handler.
func New(deps Deps) *Handler { return &Handler{deps: deps} }

// Spec implements handlers.Handler.
func (h *Handler) Spec() handlers.Spec {
	return handlers.Spec{
		Type: task.Export, Stages: job.Stages[task.Export], Policy: job.Policies[task.Export],
		Needs:   []taskerr.Dependency{taskerr.Database, taskerr.Storage},
		Payload: reflect.TypeFor[Payload](),
	}
}

// Check implements handlers.Handler.
func (h *Handler) Check(t task.Task) error {
	_, err := readPayload(t.Payload)
	return err
}

// Result is the result of the contract and some more.
type Result struct {
	// the blob with the file, in the tenant's container
	ResultPath string `json:"result_path"`
	Bytes      int64  `json:"bytes"`  // of the file
	Slides     int    `json:"slides"` // in the file
	// a signed address of the file; null: EXPORT_URL_HOURS is 0
	URL *string `json:"url" jsonschema:"nullable"`
	// until when the address holds; null: there is none
	URLExpiresAt *time.Time `json:"url_expires_at" jsonschema:"nullable"`
	Warnings     []string   `json:"warnings" jsonschema:"required"` // what of the deck the file does not have

	Format Format `json:"format"`            // of the file
	DeckID string `json:"deck_id,omitempty"` // as the deck has it
	Title  string `json:"title"`             // of the deck
}

// work is one attempt to export a deck.
type work struct {
	*Handler
	call    handlers.Call
	payload Payload
	dir     string // private to the task
	deck    *deck.Deck
	printed printer.Result

	overwrites bool // a file of an earlier run was there before this run's first upload; it may have been handed out
}

// Handle exports one deck.
func (h *Handler) Handle(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
	w := &work{Handler: h, call: c}
	out, err := w.do(ctx)
	return out, handlers.Stopped(ctx, err)
}

func (w *work) do(ctx context.Context) (out handlers.Outcome, err error) {
	if err := w.call.Progress.Stage(stagePreparing); err != nil {
		return out, err
	}
	if w.payload, err = readPayload(w.call.Task.Payload); err != nil {
		return out, err
	}
	if err := w.canSign(ctx); err != nil {
		return out, err
	}
	if _, err := w.deps.Store.HoldDocument(ctx, w.call.Holder, mostActive); err != nil {
		return out, fmt.Errorf("begin to work on the deck: %w", err)
	}
	if w.dir, err = os.MkdirTemp(w.deps.TempDir, "export-"); err != nil {
		return out, source.NoRoom(err)
	}
	defer func() { _ = os.RemoveAll(w.dir) }() // what remains is in TempDir, which is removed when the worker ends
	if err := w.fetch(ctx); err != nil {
		return out, err
	}
	if err := w.write(ctx); err != nil {
		return out, err
	}
	return w.finish(ctx)
}

// name is the blob of the file: the same in every attempt, so that a task has one.
func (w *work) name() string { return fmt.Sprintf("exports/%s.%s", w.call.Task.ID, w.payload.Format) }

// canSign finds out before any work whether an address can be signed.
func (w *work) canSign(ctx context.Context) error {
	_, err := w.sign(ctx)
	return err
}

// sign signs an address of the file; a zero one if none is to be made.
func (w *work) sign(ctx context.Context) (address blob.Download, err error) {
	if w.deps.Address == 0 {
		return blob.Download{}, nil
	}
	err = blob.ErrUnsigned
	if signer, ok := w.deps.Bucket.(blob.Signer); ok {
		address, err = signer.SignDownload(ctx, w.name(), w.deps.Address)
	}
	if !errors.Is(err, blob.ErrUnsigned) {
		return address, err
	}
	cannot := &taskerr.Error{
		Class: taskerr.ValidationError, Code: "EXPORT_CANNOT_SIGN", Cause: err,
		Message: "the worker's storage account can't sign an address for the file, and EXPORT_URL_HOURS is not 0",
		Hint: "set AZURE_STORAGE_CONNECTION_STRING with the account's key; or remove it, and set AZURE_STORAGE_ACCOUNT with an " +
			"identity that may sign; or set EXPORT_URL_HOURS=0: results name the blob then, and have no address",
	}
	if denied, ok := errors.AsType[*taskerr.Error](err); ok && denied.Hint != "" {
		cannot.Hint = denied.Hint + "; or set EXPORT_URL_HOURS=0"
	}
	return blob.Download{}, cannot
}

// write writes the file.
func (w *work) write(ctx context.Context) (err error) {
	job := printer.Job{Deck: w.deck, Media: w.open, Folder: w.dir}
	if w.payload.Template != "" {
		t, err := w.template(ctx)
		if err != nil {
			return err
		}
		defer func() { _ = t.Close() }() // read-only
		job.Template, job.Deck = t, deck.Restyle(w.deck, t.Look())
	}
	if err := w.call.Progress.Stage(stageRendering); err != nil {
		return err
	}
	packaging := false
	job.Progress = func(done, total int) error {
		w.call.Progress.Pages(done, total)
		w.call.Progress.Report(float64(done)/float64(total), "")
		if done < total || packaging {
			return nil
		}
		packaging = true
		return w.call.Progress.Stage(stagePackaging)
	}
	path := filepath.Join(w.dir, "export."+string(w.payload.Format))
	switch {
	case w.payload.Format == PPTX:
		w.printed, err = printer.PPTX(ctx, job, path)
	case w.deps.Soffice:
		w.printed, err = printer.Soffice(ctx, job, w.deps.Limits, path)
	default:
		w.printed, err = printer.Native(ctx, job, w.deps.Fonts, path)
	}
	if err == nil && !packaging { // a deck without slides
		err = w.call.Progress.Stage(stagePackaging)
	}
	return err
}

// template fetches and reads the template.
func (w *work) template(ctx context.Context) (*pptx.Template, error) {
	file, err := source.Fetcher{Bucket: w.deps.Bucket}.Fetch(ctx, source.Place{Blob: w.payload.Template}, source.Options{
		TempDir: w.dir, Bytes: w.deps.Limits.Bytes, Progress: func(float64) {},
	})
	if err != nil {
		return nil, fmt.Errorf("fetch the template: %w", err)
	}
	t, err := pptx.OpenTemplate(ctx, file.Path, w.deps.Limits, filepath.Join(w.dir, "media"))
	if err != nil {
		return nil, fmt.Errorf("read the template: %w", err)
	}
	return t, nil
}

// finish uploads the file, and makes the outcome.
func (w *work) finish(ctx context.Context) (out handlers.Outcome, err error) {
	if err := w.call.Progress.Stage(stageUploading); err != nil {
		return out, err
	}
	file, err := os.Open(w.printed.Path)
	if err != nil {
		return out, taskerr.Errorf(taskerr.TransientStorage, "the worker can't read its temporary file: %w", err)
	}
	defer func() { _ = file.Close() }() // read-only
	if w.overwrites, err = w.earlier(ctx); err != nil {
		return out, err
	}
	about, err := w.deps.Bucket.Put(ctx, w.name(), file, w.payload.Format.contentType())
	if err != nil {
		err = fmt.Errorf("upload the file: %w", err)
		if ctx.Err() != nil { // it may be there although the answer did not come
			err = errors.Join(err, w.undo(ctx))
		}
		return out, err
	}
	if err := w.call.Progress.Stage(stageFinalizing); err != nil {
		return out, errors.Join(err, w.undo(ctx))
	}
	address, err := w.sign(ctx)
	if err != nil {
		return out, fmt.Errorf("sign the file's address: %w", err)
	}
	r := Result{
		ResultPath: w.name(), Bytes: about.Size, Slides: w.printed.Slides, Warnings: append([]string{}, w.printed.Warnings...),
		Format: w.payload.Format, DeckID: w.deck.ID, Title: w.deck.Title,
	}
	if address.URL != "" {
		expires := address.Expires.UTC()
		r.URL, r.URLExpiresAt = &address.URL, &expires
	}
	return handlers.Outcome{Result: r}, nil
}

// checkpoint is saved before the first upload of a run.
type checkpoint struct {
	Overwrites *bool `json:"overwrites"`
}

// earlier reports whether there is a file of an earlier run. The first attempt that uploads looks, and later ones know it
// from its checkpoint: a file that is there then may be that attempt's. Hints don't tell: a message that is sent again
// has none of force.
func (w *work) earlier(ctx context.Context) (bool, error) {
	var known checkpoint
	if json.Unmarshal(w.call.Checkpoint, &known) == nil && known.Overwrites != nil {
		return *known.Overwrites, nil
	}
	_, err := w.deps.Bucket.Stat(ctx, w.name())
	there := err == nil
	if err != nil && !errors.Is(err, blob.ErrNotFound) {
		return false, fmt.Errorf("look for the file of an earlier run: %w", err)
	}
	w.call.Progress.Checkpoint(checkpoint{&there})
	return there, w.call.Progress.Save(ctx)
}

// undo removes the file of a task that is canceled during or after the upload, unless it overwrites the file of an earlier
// run, which may have been handed out, or another attempt has the job: its file has the same name.
func (w *work) undo(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
	defer cancel()
	if w.overwrites || !store.Holds(ctx, w.deps.Store, w.call.Holder, mostActive) {
		return nil
	}
	if err := w.deps.Bucket.Remove(ctx, w.name()); err != nil && !errors.Is(err, blob.ErrNotFound) {
		return err
	}
	return nil
}
