package rerank

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"slices"

	"github.com/seed-7227ef26/async-worker/internal/httpurl"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// request is the body of both protocols: Cohere's has model and documents, that of text-embeddings-inference texts. All
// texts are to be rated, so there is neither Cohere's top_n nor Voyage's top_k.
type request struct {
	Query     string   `json:"query"`
	Model     string   `json:"model,omitempty"`
	Documents []string `json:"documents,omitempty"`
	Texts     []string `json:"texts,omitempty"`
	Truncate  bool     `json:"truncate,omitempty"` // else a text that is too long is an error
}

// rating is how one text was rated.
type rating struct {
	Index     *int     `json:"index"`
	Relevance *float64 `json:"relevance_score"` // Cohere, Voyage
	Score     *float64 `json:"score"`           // text-embeddings-inference
}

// maxAnswer limits the answer that is read, in bytes: services may repeat the texts in it.
const maxAnswer = 8 << 20

// errTimeout is the cause of the end of a request that took too long.
var errTimeout = errors.New("the request took too long")

// errQuestion is the cause of a refusal that another question need not get: one of its length, say.
var errQuestion = errors.New("the re-ranker refuses this question")

// mostTexts is how many texts text-embeddings-inference takes in a request, unless it is told otherwise
// (--max-client-batch-size). The other services take a thousand.
const mostTexts = 32

// ask has the service rate the texts, in parts where it takes no more: a rating depends on no other text.
func (c *Client) ask(ctx context.Context, question string, texts []string) (rates []float64, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, c.config.Timeout, errTimeout)
	defer cancel()
	most := len(texts)
	if c.config.Model == "" {
		most = mostTexts
	}
	for part := range slices.Chunk(texts, max(most, 1)) {
		some, err := c.askPart(ctx, question, part)
		if err != nil {
			return nil, err
		}
		rates = append(rates, some...)
	}
	scale(rates)
	return rates, nil
}

// scale brings ratings to 0 to 1. Those that are not (llama.cpp's) are logits, which the logistic function maps without
// losing their order, as cutting them off would. One that is beyond 1 by rounding is none.
func scale(rates []float64) {
	const rounding = 1e-3
	logits := slices.ContainsFunc(rates, func(r float64) bool { return r < -rounding || r > 1+rounding })
	for i, r := range rates {
		if logits {
			r = 1 / (1 + math.Exp(-r))
		}
		rates[i] = min(max(r, 0), 1)
	}
}

func (c *Client) askPart(ctx context.Context, question string, texts []string) ([]float64, error) {
	q := request{Query: question, Texts: texts, Truncate: true}
	if c.config.Model != "" {
		q = request{Query: question, Model: c.config.Model, Documents: texts}
	}
	body, err := json.Marshal(q)
	if err != nil {
		return nil, fmt.Errorf("write a question for the re-ranker: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.config.URL, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("make a request to the re-ranker: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	if c.config.APIKey != "" {
		req.Header.Set("Authorization", "Bearer "+c.config.APIKey)
	}
	resp, err := c.client.Do(req)
	if err != nil {
		return nil, c.transport(ctx, err)
	}
	defer func() { _ = resp.Body.Close() }() // read-only
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, c.transport(ctx, err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, refused(resp.StatusCode)
	}
	rates, ok := read(answer, len(texts))
	if !ok {
		return nil, &taskerr.Error{
			Class:   taskerr.DependencyUnavailable,
			Message: "the re-ranker did not answer with one score for each passage",
			Hint: "check RERANK_URL, and RERANK_MODEL: a service with Cohere's or Voyage's API needs one, " +
				"text-embeddings-inference none",
		}
	}
	return rates, nil
}

// read takes the ratings out of an answer; not ok: it has not exactly one for each of n texts.
func read(answer []byte, n int) (rates []float64, ok bool) {
	var list []rating
	if json.Unmarshal(answer, &list) != nil {
		var named struct {
			Results []rating `json:"results"` // Cohere
			Data    []rating `json:"data"`    // Voyage
		}
		if json.Unmarshal(answer, &named) != nil {
			return nil, false
		}
		list = append(named.Results, named.Data...)
	}
	if len(list) != n {
		return nil, false
	}
	rates = make([]float64, n)
	seen := make([]bool, n)
	for _, r := range list {
		score := r.Relevance
		if score == nil {
			score = r.Score
		}
		if score == nil || r.Index == nil || *r.Index < 0 || *r.Index >= n || seen[*r.Index] || math.IsNaN(*score) {
			return nil, false
		}
		seen[*r.Index] = true
		rates[*r.Index] = *score
	}
	return rates, true
}

// transport classifies connection errors. Their causes have no address: it may hold a key.
func (c *Client) transport(ctx context.Context, err error) error {
	var network net.Error
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errTimeout), cause == nil && errors.As(err, &network) && network.Timeout():
		return &taskerr.Error{
			Class: taskerr.NetworkTimeout, Cause: httpurl.Unquoted(err),
			Message: fmt.Sprintf("the re-ranker did not answer within %v", c.config.Timeout),
		}
	case cause != nil:
		return cause
	}
	if redirect, ok := errors.AsType[*httpurl.RedirectError](err); ok {
		return taskerr.Errorf(taskerr.DependencyUnavailable, "the re-ranker: %w", redirect)
	}
	return &taskerr.Error{
		Class: taskerr.DependencyUnavailable, Cause: httpurl.Unquoted(err),
		Message: "the re-ranker could not be reached, or the connection to it broke",
		Hint:    "check that the service at RERANK_URL is running",
	}
}

// refused classifies an error response. The service's own message is dropped, because it may quote the passages.
func refused(status int) error {
	e := taskerr.Errorf(taskerr.DependencyUnavailable, "the re-ranker failed (HTTP %d)", status)
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		e.Message = fmt.Sprintf("the re-ranker refuses the key (HTTP %d)", status)
		e.Hint = "check RERANK_API_KEY"
	case status == http.StatusTooManyRequests:
		e.Hint = "the service's limit of requests is reached; until it takes more, the order is that of words and vectors"
	case status == http.StatusNotFound || status < http.StatusBadRequest:
		e.Hint = "check RERANK_URL: it is the whole address, e.g. https://api.cohere.com/v2/rerank"
	case status < http.StatusInternalServerError:
		e.Cause = errQuestion
		e.Message = fmt.Sprintf("the re-ranker refuses a parameter (HTTP %d)", status)
		e.Hint = "check RERANK_MODEL, and that the service has Cohere's, Voyage's or text-embeddings-inference's API"
	}
	return e
}
