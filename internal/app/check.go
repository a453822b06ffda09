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

// Types returns the task types that a worker of this version runs, in alphabetical order.
func Types() ([]task.Type, error) {
	all, err := unequipped()
	return all.Types(), err
}

// unequipped holds handlers that can only check payloads.
var unequipped = sync.OnceValues(func() (handlers.Registry, error) { //nolint:gochecknoglobals // they have no state
	model := agent.Deps{Chat: struct{ llm.Chat }{}}
	all, err := handlers.NewRegistry(agent.New(model), agent.NewAI(model), ingest.New(ingest.Deps{}),
		ocr.New(ocr.Deps{}), summarize.New(summarize.Deps{}))
	if err != nil {
		return nil, fmt.Errorf("make handlers to check tasks: %w", err)
	}
	return all, nil
})
