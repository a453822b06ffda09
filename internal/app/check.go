package app

import (
	"fmt"
	"strings"
	"sync"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/handlers/agent"
	"github.com/seed-7227ef26/async-worker/handlers/ingest"
	"github.com/seed-7227ef26/async-worker/handlers/ocr"
	"github.com/seed-7227ef26/async-worker/handlers/summarize"
	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// CheckTask says why every worker of this version would refuse a task: its type, or its payload. What depends on a
// worker's settings (whether there is a model, the languages of its OCR) it can't know. Errors are *taskerr.Error.
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
		return taskerr.Errorf(taskerr.ValidationError, "task_type %q is none that a worker can do; it takes %s", t.Type,
			strings.Join(names, ", "))
	}
	return h.Check(t)
}

// Types are the types of tasks that a worker of this version does, in alphabetical order.
func Types() ([]task.Type, error) {
	all, err := unequipped()
	return all.Types(), err
}

// unequipped are handlers that can read a payload, and nothing else.
var unequipped = sync.OnceValues(func() (handlers.Registry, error) { //nolint:gochecknoglobals // they have no state
	model := agent.Deps{Chat: struct{ llm.Chat }{}}
	all, err := handlers.NewRegistry(agent.New(model), agent.NewAI(model), ingest.New(ingest.Deps{}),
		ocr.New(ocr.Deps{}), summarize.New(summarize.Deps{}))
	if err != nil {
		return nil, fmt.Errorf("make handlers to check tasks: %w", err)
	}
	return all, nil
})
