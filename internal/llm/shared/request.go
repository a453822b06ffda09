package shared

import (
	"context"
	"slices"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/llm"
)

// request is one request for the inputs of several calls. The embedder's mu guards it until it is sent; waiting always.
type request struct {
	ctx    context.Context //nolint:containedctx // lives as long as one request
	cancel context.CancelFunc
	timer  *time.Timer // sends it

	calls         []*call
	inputs, bytes int
	waiting       int // calls that have not left
	sent          bool
}

// call is one call of Embed.
type call struct {
	inputs []string
	bytes  int
	answer chan answer // gets one
}

type answer struct {
	llm.Embeddings
	err      error
	alone    bool // the call is to be made again by itself
	panicked any
}

func (r *request) fits(c *call) bool {
	return r.inputs+len(c.inputs) <= maxInputs && r.bytes+c.bytes <= maxBytes
}

func (r *request) add(c *call) {
	r.calls = append(r.calls, c)
	r.inputs += len(c.inputs)
	r.bytes += c.bytes
	r.waiting++
}

func (r *request) remove(c *call) {
	r.calls = slices.DeleteFunc(r.calls, func(other *call) bool { return other == c })
	r.inputs -= len(c.inputs)
	r.bytes -= c.bytes
}

// tell answers all calls that have no answer yet, in order.
func (r *request) tell(with func(*call) answer) {
	for _, c := range r.calls {
		select {
		case c.answer <- with(c):
		default:
		}
	}
}
