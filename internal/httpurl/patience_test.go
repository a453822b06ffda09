package httpurl_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/httpurl"
)

// transport answers as a function does.
type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// hung never answers.
func hung(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, context.Cause(r.Context())
}

// noticed are the notices of waiting.
type noticed struct {
	mu  sync.Mutex
	all []string
}

func (n *noticed) count() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.all)
}

func (n *noticed) patience(ctx context.Context) context.Context {
	return httpurl.WithPatience(ctx, httpurl.Patience{
		Grace: 3 * time.Second, Limits: map[string]time.Duration{"SMALL_URL": 8 * time.Second, "LARGE_URL": 0},
		Waiting: func(setting, host string, limit time.Duration) {
			n.mu.Lock()
			defer n.mu.Unlock()
			n.all = append(n.all, setting+" "+host+" "+limit.String())
		},
	})
}

func send(ctx context.Context, setting, to string, body io.Reader, over transport) (took time.Duration, text string, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPut, to, body)
	if err != nil {
		return 0, "", err
	}
	began := time.Now()
	answer, err := (&http.Client{Transport: httpurl.SameOrigin(over, setting)}).Do(r)
	if err != nil {
		return time.Since(began), "", err
	}
	defer func() { _ = answer.Body.Close() }()
	raw, err := io.ReadAll(answer.Body)
	return time.Since(began), string(raw), err
}

func TestHungServiceEndsRequests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var n noticed
		ctx := n.patience(t.Context())
		for _, want := range []time.Duration{8 * time.Second, 0} { // another try does not wait again
			took, _, err := send(ctx, "SMALL_URL", "http://h:1/a?sig=secret", nil, hung)
			hang, ok := errors.AsType[*httpurl.HangError](err)
			if took != want || !ok || hang.Error() != "no answer from h:1 within 8s" {
				t.Errorf("after %v: %v", took, err)
			}
			var network net.Error
			if !errors.As(err, &network) || !network.Timeout() {
				t.Errorf("%v is no timeout", err)
			}
		}
		if n.count() != 1 || n.all[0] != "SMALL_URL h:1 8s" {
			t.Errorf("noticed %q", n.all)
		}
	})
}

// A service without a limit, one that nobody observes, and a context without patience: the client's own limit ends the
// request.
func TestUnlimitedServiceIsWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for setting, notices := range map[string]int{"LARGE_URL": 1, "OTHER_URL": 0} {
			var n noticed
			ctx, cancel := context.WithTimeout(n.patience(t.Context()), time.Minute)
			took, _, err := send(ctx, setting, "http://h/", nil, hung)
			cancel()
			if took != time.Minute || !errors.Is(err, context.DeadlineExceeded) || n.count() != notices {
				t.Errorf("%s: after %v: %v, noticed %q", setting, took, err, n.all)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if took, _, err := send(ctx, "SMALL_URL", "http://h/", nil, hung); took != time.Minute {
			t.Errorf("without patience: after %v: %v", took, err)
		}
	})
}

// slowly answers after it has taken the body, byte by byte; the answer's body takes long, too.
func slowly(r *http.Request) (*http.Response, error) {
	b := make([]byte, 1)
	for n := 1; n > 0; n, _ = r.Body.Read(b) {
		<-time.After(5 * time.Second)
		if r.Context().Err() != nil {
			return nil, context.Cause(r.Context())
		}
	}
	body, w := io.Pipe()
	go func() {
		select {
		case <-time.After(time.Minute):
			_, _ = io.WriteString(w, "done")
			_ = w.Close()
		case <-r.Context().Done():
			_ = w.CloseWithError(context.Cause(r.Context()))
		}
	}()
	return &http.Response{StatusCode: http.StatusOK, Body: body}, nil
}

// A large upload to a service that takes it goes on, and so does a slow answer; a service that has answered may be slow.
func TestSlowServiceIsWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var n noticed
		ctx := n.patience(t.Context())
		took, text, err := send(ctx, "SMALL_URL", "http://h/", strings.NewReader("0123456789"), slowly)
		if err != nil || text != "done" || took < time.Minute+50*time.Second || n.count() != 1 {
			t.Errorf("after %v: %q, %v, noticed %q", took, text, err, n.all)
		}
		later, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		if took, _, err := send(later, "SMALL_URL", "http://h/", nil, hung); took != time.Minute {
			t.Errorf("after %v: %v", took, err)
		}
		if _, _, err := send(ctx, "SMALL_URL", "http://other/", nil, hung); err == nil || n.count() != 2 {
			t.Errorf("%v, noticed %q", err, n.all)
		}
	})
}

// An answer that comes with the limit is none: its body could not be read.
func TestAnswerAtTheLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var n noticed
		_, _, err := send(n.patience(t.Context()), "SMALL_URL", "http://a.example/", nil, func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: r}, nil
		})
		if _, hangs := errors.AsType[*httpurl.HangError](err); !hangs || n.count() != 1 {
			t.Errorf("%v after %d notices", err, n.count())
		}
	})
}
