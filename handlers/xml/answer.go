package xml

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/gateway"
	"github.com/seed-7227ef26/async-worker/internal/source"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/internal/wellformed"
)

// An answer is kept before the job goes on: first its blob, under the name of the claim, then its row. So each crash
// finds a state from which nothing is paid for twice:
//
//	before the call         nothing was paid; the claim ends with the job's lease
//	before the blob         the answer is lost with the worker's disk: it was not stored
//	before the row          the next claim finds the blob of the claim before it: see adopt.go
//	before the commit       the next attempt takes what is kept
//
// The upkeep removes what was not used for long, see upkeep.Answers.

// question is what one call, or a whole checked task, is asked.
type question struct {
	key    string // with the hash of the file that is sent
	step   string // the mode, or the step of a checked task
	accept gateway.Format
}

// keyOf hashes everything that determines an answer.
func keyOf(parts ...any) string {
	sum := sha256.New()
	for _, p := range parts {
		text := fmt.Sprint(p)
		fmt.Fprintf(sum, "%d\x00%s", len(text), text)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// answer is an answer in a private file.
type answer struct {
	path string
	store.AnswerFile
	paidByOther bool
}

const (
	// keepTime is how long the container and the store may take to keep an answer, which is paid for, even if the task must
	// stop.
	keepTime = time.Minute
	// claimTries bounds how often an answer is claimed whose blob was removed meanwhile.
	claimTries = 5
)

// once returns the kept answer to a question, or asks it, as the only job of the tenant, and keeps the answer. ask
// writes the answer to a file. *store.BusyError while another job asks: the engine puts the task back, without an
// attempt.
func (w *work) once(
	ctx context.Context, q question, ask func(ctx context.Context, into string) (store.AnswerFile, error),
) (answer, error) {
	missing := ""
	for range claimTries {
		claim, err := w.deps.Store.ClaimAnswer(ctx, store.AnswerQuestion{
			Holder: w.call.Holder, Key: q.key, SourceSHA256: w.file.SHA256, Mapping: w.payload.Mapping, Mode: q.step,
			Fresh: w.call.Task.Hints.Force, Missing: missing,
		})
		if err != nil {
			return answer{}, fmt.Errorf("claim an answer of the gateway: %w", err)
		}
		if !claim.Kept {
			return w.ask(ctx, q, claim, ask)
		}
		path, err := w.download(ctx, claim.AnswerFile)
		if err == nil {
			return answer{path, claim.AnswerFile, !claim.Own}, nil
		}
		if !errors.Is(err, errGone) {
			return answer{}, err
		}
		missing = claim.Blob
	}
	return answer{}, taskerr.Errorf(taskerr.TransientStorage,
		"the kept answer of the gateway is removed again and again; does something delete blobs below %s?", gateway.Kept)
}

func (w *work) ask(
	ctx context.Context, q question, claim store.AnswerClaim,
	ask func(ctx context.Context, into string) (store.AnswerFile, error),
) (answer, error) {
	if found, err := w.adopt(ctx, q, claim); err != nil || found != nil {
		return w.keep(ctx, q, claim.Claim, found, err)
	}
	if err := w.remember(ctx, q, claim); err != nil {
		return answer{}, err
	}
	a := answer{path: filepath.Join(w.file.Dir, q.step+"-"+q.key[:16])}
	var err error
	if a.AnswerFile, err = ask(ctx, a.path); err != nil {
		return answer{}, err
	}
	if w.unkept && q.step == string(Checked) {
		return a, nil
	}
	a.Blob = gateway.KeptBlob(q.key, claim.Claim)
	paid, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepTime)
	defer cancel()
	if err := w.upload(paid, a.path, a.Blob, q.accept); err != nil {
		return answer{}, err
	}
	return w.keep(paid, q, claim.Claim, &a, nil)
}

// keep records an answer whose blob is uploaded.
func (w *work) keep(ctx context.Context, q question, claim int64, a *answer, err error) (answer, error) {
	if err != nil {
		return answer{}, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepTime)
	defer cancel()
	superseded, err := w.deps.Store.KeepAnswer(ctx, store.Answer{
		Holder: w.call.Holder, Key: q.key, Claim: claim, AnswerFile: a.AnswerFile,
	})
	if err != nil {
		return answer{}, fmt.Errorf("keep an answer of the gateway: %w", err)
	}
	if superseded != "" {
		if err := w.deps.Bucket.Remove(ctx, superseded); err != nil && !errors.Is(err, blob.ErrNotFound) {
			w.deps.Log.Warn("can't remove an answer of the gateway that is not needed any more", "job_id", w.call.Task.ID,
				"blob", superseded, "error", err)
		}
	}
	return *a, nil
}

// errGone means that the blob of a kept answer is missing, or is another one.
var errGone = errors.New("the kept answer is gone")

// download copies a kept answer to a private file. An empty SHA256 is not compared.
func (w *work) download(ctx context.Context, f store.AnswerFile) (string, error) {
	_, body, err := w.deps.Bucket.Open(ctx, f.Blob)
	if errors.Is(err, blob.ErrNotFound) {
		return "", errGone
	}
	if err != nil {
		return "", asIO(fmt.Errorf("open the kept answer of the gateway: %w", err))
	}
	defer func() { _ = body.Close() }() // read-only
	path := filepath.Join(w.file.Dir, "kept-"+keyOf(f.Blob)[:16])
	file, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return "", asIO(source.NoRoom(err))
	}
	sum := sha256.New()
	_, err = io.Copy(io.MultiWriter(file, sum), body)
	if closeErr := file.Close(); closeErr != nil {
		err = errors.Join(err, source.NoRoom(closeErr))
	}
	switch {
	case errors.Is(err, blob.ErrChanged), errors.Is(err, blob.ErrNotFound):
		return "", errGone
	case err != nil:
		return "", asIO(fmt.Errorf("read the kept answer of the gateway: %w", err))
	case f.SHA256 != "" && f.SHA256 != hex.EncodeToString(sum.Sum(nil)):
		return "", errGone
	}
	return path, nil
}

// digest checks a file, and returns its hash and size.
func digest(path string, format gateway.Format) (sum string, size int64, err error) {
	file, err := os.Open(path)
	if err != nil {
		return "", 0, asIO(source.NoRoom(err))
	}
	defer func() { _ = file.Close() }() // read-only
	h := sha256.New()
	check := wellformed.XML
	if format == gateway.JSON {
		check = wellformed.JSON
	}
	counted := io.TeeReader(file, h)
	if err := check(counted, wellformed.Limits{}); err != nil {
		return "", 0, fmt.Errorf("a kept answer of the gateway is damaged: %w", err)
	}
	info, err := file.Stat()
	if err != nil {
		return "", 0, asIO(source.NoRoom(err))
	}
	return hex.EncodeToString(h.Sum(nil)), info.Size(), nil
}

// upload writes a file to the container.
func (w *work) upload(ctx context.Context, path, name string, format gateway.Format) error {
	file, err := os.Open(path)
	if err != nil {
		return asIO(source.NoRoom(err))
	}
	defer func() { _ = file.Close() }() // read-only
	if _, err := w.deps.Bucket.Put(ctx, name, file, string(format)); err != nil {
		return asIO(fmt.Errorf("upload the answer of the gateway: %w", err))
	}
	return nil
}

// details decodes what was kept with an answer.
func details(raw json.RawMessage, into any) bool {
	return len(raw) > 0 && json.Unmarshal(raw, into) == nil
}
