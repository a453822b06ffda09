package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/blob"
)

// discardLimit bounds the removal of a blob whose job was refused. The answer waits for it.
const discardLimit = 5 * time.Second

// SubmitUpload submits a job for a blob that PutBlob wrote for it alone. If the job is refused, the blob is removed: nobody
// else knows its name. If the job may be recorded, the blob stays.
func (c *Caller) SubmitUpload(ctx context.Context, j NewJob, b Blob) (Job, error) {
	submitted, err := c.Submit(ctx, j, "")
	if refused(err) {
		c.api.discard(context.WithoutCancel(ctx), b.Blob)
	}
	return submitted, err
}

// refused reports whether the error of a submission says that nothing was recorded.
func refused(err error) bool {
	p, ok := errors.AsType[*Problem](err)
	return ok && (p.Status < http.StatusInternalServerError || p.Code == codeOverloaded)
}

func (a *API) discard(ctx context.Context, name string) {
	ctx, cancel := context.WithTimeout(ctx, discardLimit)
	defer cancel()
	if err := a.deps.Bucket.Remove(ctx, name); err != nil && !errors.Is(err, blob.ErrNotFound) {
		a.deps.Log.Warn("an upload whose job was refused could not be removed; remove the blob", "blob", name, "error", err)
	}
}
