package store

import (
	"context"
	"time"
)

type patienceKey struct{}

// WithPatience returns a context under which calls end when the database has not answered anything for d since the
// first of them: it hangs. A database that answers a probe beside the first call is only slow, and may take longer.
func WithPatience(ctx context.Context, d time.Duration) context.Context {
	return context.WithValue(ctx, patienceKey{}, d)
}

// Patience returns what WithPatience has set; zero: calls are not ended.
func Patience(ctx context.Context) time.Duration {
	d, _ := ctx.Value(patienceKey{}).(time.Duration)
	return d
}
