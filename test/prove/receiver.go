package main

import (
	"sync"

	hooks "github.com/seed-7227ef26/async-worker/webhook/receiver"
)

// receiver is the frontend's end of the webhooks.
type receiver struct {
	*hooks.Receiver

	mu    sync.Mutex
	wrong []string // webhooks that should never come
}

// received is what came under one webhook-id.
type received struct {
	Type  string
	times int
}

func newReceiver() (*receiver, error) {
	r := &receiver{}
	var err error
	r.Receiver, err = hooks.Open(hooks.Options{Reject: func(_ string, problem error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.wrong = append(r.wrong, problem.Error())
	}})
	return r, err
}

// of returns what came of a task, by webhook-id.
func (r *receiver) of(client, task string) map[string]received {
	heard := map[string]received{}
	for _, d := range r.Deliveries(client, task) {
		heard[d.ID] = received{d.Type, heard[d.ID].times + 1}
	}
	return heard
}
