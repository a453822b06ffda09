package rpc

import (
	"context"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

func (c *client) ClaimAnswer(ctx context.Context, q store.AnswerQuestion) (store.AnswerClaim, error) {
	claim, err := call[store.AnswerClaim](ctx, c, "aw_gateway_claim", q)
	claim.Details = orNil(claim.Details)
	return claim, err
}

func (c *client) KeepAnswer(ctx context.Context, a store.Answer) (string, error) {
	answer, err := call[struct {
		Superseded string `json:"superseded"`
	}](ctx, c, "aw_gateway_keep", a)
	return answer.Superseded, err
}

func (c *client) ExpireAnswers(ctx context.Context, olderThan time.Duration, limit int) ([]store.ExpiredAnswer, error) {
	answer, err := call[struct {
		Answers []store.ExpiredAnswer `json:"answers"`
	}](ctx, c, "aw_gateway_expire", expiry{millis(olderThan), limit})
	return answer.Answers, err
}

func (c *client) ForgetAnswers(ctx context.Context, gone []store.ExpiredAnswer) (int, error) {
	answer, err := call[removed](ctx, c, "aw_gateway_forget", struct {
		Answers []store.ExpiredAnswer `json:"answers"`
	}{gone})
	return answer.Removed, err
}
