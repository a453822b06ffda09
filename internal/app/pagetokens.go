package app

import (
	"context"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/ocr"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// limitTokens limits how many tokens each attempt of a task may use to read pages with a model, over all its documents.
func limitTokens(all handlers.Registry, most int) {
	for t, h := range all {
		all[t] = tokenLimit{h, most}
	}
}

type tokenLimit struct {
	handlers.Handler
	most int
}

// Handle implements handlers.Handler.
func (l tokenLimit) Handle(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
	return l.Handler.Handle(ocr.WithTokens(ctx, l.most), c)
}

// Needs implements handlers.Selective, as some handlers do.
func (l tokenLimit) Needs(t task.Task) []taskerr.Dependency {
	if s, ok := l.Handler.(handlers.Selective); ok {
		return s.Needs(t)
	}
	return l.Spec().Needs
}
