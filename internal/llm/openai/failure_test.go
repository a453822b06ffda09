package openai

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/llm/llmtest"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// A call survives a passing fault.
func TestPassingFaults(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		faults []llmtest.Fault
		atLast time.Duration // total wait
	}{
		"rate limit": {[]llmtest.Fault{llmtest.RateLimited}, 0},
		"rate limit with a time": {
			[]llmtest.Fault{llmtest.RateLimited.After("6"), llmtest.RateLimited.After("7")},
			13 * time.Second,
		},
		"rate limit in milliseconds": {
			[]llmtest.Fault{{Status: 429, Header: http.Header{"Retry-After-Ms": {"9000"}}}},
			9 * time.Second,
		},
		"overloaded":           {[]llmtest.Fault{llmtest.Overloaded, {Status: 529}, {Status: 500}}, 0},
		"a gateway that fails": {[]llmtest.Fault{{Status: 502}}, 0},
		"cut connections":      {[]llmtest.Fault{llmtest.CutShort, llmtest.CutShort}, 0},
		"a vector too few":     {[]llmtest.Fault{{Extra: -1}}, 0},
		"a vector too many":    {[]llmtest.Fault{{Extra: 1}}, 0},
		"an index twice":       {[]llmtest.Fault{{SameIndex: true}}, 0},
		"not a number":         {[]llmtest.Fault{{NaN: true}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := llmtest.New(t, llmtest.Options{})
			s.Script(test.faults...)
			e, clock := open(t, s, nil)
			inputs := texts(3)
			got, err := e.Embed(t.Context(), inputs)
			if err != nil {
				t.Fatal(err)
			}
			wantVectors(t, inputs, got)
			if want := len(test.faults) + 1; s.Requests() != want {
				t.Errorf("%d requests, want %d", s.Requests(), want)
			}
			if got := clock.total(); got < test.atLast || got > retryBudget {
				t.Errorf("waited %v, want at least %v", got, test.atLast)
			}
		})
	}
}

// A lasting fault ends in its class, after the number of tries for that class.
func TestLastingFaults(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fault    llmtest.Fault
		class    taskerr.Class
		requests int
		after    time.Duration
		says     string
	}{
		"rate limit":      {llmtest.RateLimited, taskerr.AIRateLimit, limitTries, 0, "rate_limit_exceeded"},
		"long rate limit": {llmtest.RateLimited.After("45"), taskerr.AIRateLimit, 1, 45 * time.Second, ""},
		"no quota":        {llmtest.NoQuota.After("1"), taskerr.QuotaExceeded, 1, time.Second, "credit"},
		"overloaded":      {llmtest.Overloaded, taskerr.ModelOverloaded, maxTries, 0, ""},
		"down":            {llmtest.Fault{Status: 500}, taskerr.DependencyUnavailable, maxTries, 0, "HTTP 500"},
		"gateway timeout": {llmtest.Fault{Status: 504}, taskerr.NetworkTimeout, maxTries, 0, ""},
		"wrong key":       {llmtest.WrongKey, taskerr.DependencyUnavailable, 1, 0, "OPENAI_API_KEY"},
		"forbidden":       {llmtest.Fault{Status: 403}, taskerr.DependencyUnavailable, 1, 0, "OPENAI_API_KEY"},
		"unknown model":   {llmtest.UnknownModel, taskerr.DependencyUnavailable, 1, 0, "OPENAI_EMBEDDING_MODEL"},
		"refused parameter": {
			llmtest.Fault{Status: 400, Param: "dimensions"},
			taskerr.DependencyUnavailable, 1, 0,
			"EMBEDDING_DIMENSIONS",
		},
		"refuses everything": {llmtest.Fault{Status: 400}, taskerr.DependencyUnavailable, 3, 0, "every request"},
		"another length": {
			llmtest.Fault{Dimensions: 32},
			taskerr.DependencyUnavailable, 1, 0,
			"EMBEDDING_DIMENSIONS is 64; choose an OPENAI_EMBEDDING_MODEL of 64 dimensions, or set EMBEDDING_DIMENSIONS to 32 with another DB_SCHEMA",
		},
		"cut connections": {llmtest.CutShort, taskerr.DependencyUnavailable, maxTries, 0, ""},
		"a vector too few": {
			llmtest.Fault{Extra: -1},
			taskerr.DependencyUnavailable, maxTries, 0,
			"1 vectors for 2 inputs",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := llmtest.New(t, llmtest.Options{})
			test.fault.Message = "private: " + llmtest.Key
			s.Break(test.fault)
			e, clock := open(t, s, nil)
			_, err := e.Embed(t.Context(), texts(2))
			got, ok := errors.AsType[*taskerr.Error](err)
			if !ok || got.Class != test.class || got.RetryAfter != test.after ||
				!strings.Contains(got.Message, test.says) {
				t.Fatalf("got %v (after %v), want %s (after %v) that says %q", err, got.RetryAfter, test.class,
					test.after, test.says)
			}
			wantNoSecret(t, err)
			few := test.requests == limitTries && s.Requests() > maxTries // the random waits may use up the budget
			if !few && s.Requests() != test.requests || s.Requests() > test.requests || clock.total() > retryBudget {
				t.Errorf("%d requests, %v of waiting; want %d", s.Requests(), clock.total(), test.requests)
			}
		})
	}
}

func TestNoAnswer(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t, llmtest.Options{})
	s.Break(llmtest.NoAnswer)
	e, _ := open(t, s, func(c *Config) { c.RequestTimeout = 10 * time.Millisecond })
	_, err := e.Embed(t.Context(), texts(1))
	if got, ok := errors.AsType[*taskerr.Error](err); !ok || got.Class != taskerr.NetworkTimeout {
		t.Errorf("got %v", err)
	}
}

// Requests respect the budgets in the headers of earlier answers.
func TestRateLimitHeadersAreHonoured(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t, llmtest.Options{
		Header: headers("x-ratelimit-remaining-requests", "0", "x-ratelimit-reset-requests", "11s"),
	})
	e, clock := open(t, s, nil)
	for range 3 {
		if _, err := e.Embed(t.Context(), texts(1)); err != nil {
			t.Fatal(err)
		}
	}
	if got := clock.total(); got != 22*time.Second {
		t.Errorf("waited %v between three requests, want 22s", got)
	}
}

func TestNotAnEmbeddingService(t *testing.T) {
	t.Parallel()
	for name, handler := range map[string]http.Handler{
		"a web page": http.HandlerFunc(func(
			w http.ResponseWriter, _ *http.Request,
		) {
			_, _ = w.Write([]byte("<html>private</html>"))
		}),
		"not found": http.NotFoundHandler(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(handler)
			t.Cleanup(s.Close)
			e, err := New(Config{BaseURL: s.URL, HTTPClient: s.Client()})
			if err != nil {
				t.Fatal(err)
			}
			_, err = e.Embed(t.Context(), texts(1))
			if got, ok := errors.AsType[*taskerr.Error](err); !ok || got.Class != taskerr.DependencyUnavailable ||
				!strings.Contains(got.Message, "OPENAI_BASE_URL") {
				t.Errorf("got %v", err)
			}
			wantNoSecret(t, err)
		})
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t, llmtest.Options{})
	e, clock := open(t, s, func(c *Config) { c.BaseURL = "http://127.0.0.1:1/v1" })
	_, err := e.Embed(t.Context(), texts(1))
	if got, ok := errors.AsType[*taskerr.Error](err); !ok || got.Class != taskerr.DependencyUnavailable ||
		len(clock.waits) != maxTries-1 {
		t.Errorf("got %v after %d waits", err, len(clock.waits))
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for says, c := range map[string]Config{
		"OPENAI_API_KEY is not set":       {},
		"OPENAI_BASE_URL is not a URL":    {BaseURL: "localhost:8080", APIKey: llmtest.Key},
		"AZURE_OPENAI_API_KEY is not set": {Azure: &Azure{Endpoint: "https://x.openai.azure.com", APIVersion: "1"}},
		"AZURE_OPENAI_API_VERSION is not set": {Azure: &Azure{
			Endpoint: "https://x.openai.azure.com",
			APIKey:   llmtest.Key,
		}},
		"AZURE_OPENAI_ENDPOINT is not a URL": {Azure: &Azure{
			Endpoint: llmtest.Key, APIKey: llmtest.Key,
			APIVersion: "1",
		}},
		"EMBEDDING_DIMENSIONS is -1": {APIKey: llmtest.Key, Dimensions: -1},
		"choose 1 to 64":             {APIKey: llmtest.Key, Concurrency: 65},
	} {
		_, err := New(c)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want %q", err, says)
		}
		wantNoSecret(t, err)
	}
}
