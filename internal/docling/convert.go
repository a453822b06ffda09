package docling

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/retry"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// Memory keeps one value from one attempt to the next.
type Memory interface {
	// Load reads the last saved value into v and reports whether there is one.
	Load(v any) bool
	// Save keeps v for the next attempt. It saves soon and doesn't wait.
	Save(v any)
}

// Shelf keeps results by the SHA-256 of the file they were made from, because the server returns each only
// once.
type Shelf interface {
	// Open returns the stored result, or nil.
	Open(ctx context.Context, sha256 string) (io.ReadCloser, error)
	Put(ctx context.Context, sha256 string, result io.Reader) error
}

// state is what the next attempt needs to know.
type state struct {
	Server  string `json:"server"` // hash of its URL
	Source  string `json:"source"` // SHA-256 of the file
	Options string `json:"options"`
	Task    string `json:"task"`           // id at the server; empty: none
	Kept    bool   `json:"kept,omitempty"` // this job's result is on the shelf
}

func (s state) fits(other state) bool {
	return s.Server == other.Server && s.Source == other.Source && s.Options == other.Options
}

// Convert converts a file and returns Docling's result, with at least a part of the document. It uses a result
// on the shelf, waits for a task that an earlier attempt submitted, and submits a task that the server has
// forgotten once more. memory and shelf may be nil.
//
// Errors are *taskerr.Error; with taskerr.Docling as their Dependency they are the server's fault. If ctx ends,
// the error wraps its cause; the conversion continues on the server, which can't stop it.
func (c *Client) Convert(ctx context.Context, q Request, memory Memory, shelf Shelf) (*Result, error) {
	v := &conversion{Client: c, request: q, memory: memory, shelf: shelf, state: state{
		Server: c.server(), Source: q.SHA256, Options: q.options(),
	}}
	var before state
	if memory != nil && memory.Load(&before) && before.fits(v.state) {
		v.state = before
	}
	if r := v.fromShelf(ctx); r != nil {
		return r, nil
	}
	dir, err := os.MkdirTemp(c.o.TempDir, "docling-")
	if err != nil {
		return nil, taskerr.Errorf(taskerr.TransientStorage,
			"the worker can't write its temporary file; is its disk full?: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }() // a leftover is in TempDir, which is removed when the service stops
	v.path = filepath.Join(dir, "result.json.gz")
	if err := v.obtain(ctx); err != nil {
		return nil, err
	}
	return v.read(ctx)
}

// conversion is one call of Convert.
type conversion struct {
	*Client
	request Request
	memory  Memory
	shelf   Shelf
	state   state
	path    string // of the result, gzipped
}

func (v *conversion) remember() {
	if v.memory != nil {
		v.memory.Save(v.state)
	}
}

// obtain downloads the task's result to v.path.
func (v *conversion) obtain(ctx context.Context) error {
	for again := false; ; again = true {
		if v.state.Task == "" {
			if err := v.start(ctx); err != nil {
				return err
			}
		} else if !again {
			v.o.Log.InfoContext(ctx, "docling task resumed", "docling_task", v.state.Task)
		}
		err := v.finish(ctx)
		if !errors.Is(err, errUnknownTask) {
			return err
		}
		v.o.Log.WarnContext(ctx, "docling-serve does not know the task any more", "docling_task", v.state.Task,
			"submitted_again", !again)
		v.state.Task = ""
		v.remember()
		if again { // the server is up: this counts as an attempt, so that it ends
			return taskerr.Errorf(taskerr.DependencyUnavailable,
				"docling-serve forgot the document twice: does it restart again and again, or are there several "+
					"without a shared queue?")
		}
	}
}

// start submits the file. If the server refuses the document_timeout as too long, the server's own applies.
func (v *conversion) start(ctx context.Context) error {
	q := v.request
	task, err := v.submit(ctx, q)
	if errors.Is(err, errTimeoutRefused) {
		q.Options = nil
		for _, f := range v.request.Options {
			if f.Name != optionTimeout {
				q.Options = append(q.Options, f)
			}
		}
		task, err = v.submit(ctx, q)
	}
	switch {
	case errors.Is(err, errTimeoutRefused), errors.Is(err, errUnknownTask):
		return unexpected("an answer that does not fit")
	case err != nil:
		return err
	}
	v.state.Task = task
	v.remember()
	v.o.Log.InfoContext(ctx, "docling task submitted", "docling_task", task)
	return nil
}

// finish waits for the task and downloads its result.
func (v *conversion) finish(ctx context.Context) error {
	status, err := v.wait(ctx)
	if err != nil {
		return err
	}
	if status.State == Failed {
		return v.failed(ctx, status)
	}
	return v.fetch(ctx)
}

// failed returns the error of a task without a document. The next attempt, if any, submits again.
func (v *conversion) failed(ctx context.Context, s Status) error {
	if s.Failure == nil { // the result of a failed task may have more details, and may not exist
		if err := v.fetch(ctx); err == nil {
			if r, err := v.decode(); err == nil && r.Failure != nil {
				s.Failure = r.Failure
			}
		}
	}
	v.state.Task = ""
	v.remember()
	return taskFailed(s.Failure, s.Error)
}

// polls are the intervals of polling a task.
var polls = retry.Backoff{First: 200 * time.Millisecond, Max: 5 * time.Second, Factor: 1.5}

const retryWait = time.Second // after the first failure of a read request

// retryPolicy is the policy of read requests. A retry includes the body of the answer, which an HTTP transport that
// sends requests again can't: it has returned when the body breaks off.
func retryPolicy() retry.Policy {
	return retry.Policy{Backoff: retry.Backoff{First: retryWait, Max: 4 * retryWait}, Tries: 4, Retryable: retryable}
}

// wait polls until the task has ended.
func (v *conversion) wait(ctx context.Context) (Status, error) {
	for waits := polls.Waits(); ; {
		asked := time.Now()
		s, err := retry.Do(ctx, retryPolicy(), func() (Status, error) { return v.status(ctx, v.state.Task, pollWait) })
		if err != nil || s.finished() {
			return s, err
		}
		// A server that waited is polled again at once.
		if err := retry.Sleep(ctx, waits.Next()-time.Since(asked)); err != nil {
			return s, err
		}
	}
}

// retryable reports whether a request may be retried within this attempt.
func retryable(err error) bool {
	e, ok := errors.AsType[*taskerr.Error](err)
	return ok && e.Dependency == taskerr.Docling && e.RetryAfter <= retryWait
}

// fetch downloads the result to v.path. The server deletes it some time after the first download
// (DOCLING_SERVE_RESULT_REMOVAL_DELAY, 300 s), so an interrupted download can be repeated.
func (v *conversion) fetch(ctx context.Context) error {
	_, err := retry.Do(ctx, retryPolicy(), func() (struct{}, error) { return struct{}{}, v.download(ctx) })
	return err
}

// read decodes the result, stores it, and returns an error if it has no document.
func (v *conversion) read(ctx context.Context) (*Result, error) {
	r, err := v.decode()
	if err != nil {
		return nil, err
	}
	if err := r.problem(); err != nil {
		v.state.Task = ""
		v.remember()
		return nil, err
	}
	v.keep(ctx)
	return r, nil
}

// problem returns the reason why a result has no document, or nil.
func (r *Result) problem() error {
	switch {
	case r.Failure != nil:
		return taskFailed(r.Failure, "")
	case r.Status == Failed:
		return documentFailed(r.Errors)
	case r.Status == Skipped:
		return taskerr.Errorf(taskerr.UnsupportedFormat,
			"docling-serve skipped the document: it does not take this format")
	case r.Status != Success && r.Status != PartialSuccess:
		return unexpected(fmt.Sprintf("a document whose status is %q", line(r.Status)))
	case r.Document == nil && len(r.Errors) > 0:
		return documentFailed(r.Errors)
	case r.Document == nil:
		return unexpected("a result without json_content")
	}
	return nil
}
