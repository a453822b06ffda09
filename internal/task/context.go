package task

import "context"

type idKey struct{}

// WithID returns a context for work on the task with that id.
func WithID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, idKey{}, id)
}

// IDFrom returns the id of the task that ctx belongs to; empty: none.
func IDFrom(ctx context.Context) string {
	id, _ := ctx.Value(idKey{}).(string)
	return id
}
