package openai

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/llm/llmtest"
	"github.com/seed-7227ef26/async-worker/internal/llm/offline"
	"github.com/seed-7227ef26/async-worker/internal/stack/leaktest"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

var _ llm.Embedder = (*Embedder)(nil)

func TestMain(m *testing.M) { leaktest.Main(m) }

// clock is a time that passes only while somebody waits.
type clock struct {
	mu    sync.Mutex
	now   time.Time
	waits []time.Duration
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	c.waits = append(c.waits, d)
	return context.Cause(ctx)
}

// After advances the time at once, and calls f after its caller has finished.
func (c *clock) After(d time.Duration, f func()) {
	_ = c.Sleep(context.Background(), d)
	go f()
}

func (c *clock) total() (sum time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range c.waits {
		sum += w
	}
	return sum
}

// open returns an Embedder of 64 dimensions with a fake clock.
func open(t *testing.T, s *llmtest.Server, change func(*Config)) (*Embedder, *clock) {
	t.Helper()
	c := Config{BaseURL: s.URL(), APIKey: llmtest.Key, Dimensions: 64, HTTPClient: s.Client()}
	if change != nil {
		change(&c)
	}
	e, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	clock := &clock{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	e.limiter.now, e.limiter.sleep, e.limiter.after = clock.Now, clock.Sleep, clock.After
	return e, clock
}

func texts(n int) []string {
	inputs := make([]string, n)
	for i := range inputs {
		inputs[i] = fmt.Sprintf("text number %d", i)
	}
	return inputs
}

// wantVectors checks that each vector belongs to its input.
func wantVectors(t *testing.T, inputs []string, got llm.Embeddings) {
	t.Helper()
	if len(got.Vectors) != len(inputs) {
		t.Fatalf("%d vectors for %d inputs", len(got.Vectors), len(inputs))
	}
	hasher, err := offline.New(64)
	if err != nil {
		t.Fatal(err)
	}
	want, err := hasher.Embed(t.Context(), inputs)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range got.Vectors {
		for j, x := range v {
			if math.Abs(float64(x-want.Vectors[i][j])) > 1e-6 {
				t.Fatalf("the vector of input %d is another's or not of unit length", i)
			}
		}
	}
}

func TestEmbed(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		options llmtest.Options
		change  func(*Config, *llmtest.Server)
	}{
		"openai":               {llmtest.Options{}, nil},
		"results in any order": {llmtest.Options{Reverse: true}, nil},
		"numbers for base64":   {llmtest.Options{FloatsOnly: true}, nil},
		"a model of one length": {
			llmtest.Options{Dimensions: 64},
			func(c *Config, _ *llmtest.Server) { c.Model = "bge-small" },
		},
		"azure": {llmtest.Options{}, func(c *Config, s *llmtest.Server) {
			c.Azure = &Azure{Endpoint: s.AzureURL() + "/", APIKey: llmtest.Key, APIVersion: "2024-10-21"}
			c.BaseURL, c.APIKey, c.Model = "", "", "our text-embedding-3-small"
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := llmtest.New(t, test.options)
			e, _ := open(t, s, func(c *Config) {
				if test.change != nil {
					test.change(c, s)
				}
			})
			inputs := texts(600)
			got, err := e.Embed(t.Context(), inputs)
			if err != nil {
				t.Fatal(err)
			}
			wantVectors(t, inputs, got)
			if !test.options.FloatsOnly && (s.Inputs() != 600 || got.Tokens != s.Tokens()) {
				t.Errorf("%d inputs for %d tokens; the server billed %d for %d", len(inputs), got.Tokens, s.Inputs(),
					s.Tokens())
			}
			for _, r := range s.Received() {
				if len(r.Inputs) > maxInputs {
					t.Errorf("a request of %d inputs", len(r.Inputs))
				}
				if r.Format != "base64" && !test.options.FloatsOnly {
					t.Errorf("encoding_format %q", r.Format)
				}
				if takes := strings.Contains(r.Model, "text-embedding-3"); takes != (r.Dimensions == 64) {
					t.Errorf("model %s was sent dimensions %d", r.Model, r.Dimensions)
				}
			}
		})
	}
}

func TestEmbedNothing(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t, llmtest.Options{})
	e, _ := open(t, s, nil)
	if got, err := e.Embed(t.Context(), nil); err != nil || len(got.Vectors) != 0 || s.Requests() != 0 {
		t.Errorf("got %v, %v after %d requests", got, err, s.Requests())
	}
	_, err := e.Embed(t.Context(), []string{"a", ""})
	if got, ok := errors.AsType[*taskerr.Error](err); !ok || got.Class != taskerr.InternalBug ||
		!strings.Contains(got.Message, "input 1") {
		t.Errorf("an empty input: %v", err)
	}
}

// sized is a counter by which every text has this many tokens.
type sized int

func (s sized) Count(string) int { return int(s) }

func TestBatchesAreBoundedByTokens(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t, llmtest.Options{})
	e, _ := open(t, s, func(c *Config) { c.Counter = sized(30_000); c.Concurrency = 2 })
	inputs := texts(14)
	got, err := e.Embed(t.Context(), inputs)
	if err != nil {
		t.Fatal(err)
	}
	wantVectors(t, inputs, got)
	if s.Requests() != 5 || s.Peak() > 2 {
		t.Errorf("14 inputs of 30,000 tokens took %d requests, up to %d at once", s.Requests(), s.Peak())
	}
}

// A batch that is too large is halved until the service accepts it.
func TestBatchThatIsTooLarge(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t, llmtest.Options{})
	s.Script(llmtest.Fault{Status: 413}, llmtest.Fault{Status: 400, Param: "input"})
	e, _ := open(t, s, nil)
	inputs := texts(100)
	got, err := e.Embed(t.Context(), inputs)
	if err != nil {
		t.Fatal(err)
	}
	wantVectors(t, inputs, got)
	var sizes []int
	for _, r := range s.Received() {
		sizes = append(sizes, len(r.Inputs))
	}
	if want := []int{100, 50, 25, 25, 50}; !slices.Equal(sizes, want) {
		t.Errorf("requests of %v inputs, want %v", sizes, want)
	}
}

func TestBadInputIsFound(t *testing.T) {
	t.Parallel()
	for _, bad := range []int{0, 137, 255, 256, 299} {
		s := llmtest.New(t, llmtest.Options{Poison: "poison"})
		e, _ := open(t, s, func(c *Config) { c.Concurrency = 1 })
		inputs := texts(300)
		inputs[bad] = "private poison " + llmtest.Key
		made, err := e.Embed(t.Context(), inputs)
		if got, ok := errors.AsType[*taskerr.Error](err); !ok || got.Class != taskerr.ValidationError {
			t.Fatalf("input %d is bad: %v", bad, err)
		}
		if made.Tokens != s.Tokens() || made.Tokens == 0 {
			t.Errorf("input %d is bad: %d tokens, the server billed %d", bad, made.Tokens, s.Tokens())
		}
		if got, ok := errors.AsType[*InputError](err); !ok || got.Index != bad {
			t.Errorf("input %d is bad: %v", bad, err)
		}
		wantNoSecret(t, err)
		if s.Requests() > 25 {
			t.Errorf("it took %d requests to find input %d", s.Requests(), bad)
		}
	}
}

func wantNoSecret(t *testing.T, err error) {
	t.Helper()
	for ; err != nil; err = errors.Unwrap(err) {
		if strings.Contains(err.Error(), "private") || strings.Contains(err.Error(), llmtest.Key) {
			t.Errorf("the error contains a text or a key: %v", err)
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t, llmtest.Options{FloatsOnly: true})
	e, _ := open(t, s, func(c *Config) { c.Concurrency = 3 })
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			inputs := texts(700)
			got, err := e.Embed(t.Context(), inputs)
			if err != nil {
				t.Error(err)
				return
			}
			wantVectors(t, inputs, got)
		})
	}
	wg.Wait()
	if s.Peak() > 3 {
		t.Errorf("%d requests at once", s.Peak())
	}
}

func TestEmbedStopsWithItsContext(t *testing.T) {
	t.Parallel()
	stop := errors.New("stop")
	for name, fault := range map[string]llmtest.Fault{
		"in a request":      {Hang: true},
		"between two tries": {Status: 429, Code: "rate_limit_exceeded"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancelCause(t.Context())
			fault.Before = func() { cancel(stop) }
			s := llmtest.New(t, llmtest.Options{})
			s.Break(fault)
			e, _ := open(t, s, nil)
			if _, err := e.Embed(ctx, texts(2000)); !errors.Is(err, stop) {
				t.Errorf("got %v", err)
			}
		})
	}
}
