package xml

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/gateway"
	"github.com/seed-7227ef26/async-worker/internal/source"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// folder has all results in the tenant's container.
const folder = "results/"

// resultBlob names the n-th result of a job, from 1: "results/t7.xml", and "results/2/t7.xml" after it was done again by
// force. It is the same in every attempt, and no other job has it, as ids have no slash. So a recorded result is never
// overwritten.
func resultBlob(job string, n int) string {
	if n <= 1 {
		return folder + job + ".xml"
	}
	return fmt.Sprintf("%s%d/%s.xml", folder, n, job)
}

// place uploads the XML under its name. The commit of the job decides that it is the result; until then nobody knows of
// it. What an earlier attempt has left there, of another version of the document, is replaced. With an error the name is
// that of a blob which this attempt may have written; empty: it has written none.
func (w *work) place(ctx context.Context, m made) (string, error) {
	before, err := w.deps.Store.Derived(ctx, store.DerivedQuery{
		JobID: w.call.Task.ID, SourceFilename: w.payload.Filename, SourceSHA256: w.file.SHA256, Recipe: w.recipe(),
	})
	if err != nil {
		return "", fmt.Errorf("look for earlier results: %w", err)
	}
	name := before.NewBlob(func(n int) string { return resultBlob(w.call.Task.ID, n) })
	err = w.putNew(ctx, m.path, name)
	if !errors.Is(err, blob.ErrExists) {
		return name, err
	}
	same, err := w.has(ctx, name, m.sha256)
	if err != nil {
		return "", err
	}
	if same {
		return name, nil
	}
	// A worker that has lost the job does not get past this call (I4).
	if err := w.call.Progress.Save(ctx); err != nil {
		return "", err
	}
	return name, w.upload(ctx, m.path, name, gateway.XML)
}

// withdrawTime is how long the removal of a result may take.
const withdrawTime = 20 * time.Second

// withdraw removes the result of an attempt that is canceled or fails after the upload, unless another attempt has the job:
// its result has the same name. What can't be removed now, the next attempt replaces. An empty name: there is none.
func (w *work) withdraw(ctx context.Context, name string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), withdrawTime)
	defer cancel()
	if name == "" || !store.Holds(ctx, w.deps.Store, w.call.Holder, 1) {
		return
	}
	if err := w.deps.Bucket.Remove(ctx, name); err != nil && !errors.Is(err, blob.ErrNotFound) {
		w.deps.Log.Warn("can't remove the result of a task that has ended without it", "job_id", w.call.Task.ID, "blob", name,
			"error", err)
	}
}

func (w *work) putNew(ctx context.Context, path, name string) error {
	file, err := os.Open(path)
	if err != nil {
		return asIO(source.NoRoom(err))
	}
	defer func() { _ = file.Close() }() // read-only
	if _, err := w.deps.Bucket.PutNew(ctx, name, file, string(gateway.XML)); err != nil {
		return asIO(fmt.Errorf("upload the result: %w", err))
	}
	return nil
}

// has reports whether a blob has the content.
func (w *work) has(ctx context.Context, name, sha256 string) (bool, error) {
	path, err := w.download(ctx, store.AnswerFile{Blob: name, SHA256: sha256})
	if errors.Is(err, errGone) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, os.Remove(path)
}
