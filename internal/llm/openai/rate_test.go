package openai

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/llm/llmtest"
)

// slow delays requests and answers at random, so that they overtake each other.
type slow struct{ http.RoundTripper }

func (s slow) RoundTrip(r *http.Request) (*http.Response, error) {
	time.Sleep(time.Duration(rand.Int64N(int64(200 * time.Millisecond)))) // virtual time
	response, err := s.RoundTripper.RoundTrip(r)
	time.Sleep(time.Duration(rand.Int64N(int64(800 * time.Millisecond))))
	return response, err
}

// account opens embeddings and chat of one in-process account.
func account(t *testing.T, s *llmtest.Server, inFlight int) (*Embedder, *Chat) {
	t.Helper()
	client := s.Client()
	client.Transport = slow{client.Transport}
	config := Config{
		BaseURL: s.URL(), APIKey: llmtest.Key, Dimensions: 8, HTTPClient: client, Limiter: NewLimiter(inFlight),
		Counter: sized(100), RequestTimeout: 10 * time.Second,
	}
	e, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	config.Model = "gpt-4o-mini"
	c, err := NewChat(config)
	if err != nil {
		t.Fatal(err)
	}
	return e, c
}

// In no period the limiter sends more requests than the service announces plus a twentieth. No request meets an
// empty bucket for long, and most of the limit is used.
func TestRequestRate(t *testing.T) {
	t.Parallel()
	for _, limits := range []llmtest.Limits{
		{Requests: 60},
		{Requests: 600, Every: 3},
		{Requests: 300, Every: 3, Pause: "1"},
		{Requests: 50, Period: 10 * time.Second},
		{Requests: 600, Tokens: 20_000},
	} {
		t.Run(fmt.Sprintf("%+v", limits), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := llmtest.NewInProcess(llmtest.Options{Limits: limits})
				e, c := account(t, s, 16)
				period := limits.Period
				if period == 0 {
					period = time.Minute
				}
				start := time.Now()
				var wg sync.WaitGroup
				for range 10 {
					wg.Go(func() { ask(t, start.Add(5*period), c) })
					wg.Go(func() { embed(t, start.Add(5*period), e) })
				}
				wg.Wait()
				took := time.Since(start)
				most, all := s.Most(period), s.Requests()
				t.Logf("%d requests in %v, at most %d of %d in %v, %d met an empty bucket", all, took, most,
					limits.Requests, period, s.Refused())
				if float64(most) > 1.05*float64(limits.Requests) {
					t.Errorf("%d requests in %v, the limit is %d", most, period, limits.Requests)
				}
				if limits.Tokens == 0 && limits.Pause == "" &&
					float64(all) < 0.8*float64(limits.Requests)*took.Seconds()/period.Seconds() {
					t.Errorf("%d requests in %v: the limit is hardly used", all, took)
				}
				if limits.Tokens == 0 && s.Refused() > 0 {
					t.Errorf("%d requests met an empty bucket", s.Refused())
				}
			})
		})
	}
}

// ask and embed use an account until the deadline. They ignore errors of the limit, which the engine would wait out.
func ask(t *testing.T, until time.Time, c *Chat) {
	for time.Now().Before(until) {
		_, _ = c.Ask(t.Context(), llm.Question{Text: "Hello.", MaxTokens: 200})
	}
}

func embed(t *testing.T, until time.Time, e *Embedder) {
	for time.Now().Before(until) {
		_, _ = e.Embed(t.Context(), []string{"some text"})
	}
}
