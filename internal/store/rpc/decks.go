package rpc

import (
	"context"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

func (c *client) HoldDocument(ctx context.Context, h store.Holder, most int) (int, error) {
	answer, err := call[struct {
		Decks int `json:"decks"`
	}](ctx, c, "aw_hold_document", struct {
		store.Holder
		Most int `json:"most"`
	}{h, most})
	return answer.Decks, err
}
