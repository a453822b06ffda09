package handlers

import (
	"context"
	"errors"
	"fmt"
)

// Stopped puts the reason why ctx ended before err, which is its consequence then: the engine acts on the reason. It
// returns err as it is while ctx goes on, and nil for nil.
func Stopped(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(err, cause) {
		return fmt.Errorf("%w: %w", cause, err)
	}
	return err
}
