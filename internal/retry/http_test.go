package retry_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/retry"
)

func TestHTTP(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answers []int // the last is repeated
		after   string
		calls   int
		status  int
	}{
		"answered":                 {[]int{200}, "", 1, 200},
		"busy twice":               {[]int{503, 429, 200}, "", 3, 200},
		"busy for too long":        {[]int{502}, "", 3, 502},
		"not for the client again": {[]int{500}, "", 1, 500},
		"asks for a short wait":    {[]int{503, 200}, "0.01", 2, 200},
		"asks for a long wait":     {[]int{503, 200}, "60", 1, 503},
		"redirects":                {[]int{307}, "", 1, 307},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil || string(body) != "a question" {
					t.Errorf("call %d has the body %q, %v", calls, body, err)
				}
				if want := strconv.Itoa(calls); r.Header.Get("Try") != want {
					t.Errorf("call %d was prepared as %s", calls, r.Header.Get("Try"))
				}
				w.Header().Set("Retry-After", c.after)
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(c.answers[min(calls, len(c.answers)-1)])
				calls++
				_, _ = io.WriteString(w, "an answer")
			}))
			t.Cleanup(server.Close)
			again := retry.HTTP{
				Policy: retry.Policy{
					Backoff: retry.Backoff{First: time.Millisecond, Max: 2 * time.Millisecond}, Tries: 3,
				},
				MaxAfter: time.Second,
				Prepare:  func(r *http.Request) error { r.Header.Set("Try", strconv.Itoa(calls)); return nil },
			}
			client := again.Client(&http.Client{CheckRedirect: func(
				*http.Request, []*http.Request,
			) error {
				return http.ErrUseLastResponse
			}})
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL,
				strings.NewReader("a question"))
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Try", "0")
			answer, err := client.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(answer.Body)
			if err := errors.Join(err, answer.Body.Close()); err != nil || string(body) != "an answer" {
				t.Errorf("the answer is %q, %v", body, err)
			}
			if answer.StatusCode != c.status || calls != c.calls {
				t.Errorf("%d after %d calls, want %d after %d", answer.StatusCode, calls, c.status, c.calls)
			}
		})
	}
}

// Without an answer the last error is the result, and the caller says which ones may pass.
func TestHTTPUnanswered(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close() // nobody listens there now
	asked := 0
	again := retry.HTTP{
		Policy:    retry.Policy{Backoff: retry.Backoff{First: time.Millisecond}, Tries: 5},
		Retryable: func(err error) bool { asked++; return errors.Is(err, syscall.ECONNREFUSED) && asked < 3 },
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := again.Client(http.DefaultClient).Do(request)
	if err == nil {
		_ = answer.Body.Close()
	}
	if !errors.Is(err, syscall.ECONNREFUSED) || asked != 3 {
		t.Errorf("it ended with %v after %d questions", err, asked)
	}
}

// A host that fails for good costs the others no connection, and closing the idle connections closes them.
func TestHTTPKeepsConnections(t *testing.T) {
	t.Parallel()
	var opened atomic.Int32
	up := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	up.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	up.Start()
	t.Cleanup(up.Close)
	down := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	t.Cleanup(down.Close)
	again := retry.HTTP{Policy: retry.Policy{Backoff: retry.Backoff{First: time.Millisecond}, Tries: 2}}
	client := again.Client(&http.Client{Transport: &http.Transport{}})
	t.Cleanup(client.CloseIdleConnections)
	get := func(url string) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.Copy(io.Discard, answer.Body)
		if err := errors.Join(err, answer.Body.Close()); err != nil {
			t.Fatal(err)
		}
	}
	get(up.URL)
	get(down.URL)
	get(up.URL)
	if n := opened.Load(); n != 1 {
		t.Errorf("%d connections were opened to a host beside one that fails, want 1", n)
	}
	client.CloseIdleConnections()
	get(up.URL)
	if n := opened.Load(); n != 2 {
		t.Errorf("%d connections were opened after the idle ones were closed, want 2", n)
	}
}
