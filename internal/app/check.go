package app

import (
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
