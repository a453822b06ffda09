package app

import (
	"fmt"
	"sync"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/handlers/agent"
	"github.com/seed-7227ef26/async-worker/handlers/convert"
	"github.com/seed-7227ef26/async-worker/handlers/export"
	"github.com/seed-7227ef26/async-worker/handlers/ingest"
	"github.com/seed-7227ef26/async-worker/handlers/ocr"
	"github.com/seed-7227ef26/async-worker/handlers/summarize"
	"github.com/seed-7227ef26/async-worker/handlers/xml"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// handlerDeps is what the handlers of all task types need.
type handlerDeps struct {
	answers   agent.Deps
	convert   convert.Deps
	export    export.Deps
	ingest    ingest.Deps
	ocr       ocr.Deps
	summarize summarize.Deps
	xml       xml.Deps
}

// newRegistry makes the handlers of all task types. A new type is one line here: metrics, completion, checks of tasks
// and docs/state_machine.md take it from the registry.
func newRegistry(d handlerDeps) (handlers.Registry, error) {
	return handlers.NewRegistry(
		agent.New(d.answers), agent.NewAI(d.answers),
		convert.New(d.convert), export.New(d.export),
		ingest.New(d.ingest),
		ocr.New(d.ocr),
		summarize.New(d.summarize),
		xml.New(d.xml),
	)
}

// unequipped holds handlers that can only check payloads and describe themselves.
var unequipped = sync.OnceValues(func() (handlers.Registry, error) {
	all, err := newRegistry(handlerDeps{answers: agent.Deps{Chat: struct{ llm.Chat }{}}})
	if err != nil {
		return nil, fmt.Errorf("make handlers to check tasks: %w", err)
	}
	return all, nil
})

// Types returns the task types that a worker of this version runs, in alphabetical order.
func Types() ([]task.Type, error) {
	all, err := unequipped()
	return all.Types(), err
}

// Specs returns the descriptions of the task types that a worker of this version runs, in the order of Types.
func Specs() ([]handlers.Spec, error) {
	all, err := unequipped()
	if err != nil {
		return nil, err
	}
	specs := make([]handlers.Spec, 0, len(all))
	for _, t := range all.Types() {
		specs = append(specs, all[t].Spec())
	}
	return specs, nil
}

// policyOf returns the retry policy of a task type: its handler's, as the engine uses it.
func policyOf(t task.Type) job.Policy {
	if all, err := unequipped(); err == nil && all[t] != nil {
		if p := all[t].Spec().Policy; p.MaxAttempts > 0 {
			return p
		}
	}
	return job.DefaultPolicy
}
