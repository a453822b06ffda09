package ingest

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// Children submits jobs in the name of a running one.
type Children interface {
	// Room returns a *store.BusyError while many messages wait on the queue of a priority.
	Room(ctx context.Context, p task.Priority) error
	// Submit records the tasks under the holder's job, and sends their messages. One that is recorded already is skipped.
	Submit(ctx context.Context, h store.Holder, tasks []task.Task) error
	// Send sends the messages of children that were recorded before and not sent.
	Send(ctx context.Context, unsent []store.Child) error
}

// Spread is the result of an ingest task with a prefix: what became of its blobs.
type Spread struct {
	DocumentSet string `json:"document_set"`         // as the task names it
	Prefix      string `json:"prefix"`               // as the task names it
	Listed      int    `json:"listed"`               // blobs with the prefix, but for skipped ones
	Submitted   int    `json:"submitted"`            // jobs of new and changed blobs; their parent is this one
	Unchanged   int    `json:"unchanged"`            // blobs whose documents were made of the same version
	Incomplete  int    `json:"incomplete,omitempty"` // blobs whose documents were not read in full, and are not due to be read again
	Pending     int    `json:"pending"`              // blobs for which another task has submitted a job that has not ended
	Failed      int    `json:"failed"`               // blobs whose ingest failed, unchanged since and not due again
	Deletions   int    `json:"deletions"`            // jobs that delete documents whose blob is gone, but for pending ones
	Skipped     int    `json:"skipped"`              // blobs that the worker wrote itself, and those with names that it refuses
}

const (
	maxSeen = 1 << 20 // blobs that are remembered to find documents without one: 8 MB
	stats   = 8       // blobs that are looked for at a time
)

// spreading is an attempt to submit a job for each blob of a prefix. It holds one batch of blobs, and of all others at
// most a number of 64 bits.
type spreading struct {
	*Handler
	call     handlers.Call
	payload  Payload
	priority task.Priority
	out      Spread
	batch    []blob.Properties
	seed     maphash.Seed
	seen     []uint64 // hashes of names, sorted at the end
}

// spread lists the blobs of the prefix and submits a job for each that has no document of this version. Ids of the jobs
// follow from this one's: another attempt finds those that were submitted, and goes on.
func (h *Handler) spread(ctx context.Context, c handlers.Call, p Payload) (handlers.Outcome, error) {
	if h.deps.Children == nil {
		return handlers.Outcome{}, taskerr.Errorf(taskerr.ValidationError, "payload.prefix: this worker submits no jobs")
	}
	if err := c.Progress.Stage(stageFetching); err != nil {
		return handlers.Outcome{}, err
	}
	s := &spreading{
		Handler: h, call: c, payload: p, priority: below(c.Task.Priority), seed: maphash.MakeSeed(),
		out: Spread{DocumentSet: p.DocumentSet, Prefix: *p.Prefix},
	}
	if err := s.blobs(ctx); err != nil {
		return handlers.Outcome{}, handlers.Stopped(ctx, err)
	}
	if p.DeleteMissing {
		if err := s.missing(ctx); err != nil {
			return handlers.Outcome{}, handlers.Stopped(ctx, err)
		}
	}
	if err := c.Progress.Stage(stageFinalizing); err != nil {
		return handlers.Outcome{}, err
	}
	unused := []taskerr.Dependency{taskerr.Model}
	if d := h.deps.ExtractorNeeds; d != "" {
		unused = append(unused, d)
	}
	return handlers.Outcome{Result: s.out, Unused: unused}, nil
}

// below is the priority of the jobs of a job: they are many, and others should not wait for all of them.
func below(p task.Priority) task.Priority {
	if p == task.PriorityHigh {
		return task.PriorityNormal
	}
	return task.PriorityLow
}

// blobs goes through the blobs of the prefix.
func (s *spreading) blobs(ctx context.Context) error {
	prefix := *s.payload.Prefix
	ours := blob.WorkerFolders() // no documents, unless the prefix names them
	for b, err := range s.deps.Bucket.List(ctx, prefix) {
		if err != nil {
			return fmt.Errorf("list the blobs: %w", err)
		}
		if blob.CheckName(b.Name) != nil || slices.ContainsFunc(ours, func(folder string) bool {
			return strings.HasPrefix(b.Name, folder) && !strings.HasPrefix(prefix, folder)
		}) {
			s.out.Skipped++
			continue
		}
		s.out.Listed++
		if s.payload.DeleteMissing && len(s.seen) < maxSeen {
			s.seen = append(s.seen, maphash.String(s.seed, b.Name))
		}
		if s.batch = append(s.batch, b); len(s.batch) == store.MaxChildren {
			if err := s.flush(ctx); err != nil {
				return err
			}
		}
	}
	return s.flush(ctx)
}

// flush submits the jobs of a batch of blobs.
func (s *spreading) flush(ctx context.Context) error {
	if len(s.batch) == 0 {
		return nil
	}
	blobs := make([]store.NamedBlob, len(s.batch))
	for i, b := range s.batch {
		blobs[i] = store.NamedBlob{Name: b.Name, ETag: b.ETag, Modified: b.ModifiedAt}
	}
	compared, err := s.deps.Sources.CompareBlobs(ctx, store.BlobComparison{
		Holder: s.call.Holder, DocumentSet: s.payload.DocumentSet, Blobs: blobs,
	})
	if err != nil {
		return fmt.Errorf("compare the blobs with the documents: %w", err)
	}
	if len(compared) != len(blobs) {
		return taskerr.Errorf(taskerr.InternalBug, "%d of %d blobs were compared", len(compared), len(blobs))
	}
	var wanted []child
	for i, c := range compared {
		same := c.ETag == blobs[i].ETag && !due(c.Readings, time.Duration(c.ReadAgoMS)*time.Millisecond)
		switch again := c.Submitted || s.call.Task.Hints.Force; {
		case !again && same && c.Readings > 0:
			s.out.Incomplete++
			continue
		case !again && same:
			s.out.Unchanged++
			continue
		case !again && c.Pending: // a schedule would add a job with each firing
			s.out.Pending++
			continue
		case !again && c.Failed: // a schedule would add a dead letter with each firing
			s.out.Failed++
			continue
		}
		s.out.Submitted++
		w := child{c.Child, Payload{Filename: c.Filename, Blob: blobs[i].Name, Metadata: s.payload.Metadata}}
		if w.payload.Filename == "" {
			w.payload.Filename = blobs[i].Name
		}
		wanted = append(wanted, w)
	}
	s.batch = s.batch[:0]
	if err := s.submit(ctx, wanted); err != nil {
		return err
	}
	s.call.Progress.Report(0, fmt.Sprintf("%d blobs are listed, %d jobs submitted", s.out.Listed, s.out.Submitted))
	return nil
}

// child is a job to submit, unless it is submitted.
type child struct {
	store.Child
	payload Payload
}

// submit submits jobs that are not submitted yet, and sends what was not sent.
func (s *spreading) submit(ctx context.Context, wanted []child) error {
	var fresh []task.Task
	var unsent []store.Child
	for _, w := range wanted {
		if !w.Submitted {
			t, err := s.task(w)
			if err != nil {
				return err
			}
			fresh = append(fresh, t)
		} else if w.Message != "" {
			unsent = append(unsent, w.Child)
		}
	}
	if len(fresh)+len(unsent) == 0 {
		return nil
	}
	if err := s.deps.Children.Room(ctx, s.priority); err != nil {
		return err
	}
	if err := s.deps.Children.Send(ctx, unsent); err != nil {
		return fmt.Errorf("send the messages of jobs that were submitted before: %w", err)
	}
	if err := s.deps.Children.Submit(ctx, s.call.Holder, fresh); err != nil {
		return fmt.Errorf("submit jobs: %w", err)
	}
	return nil
}

// task is the task of a child.
func (s *spreading) task(w child) (task.Task, error) {
	fields := map[string]any{
		"filename": w.payload.Filename, "blob": w.payload.Blob, "document_set": s.payload.DocumentSet,
	}
	if w.payload.Metadata != nil {
		fields["metadata"] = w.payload.Metadata
	}
	if w.payload.Delete {
		fields["delete"], fields["only_missing"] = true, true
	}
	raw, err := json.Marshal(fields)
	if err != nil {
		return task.Task{}, taskerr.Errorf(taskerr.InternalBug, "write the payload of a job: %w", err)
	}
	t := s.call.Task
	hints := t.Hints
	hints.Priority = ""
	return task.Task{
		ID: w.ID, Type: task.Ingest, Payload: raw, Priority: s.priority, Hints: hints, RequestedBy: t.RequestedBy,
		TraceParent: t.TraceParent,
	}, nil
}
