package openai

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"time"

	api "github.com/sashabaranov/go-openai"
)

// Retries within one call are for a passing fault; what lasts longer is the engine's to wait for.
const (
	maxTries    = 5
	retryBudget = 20 * time.Second // of requests and waits together
	firstWait   = 500 * time.Millisecond
	longestWait = 8 * time.Second
)

// answer is a checked answer to one request.
type answer struct {
	vectors [][]float32 // of unit length, in the order of the inputs
	tokens  int         // as billed
}

// send asks for the vectors of one batch, with brief retries: exponential backoff with full jitter,
// or as long as the service asks for.
func (e *Embedder) send(ctx context.Context, b batch) (answer, *failure) {
	var spent time.Duration
	for try := 1; ; try++ {
		a, took, failure := e.try(ctx, b)
		if failure == nil || !failure.passing || ctx.Err() != nil || try == maxTries {
			return a, failure
		}
		wait := time.Duration(rand.Int64N(int64(min(firstWait<<(try-1), longestWait))))
		wait = max(wait, failure.err.RetryAfter)
		if spent += took + wait; spent > retryBudget {
			return a, failure
		}
		if err := e.limiter.sleep(ctx, wait); err != nil {
			return a, failure
		}
	}
}

// try makes one request, once the limiter lets it. took is the request's time without that wait.
func (e *Embedder) try(ctx context.Context, b batch) (a answer, took time.Duration, f *failure) {
	release, err := e.limiter.Acquire(ctx, b.tokens)
	if err != nil {
		return answer{}, 0, e.classify(ctx, err, nil)
	}
	defer release()
	request, cancel := context.WithTimeoutCause(ctx, e.timeout, errTimeout)
	defer cancel()
	request, record := withRecord(request)

	start := e.limiter.now()
	response, err := e.client.CreateEmbeddings(request, e.request(b.inputs))
	took = e.limiter.now().Sub(start)
	e.limiter.Observe(record.status, record.header)
	if err != nil {
		return answer{}, took, e.classify(request, err, record)
	}
	vectors, f := e.check(response, len(b.inputs))
	if f != nil {
		return answer{}, took, f
	}
	e.answered.Store(true)
	return answer{vectors: vectors, tokens: response.Usage.TotalTokens}, took, nil
}

func (e *Embedder) request(inputs []string) api.EmbeddingRequestStrings {
	r := api.EmbeddingRequestStrings{Input: inputs, Model: api.EmbeddingModel(e.model)}
	if !e.floats.Load() {
		r.EncodingFormat = api.EmbeddingEncodingFormatBase64 // a quarter of the bytes of decimal numbers
	}
	if e.sendDimensions {
		r.Dimensions = e.dimensions
	}
	return r
}

// check puts the results in the order of the inputs and makes them of unit length.
func (e *Embedder) check(r api.EmbeddingResponse, inputs int) ([][]float32, *failure) {
	if len(r.Data) != inputs {
		return nil, nonsense("%d vectors for %d inputs", len(r.Data), inputs)
	}
	vectors := make([][]float32, inputs)
	for _, d := range r.Data {
		if d.Index < 0 || d.Index >= inputs || vectors[d.Index] != nil {
			return nil, nonsense("no vector, or more than one, for some input")
		}
		if len(d.Embedding) != e.dimensions {
			return nil, e.wrongLength(len(d.Embedding))
		}
		if err := normalize(d.Embedding); err != nil {
			return nil, nonsense("a vector that %w", err)
		}
		vectors[d.Index] = d.Embedding
	}
	return vectors, nil
}

// normalize scales v in place to length 1.
func normalize(v []float32) error {
	var square float64
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	if math.IsNaN(square) || math.IsInf(square, 0) {
		return errors.New("is not of finite numbers")
	}
	if square == 0 {
		return errors.New("is zero")
	}
	scale := 1 / math.Sqrt(square)
	for i, x := range v {
		v[i] = float32(float64(x) * scale)
	}
	return nil
}
