package app

import "github.com/seed-7227ef26/async-worker/handlers/ingest"

// newContexts returns what ingest needs for contexts of chunks; nil: CONTEXT_MODE is off.
func (t *Tenant) newContexts() *ingest.Contexts {
	if t.contexts.Offline() {
		return nil
	}
	return &ingest.Contexts{
		Chat: t.contexts.Chat, Window: t.contexts.Window, Counter: t.contexts.Counter,
		MaxTokens: t.Config.Contexts.MaxTokens, Answers: t.Store, Log: t.log,
	}
}
