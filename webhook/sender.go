package webhook

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/retry"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/tracing"
)

// DefaultTimeout is how long one attempt may take.
const DefaultTimeout = 15 * time.Second

// maxResponse is how much of an answer is read and kept, in bytes.
const maxResponse = 1 << 10

// SenderConfig says how attempts are made.
type SenderConfig struct {
	Signer    *Signer         // required
	Guard     *Guard          // required
	UserAgent string          // e.g. async-worker/1.2.3
	Timeout   time.Duration   // of one attempt; zero: DefaultTimeout
	TLS       *tls.Config     // nil: the system's roots
	Resolver  *net.Resolver   // nil: the system's
	Tracer    *tracing.Tracer // nil: no spans are made
}

// tries retries a request within one attempt if the connection is refused, as while a receiver restarts, or if the
// answer is 429, 502, 503 or 504. Longer outages are the schedule's.
var tries = retry.HTTP{
	Policy: retry.Policy{
		Backoff: retry.Backoff{First: 200 * time.Millisecond, Max: time.Second, Jitter: 0.25}, Tries: 3,
	},
	MaxAfter:  2 * time.Second,
	Retryable: func(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) },
}

// Sender makes single attempts at deliveries, each of at most three requests. It is safe for concurrent use.
type Sender struct {
	cfg        SenderConfig
	transports byScheme
	client     *http.Client
}

// byScheme are the guarded transports: http may reach less than https.
type byScheme struct{ plain, secure *http.Transport }

func (t byScheme) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme == "https" {
		return t.secure.RoundTrip(r)
	}
	return t.plain.RoundTrip(r)
}

// NewSender makes a sender; Close gives back its connections.
func NewSender(cfg SenderConfig) *Sender {
	if cfg.Timeout <= 0 {
		cfg.Timeout = DefaultTimeout
	}
	s := &Sender{cfg: cfg, transports: byScheme{
		plain:  cfg.Guard.Transport(cfg.Guard.CheckPlain, cfg.Resolver),
		secure: cfg.Guard.Transport(cfg.Guard.Check, cfg.Resolver),
	}}
	s.transports.secure.TLSClientConfig = cfg.TLS
	s.client = &http.Client{
		Transport: s.transports,
		// A redirect would lead the signed body to a place that nobody named.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return s
}

// Close closes idle connections.
func (s *Sender) Close() {
	s.transports.plain.CloseIdleConnections()
	s.transports.secure.CloseIdleConnections()
}

// Send makes one attempt. It ends with ctx or the sender's timeout.
func (s *Sender) Send(whole context.Context, d store.Delivery) Attempt {
	start := time.Now()
	ctx, cancel := context.WithTimeoutCause(whole, s.cfg.Timeout,
		fmt.Errorf("the receiver took longer than %s", s.cfg.Timeout))
	defer cancel()
	connected := false
	a := s.send(httptrace.WithClientTrace(ctx,
		&httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected = true }}), d, start)
	a.Latency = time.Since(start)
	if _, reach := errors.AsType[*ReachError](a.Err); reach {
		a.Unreachable = !connected && whole.Err() == nil
	}
	if a.Err != nil && ctx.Err() != nil {
		a.Err = context.Cause(ctx)
	}
	return a
}

func (s *Sender) send(ctx context.Context, d store.Delivery, at time.Time) Attempt {
	if err := callable(d.URL); err != nil {
		return Attempt{Err: err}
	}
	if !signable(d.ID) {
		return Attempt{
			Err: &RefusedError{
				Subject: subject, Problem: "has a delivery id that can't be signed",
				Remedy: "see who writes to webhook_deliveries beside the worker",
			},
		}
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, d.URL, strings.NewReader(d.Body))
	if err != nil {
		return Attempt{Err: fmt.Errorf("make the request: %w", bare(err))}
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", s.cfg.UserAgent)
	s.cfg.Signer.Sign(r.Header, d.ID, at, d.Body)
	traced := s.cfg.Tracer.Webhook(r, d.TraceParent, d.JobID)
	again := tries
	if d.Once {
		again.Tries = 1
	}
	again.Prepare = func(r *http.Request) error {
		s.cfg.Signer.Sign(r.Header, d.ID, time.Now(), d.Body) // the timestamp is that of the request
		return nil
	}
	answer, err := again.Client(s.client).Do(r)
	if err != nil {
		traced(0)
		if refused, ok := errors.AsType[*RefusedError](err); ok {
			return Attempt{Err: refused}
		}
		return Attempt{Err: unreached(bare(err))}
	}
	traced(answer.StatusCode)
	// The status is the result: a truncated body does not change it.
	body, _ := io.ReadAll(io.LimitReader(answer.Body, maxResponse))
	_ = answer.Body.Close()
	return Attempt{
		Status: answer.StatusCode, RetryAfter: retryAfter(answer), Response: storable(body),
	}
}

// callable checks a URL again: decoding has checked those of new tasks, but the outbox may hold older ones.
func callable(rawURL string) error {
	if problem := task.WebhookURLProblem(rawURL); problem != "" {
		return &RefusedError{
			Subject: subject, Problem: "has a URL that " + problem,
			Remedy: "give an absolute http or https URL without a user name as webhook_url",
		}
	}
	return nil
}

// bare takes the URL, with its token perhaps, out of an error of net/http.
func bare(err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		return wrapped.Err
	}
	return err
}

func (a Attempt) refused() bool {
	_, ok := errors.AsType[*RefusedError](a.Err)
	return ok
}

// retryAfter is what a 429 or 503 asks for.
func retryAfter(r *http.Response) time.Duration {
	if r.StatusCode != http.StatusTooManyRequests && r.StatusCode != http.StatusServiceUnavailable {
		return 0
	}
	return retry.After(r.Header, time.Now())
}

// storable makes text of an answer that the database can hold: valid UTF-8 without U+0000, at most a
// kilobyte, no character cut in two.
func storable(body []byte) string {
	text := strings.ReplaceAll(strings.ToValidUTF8(string(body), "?"), "\x00", "?")
	return text[:min(len(text), maxResponse)]
}
