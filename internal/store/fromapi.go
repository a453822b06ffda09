package store

import "context"

type fromAPIKey struct{}

// FromAPI returns a context for calls of the API's callers. Of the connections to the database they leave some to the
// engine, whose begins, heartbeats and completions must not wait behind requests.
func FromAPI(ctx context.Context) context.Context { return context.WithValue(ctx, fromAPIKey{}, true) }

// IsFromAPI reports whether the context is one of FromAPI.
func IsFromAPI(ctx context.Context) bool { return ctx.Value(fromAPIKey{}) != nil }
