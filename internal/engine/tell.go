package engine

import (
	"cmp"
	"log/slog"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/event"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/internal/tracing"
)

// tell logs the end of an attempt, in one record: what operators read of a task that went well is this line alone.
func (a *attempt) tell(outcome string, class taskerr.Class, took time.Duration) {
	said := []any{"outcome", outcome, "duration_ms", took.Milliseconds(), "stage", a.journal.current()}
	in := a.wait.Round(time.Millisecond).String()
	said = append(said, a.failed(class)...)
	switch outcome {
	case string(job.Succeeded):
		if a.warnings > 0 { // they may quote the document
			said = append(said, "warnings", a.warnings, "hint",
				"the job's result has them: async-worker jobs get "+a.task.ID)
		}
		a.log.Info("task done", append(said, event.Key, event.TaskDone)...)
	case string(job.Canceled):
		a.log.Info("task canceled", append(said, event.Key, event.TaskDone)...)
	case string(job.Failed):
		a.log.Warn("task failed", append(said, event.Key, event.TaskFailed)...)
	case Retried:
		a.log.Warn("task failed, and is tried again", append(said, "of", a.begun.MaxAttempts, "in", in, event.Key,
			event.TaskRetried)...)
	case Released:
		a.log.Info("task given back", append(said, "because", a.why, "in", in, event.Key, event.TaskReleased)...)
	default:
		a.log.Warn("attempt void", append(said, "because", a.why, "fence", a.holder.Fence, event.Key,
			event.LeaseLost)...)
	}
}

// failed is what there is to say of what the handler failed with, if it did: also when the attempt is not counted.
func (a *attempt) failed(class taskerr.Class) []any {
	f := a.failure
	if f == nil {
		return nil
	}
	said := []any{"error_class", cmp.Or(class, f.Class), "error", f.Message}
	if f.Cause != nil {
		said = append(said, "cause", f.Cause)
	}
	if h := hint(f); h != "" {
		said = append(said, "hint", h)
	}
	return said
}

// fields are what each record bears that is logged in the course of an attempt, by whatever package; see event.With.
func (a *attempt) fields() []slog.Attr {
	all := []slog.Attr{
		slog.String("task_id", a.task.ID), slog.String("task_type", string(a.task.Type)),
		slog.Int("attempt", a.begun.Attempt),
		slog.String("queue", a.queue.Name()), slog.Any("stage", a.journal),
	}
	if a.trace != "" {
		all = append(all, slog.String("trace_id", a.trace))
	}
	return all
}

// work is what the attempt's span tells of it.
func (a *attempt) work() tracing.Work {
	return tracing.Work{
		TaskID: a.task.ID, TaskType: string(a.task.Type), TraceParent: a.task.TraceParent,
		Queue: a.queue.Name(), MessageID: a.msg.ID, Attempt: a.begun.Attempt,
	}
}
