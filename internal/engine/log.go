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

// logEnd logs the end of an attempt in one record: the only one about a task that succeeds.
func (a *attempt) logEnd(outcome string, class taskerr.Class, took time.Duration) {
	fields := []any{"outcome", outcome, "duration_ms", took.Milliseconds(), "stage", a.journal.current()}
	in := a.wait.Round(time.Millisecond).String()
	fields = append(fields, a.failed(class)...)
	switch outcome {
	case string(job.Succeeded):
		if a.warnings > 0 { // they may quote the document
			fields = append(fields, "warnings", a.warnings, "hint",
				"the job's result has them: async-worker jobs get "+a.task.ID)
		}
		a.log.Info("task done", append(fields, event.Key, event.TaskDone)...)
	case string(job.Canceled):
		a.log.Info("task canceled", append(fields, event.Key, event.TaskDone)...)
	case string(job.Failed):
		a.log.Warn("task failed", append(fields, event.Key, event.TaskFailed)...)
	case Retried:
		a.log.Warn("task failed; another attempt follows", append(fields, "of", a.begun.MaxAttempts, "in", in,
			event.Key,
			event.TaskRetried)...)
	case Released:
		a.log.Info("task given back", append(fields, "because", a.reason, "in", in, event.Key, event.TaskReleased)...)
	default:
		a.log.Warn("attempt void", append(fields, "because", a.reason, "fence", a.holder.Fence, event.Key,
			event.LeaseLost)...)
	}
}

// failed returns the log fields of the handler's failure, if there was one, also when the attempt is not counted.
func (a *attempt) failed(class taskerr.Class) []any {
	f := a.failure
	if f == nil {
		return nil
	}
	fields := []any{"error_class", cmp.Or(class, f.Class), "error", f.Message}
	if f.Cause != nil {
		fields = append(fields, "cause", f.Cause)
	}
	if h := hint(f); h != "" {
		fields = append(fields, "hint", h)
	}
	return fields
}

// fields are added to each record that any package logs during an attempt; see event.With.
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

// work is what the attempt's span records.
func (a *attempt) work() tracing.Work {
	return tracing.Work{
		TaskID: a.task.ID, TaskType: string(a.task.Type), TraceParent: a.task.TraceParent,
		Queue: a.queue.Name(), MessageID: a.msg.ID, Attempt: a.begun.Attempt,
	}
}
