package main

import (
	"sync"

	"github.com/seed-7227ef26/async-worker/webhook/webhooktest"
)

// receiver is the frontend's end of the webhooks.
type receiver struct {
	*webhooktest.Receiver

	mu    sync.Mutex
	wrong []string // webhooks that should never come
}

// received is what came under one webhook-id.
type received struct {
	Type  string
	times int
}

func newReceiver() *receiver {
	r := &receiver{}
	r.Receiver = webhooktest.Open(nil, func(problem error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.wrong = append(r.wrong, problem.Error())
	})
	return r
}

// of returns what came of a task, by webhook-id.
func (r *receiver) of(client, task string) map[string]received {
	heard := map[string]received{}
	for _, d := range r.Deliveries(client, task) {
		heard[d.ID] = received{d.Type, heard[d.ID].times + 1}
	}
	return heard
}
