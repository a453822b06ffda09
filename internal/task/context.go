package task

import "context"

type idKey struct{}

// WithID returns a context for the work of the task with that id.
func WithID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, idKey{}, id)
}

// IDFrom returns the id of the task whose work ctx is for; empty: of none.
func IDFrom(ctx context.Context) string {
	id, _ := ctx.Value(idKey{}).(string)
	return id
}
