package doctor

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/azure"
	"github.com/seed-7227ef26/async-worker/internal/blob"
)

// ProbeBlob is the blob that the doctor writes, overwrites and reads.
const ProbeBlob = "derived/.doctor"

const probeBody = "written by doctor"

func container(ctx context.Context, w *Worker) []Result {
	b, err := w.Bucket(ctx)
	if err != nil {
		return append([]Result{failed("container", err, "")}, skipped(Container, "the account can't be opened")[1:]...)
	}
	if w.Folder != nil {
		return w.folder(ctx, b)
	}
	exists := w.within(ctx, b.Exists)
	absent := errors.Is(exists, blob.ErrNotFound)
	if exists != nil && !absent && !denied(exists) {
		return append([]Result{failed("container", exists, "")},
			skipped(Container, "the account does not answer")[1:]...)
	}
	if absent && w.NoCreate {
		missing := Result{
			Check: "container", State: Warn, Seen: "it does not exist",
			Remedy: "the worker creates it at its start; or leave out --no-create",
		}
		return append([]Result{missing}, skipped(Container, "there is no container")[1:]...)
	}
	created := w.within(ctx, b.Create)
	var results []Result
	switch {
	case absent && created != nil:
		why := w.refused("container", azure.ContainerCreate, w.Container, created)
		missing := Result{
			Check: "container", State: Fail, Class: classOf(created),
			Seen:   "it does not exist, and can't be created: " + why.Seen,
			Remedy: "create it as the owner of the account, or: " + cmp.Or(why.Remedy, "ask the owner why"),
		}
		return append([]Result{missing}, skipped(Container, "there is no container")[1:]...)
	case absent:
		results = append(results, ok("container", "it was created"))
	case exists != nil:
		r := w.refused("container", azure.ContainerRead, w.Container, exists)
		if created == nil { // Create Container has succeeded although the container exists
			r.State, r.Class = Warn, None
		}
		results = append(results, r)
	default:
		results = append(results, ok("container", "it exists"))
	}
	if created != nil {
		results = append(results, w.refused("container create", azure.ContainerCreate, w.Container, created))
	} else {
		results = append(results, ok("container create", "it may be created"))
	}
	return append(results, w.writeAndRead(ctx, b)...)
}

// folder checks a folder of documents for a worker that is another user. It does not make the folder, which would be this
// user's.
func (w *Worker) folder(ctx context.Context, b Bucket) []Result {
	if os.Geteuid() != 0 {
		return skipped(Container, "the folder is the worker's: only root sees what that user may do there")
	}
	var denied string
	err := w.within(ctx, func(ctx context.Context) (err error) {
		denied, err = w.Folder(ctx)
		return err
	})
	switch {
	case errors.Is(err, blob.ErrNotFound):
		missing := Result{
			Check: "container", State: Warn, Seen: "it does not exist",
			Remedy: "the worker makes it when it starts: start the worker",
		}
		return append([]Result{missing}, skipped(Container, "there is no folder")[1:]...)
	case err != nil:
		return append([]Result{failed("container", err, "")}, skipped(Container, "the folder can't be looked at")[1:]...)
	case denied != "": // nothing is written, which might be root's as well
		unusable := Result{
			Check: "container", State: Fail, Class: Permission, Seen: denied + ": the worker can't use it",
			Remedy: "the folder must belong to the worker's user or group (docs/postgres-queue.md), and what is in it to the " +
				"folder's owner: chown --recursive --reference=BLOB_DIR BLOB_DIR",
		}
		return append([]Result{unusable}, skipped(Container, "the worker can't use all of the folder")[1:]...)
	}
	first := ok("container", "it exists, and its owner may use it")
	created := Result{Check: "container create", State: Skipped, Seen: "the worker makes the folder"}
	return append([]Result{first, created}, w.writeAndRead(ctx, b)...)
}

// writeAndRead writes a blob twice, because the right to create does not include overwriting, reads it and removes it.
func (w *Worker) writeAndRead(ctx context.Context, b Bucket) []Result {
	write := func(ctx context.Context) error {
		_, err := b.Put(ctx, ProbeBlob, strings.NewReader(probeBody), "text/plain")
		return err
	}
	written := w.within(ctx, write)
	if written == nil {
		written = w.within(ctx, write)
	}
	read := w.within(ctx, func(ctx context.Context) error {
		_, body, err := b.Open(ctx, ProbeBlob)
		if err != nil {
			return err
		}
		content, err := io.ReadAll(body)
		if err == nil && !bytes.Equal(content, []byte(probeBody)) {
			err = errors.New("the content read differs from the content written")
		}
		return errors.Join(err, body.Close())
	})
	listed := w.within(ctx, func(ctx context.Context) (err error) {
		for _, problem := range b.List(ctx, ProbeBlob) {
			err = errors.Join(err, problem)
		}
		return err
	})
	removed := w.within(context.WithoutCancel(ctx), func(ctx context.Context) error { return b.Remove(ctx, ProbeBlob) })
	results := []Result{
		ok("blob write", "written, overwritten"), ok("blob read", "the same was read"), ok("blob delete", "removed"),
		ok("blob list", "listed"), w.signs(ctx, b),
	}
	if written != nil {
		results[0] = w.refused("blob write", azure.BlobWrite, w.Container, written)
	}
	switch {
	case errors.Is(read, blob.ErrNotFound) && written != nil:
		results[1] = ok("blob read", "a missing blob is reported as not found, which requires the right to read")
	case read != nil:
		results[1] = w.refused("blob read", azure.BlobRead, w.Container, read)
	}
	if removed != nil && !errors.Is(removed, blob.ErrNotFound) {
		results[2] = w.refused("blob delete", azure.BlobDelete, w.Container, removed)
		results[2].Seen += "; " + ProbeBlob + " stays"
	}
	if listed != nil {
		results[3] = w.refused("blob list", azure.BlobList, w.Container, listed)
	}
	return results
}

// signs checks the right to sign addresses, where exports have them.
func (w *Worker) signs(ctx context.Context, b Bucket) Result {
	const check = "blob sign"
	signer, can := b.(blob.Signer)
	if w.Sign == 0 || !can {
		return Result{Check: check, State: Skipped, Seen: cmp.Or(w.NoSign, "exported files get no address: EXPORT_URL_HOURS is 0")}
	}
	err := w.within(ctx, func(ctx context.Context) error {
		_, err := signer.SignDownload(ctx, ProbeBlob, w.Sign)
		return err
	})
	_, answered := errors.AsType[*azure.Problem](err)
	switch {
	case err == nil:
		return ok(check, "an address was signed")
	case errors.Is(err, blob.ErrUnsigned) && !answered:
		return Result{
			Check: check, State: Warn, Seen: "the credentials can't sign: exports fail with EXPORT_CANNOT_SIGN",
			Remedy: "give the right to them: " + strings.Join([]string{w.Grant(azure.BlobSign, w.Container), azure.BlobSign.Without}, "; "),
		}
	}
	return w.refused(check, azure.BlobSign, w.Container, err)
}
