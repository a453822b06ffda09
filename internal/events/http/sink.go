// Package http sends events as CloudEvents over HTTP in batches, as Azure Event Grid and many others take them, and one by
// one to those that take no batches.
//
// Source: https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/bindings/http-protocol-binding.md (batched and
// structured content mode), and Event Grid's quotas: 1 MB for a request, 1 MB for an event.
package http

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/events"
	"github.com/seed-7227ef26/async-worker/internal/httpurl"
	"github.com/seed-7227ef26/async-worker/internal/retry"
)

// Options qualify New.
type Options struct {
	URL       string        // required; a query, such as api-version, is kept
	Key       string        // of Event Grid, sent as aeg-sas-key; empty: none
	UserAgent string        // e.g. async-worker/1.2.3
	Timeout   time.Duration // of one request; default 30 s
}

const (
	maxBatch  = 1_000_000 - 10_000 // bytes; Event Grid's limit is 1 MB, with a margin for what counts
	maxEvents = 200                // in a batch
	maxAnswer = 4 << 10            // bytes of an answer that are read, for the connection to be used again
	restWait  = time.Second        // how long they are waited for
	// believed is how many events in a row a sink that has taken any may refuse, before it is taken for misconfigured.
	believed = 10
)

// Sink is an events.Sink.
type Sink struct {
	o      Options
	host   string // all of the URL that may be logged
	client *http.Client

	single  bool // the sink wants single events
	batches bool // the sink has taken a batch
	limit   int  // events in a batch: fewer after one was too large or refused
	took    bool // the sink has taken an event
	refused int  // events in a row that it refused
	// unclear is what an event got by itself that was refused in a batch, while either may be for its form; nil: none did.
	unclear error
}

// New returns a sink. It makes no request.
func New(o Options) (*Sink, error) {
	u, err := httpurl.Parse(o.URL)
	if err != nil {
		return nil, fmt.Errorf("EVENTS_URL: %w", err)
	}
	if o.Timeout <= 0 {
		o.Timeout = 30 * time.Second
	}
	transport := httpurl.Pinging(&http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
		TLSHandshakeTimeout: 10 * time.Second, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 1,
		IdleConnTimeout: 90 * time.Second, MaxResponseHeaderBytes: 64 << 10, DisableCompression: true,
	})
	return &Sink{o: o, host: u.Host, limit: maxEvents, client: &http.Client{
		Transport: transport,
		// A redirect would lead the key and the events to a place that nobody named.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// Close implements events.Sink.
func (s *Sink) Close() { s.client.CloseIdleConnections() }

// Send implements events.Sink. It sends batches one after the other, or single events. A batch that is too large is
// halved, and so is one that is refused, until the event is found whose fault it is. A sink that refuses all events is
// misconfigured, rather than each event wrong: so an event is left out only if the sink takes others, in a batch if it is
// unclear whether it takes batches.
func (s *Sink) Send(ctx context.Context, all []events.Event) (events.Sent, error) {
	var sent events.Sent
	var doubted []events.Refusal // of the events after the first sent.Done
	settle := func(next int) {
		sent.Refused = append(sent.Refused, doubted...)
		sent.Done, doubted = next, nil
	}
	s.unclear = nil
	for next := 0; next < len(all) && (s.unclear == nil || len(doubted) <= believed); {
		n, err := s.deliver(ctx, s.batch(all[next:]))
		status, answered := errors.AsType[*statusError](err)
		switch {
		case err == nil:
			s.took, s.refused = true, 0
			s.limit = min(s.limit+s.limit/8+1, maxEvents)
			next += n
			settle(next)
		case !answered || !status.aboutEvents():
			return sent, err
		case n > 1:
			s.limit = n / 2
		case status.code == http.StatusRequestEntityTooLarge && reduce(&all[next]):
			sent.Reduced++
		default:
			doubted = append(doubted, events.Refusal{Event: all[next], Cause: err})
			next++
			if s.unclear != nil {
				continue
			}
			if s.refused++; s.took && s.refused <= believed {
				settle(next)
			}
		}
	}
	if s.unclear != nil {
		return sent, s.unclear
	}
	if len(doubted) > 0 {
		return sent, fmt.Errorf("%w: it refuses every event; does it take CloudEvents 1.0?",
			doubted[len(doubted)-1].Cause)
	}
	return sent, nil
}

// reduce leaves the result out of an event; false: it has none.
func reduce(e *events.Event) bool {
	reduced, err := e.Reduced()
	if err != nil || len(reduced.Body) >= len(e.Body) {
		return false
	}
	*e = reduced
	return true
}

// batch is the first events, as many as may be in one request.
func (s *Sink) batch(all []events.Event) []events.Event {
	size := 2
	for i := range all {
		if len(all[i].Body)+2 > maxBatch {
			reduce(&all[i])
		}
		size += len(all[i].Body) + 1
		if i > 0 && (size > maxBatch || i == s.limit) {
			return all[:i]
		}
	}
	return all
}

// post sends one request. Its error is a *statusError, maybe in an *events.WaitError, if there was an answer. It has
// nothing of the URL but the host, and nothing of the answer, which may quote the request.
func (s *Sink) post(ctx context.Context, as mode, body []byte) error {
	ctx, cancel := context.WithTimeoutCause(ctx, s.o.Timeout, fmt.Errorf("no answer within %s", s.o.Timeout))
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.o.URL, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("the sink at %s: %w", s.host, bare(err))
	}
	r.Header.Set("Content-Type", string(as)+"; charset=utf-8")
	r.Header.Set("User-Agent", s.o.UserAgent)
	if s.o.Key != "" {
		r.Header.Set("aeg-sas-key", s.o.Key)
	}
	answer, err := s.client.Do(r)
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return fmt.Errorf("the sink at %s: %w", s.host, bare(err))
	}
	// The status is the answer. What comes after the first bytes, or late, is not waited for.
	rest := time.AfterFunc(restWait, cancel)
	_, _ = io.CopyN(io.Discard, answer.Body, maxAnswer)
	rest.Stop()
	_ = answer.Body.Close()
	if answer.StatusCode/100 == 2 {
		return nil
	}
	refused := &statusError{host: s.host, code: answer.StatusCode}
	switch answer.StatusCode {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return &events.WaitError{After: retry.After(answer.Header, time.Now()), Cause: refused}
	}
	return refused
}

// Probe implements events.Sink: it sends an empty batch. A sink that refuses it, or batches, has been reached, with a valid
// key.
func (s *Sink) Probe(ctx context.Context) error {
	err := s.post(ctx, batched, []byte("[]"))
	if status, ok := errors.AsType[*statusError](err); ok && (status.aboutEvents() || unsupported(err)) {
		return nil
	}
	return err
}

// statusError is an answer other than 2xx.
type statusError struct {
	host string
	code int
}

// aboutEvents reports whether the request was refused because of what is in it.
func (e *statusError) aboutEvents() bool {
	switch e.code {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return true
	}
	return false
}

func (e *statusError) Error() string {
	text := strings.TrimSpace(fmt.Sprintf("the sink at %s answered %d %s", e.host, e.code, http.StatusText(e.code)))
	switch {
	case e.code/100 == 3:
		return text + "; redirects are not followed, set EVENTS_URL to the final address"
	case e.code == http.StatusUnauthorized, e.code == http.StatusForbidden:
		return text + "; check EVENTS_KEY"
	case e.code == http.StatusNotFound, e.code == http.StatusMethodNotAllowed, e.code == http.StatusGone:
		return text + "; check EVENTS_URL"
	case e.code == http.StatusUnsupportedMediaType:
		return text + "; does it take CloudEvents 1.0 as JSON?"
	}
	return text
}

// bare takes the URL, with its token perhaps, out of an error of net/http.
func bare(err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		return wrapped.Err
	}
	return err
}
