package app

import (
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// CheckTask returns why every worker of this version would reject a task, a *taskerr.Error: because of its type or its
// payload. It does not know a worker's settings (whether there is a model, the languages of its OCR).
func CheckTask(t task.Task) error {
	all, err := unequipped()
	if err != nil {
		return err
	}
	h, ok := all[t.Type]
	if !ok {
		names := make([]string, 0, len(all))
		for _, known := range all.Types() {
			names = append(names, string(known))
		}
		return taskerr.Errorf(taskerr.ValidationError, "unknown task_type %q; use one of %s", t.Type,
			strings.Join(names, ", "))
	}
	return h.Check(t)
}

// Unread names what every worker of this version ignores in a task: fields of its message that the decoder does not know,
// and of its payload that its type does not read.
func Unread(t task.Task) []string {
	all, err := unequipped()
	if h, ok := all[t.Type]; err == nil && ok {
		return slices.Concat(t.Ignored, h.Spec().Unknown(t.Payload))
	}
	return t.Ignored
}
