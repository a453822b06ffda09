package queue

import (
	"context"
	"errors"
)

// SendEnsured sends to a queue, and creates it if it does not exist.
func SendEnsured(ctx context.Context, q Queue, text string, o SendOptions) error {
	_, err := q.Send(ctx, text, o)
	if errors.Is(err, ErrNotFound) {
		if err = q.Ensure(ctx); err == nil {
			_, err = q.Send(ctx, text, o)
		}
	}
	return err
}
