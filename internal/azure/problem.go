package azure

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"github.com/seed-7227ef26/async-worker/internal/httpurl"
	"github.com/seed-7227ef26/async-worker/internal/retry"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// Kind is the kind of a Problem, and so who can fix it.
type Kind string

// The kinds of problem.
const (
	Permission Kind = "permission" // a role, a key, the rights of a signature, a firewall
	Clock      Kind = "clock"      // this machine's time
	Setting    Kind = "setting"    // a name or an address in the settings
	Outage     Kind = "outage"     // the service or the network: waiting may help
)

// Problem is a failed request to Azure Storage without secrets: the SDK's own errors hold URLs with signatures and
// responses with signed strings. Explain wraps it in a *taskerr.Error; find it with errors.As, e.g. to choose an exit
// code by its Kind.
type Problem struct {
	Kind      Kind
	Status    int    // of the response; 0: there was none
	Code      string // Azure's error code; empty: there was none
	RequestID string // for Microsoft's support; empty: there was none
	Hint      string // what to do; empty: wait

	cause error // of the transport, without URLs; nil if there was a response
}

func (p *Problem) Error() string {
	if p.Hint == "" {
		return p.answered()
	}
	return p.answered() + ": " + p.Hint
}

// answered is what came back, without what to do.
func (p *Problem) answered() string {
	var b strings.Builder
	switch {
	case p.Status != 0 && p.Code != "":
		fmt.Fprintf(&b, "Azure answered %d %s", p.Status, p.Code)
	case p.Status != 0:
		fmt.Fprintf(&b, "Azure answered %d %s", p.Status, http.StatusText(p.Status))
	case p.cause != nil:
		b.WriteString(p.cause.Error())
	default:
		b.WriteString("no answer")
	}
	if p.RequestID != "" {
		fmt.Fprintf(&b, " (request %s)", p.RequestID)
	}
	return b.String()
}

// Unwrap returns the transport's error, if any, so that context.Canceled can be found.
func (p *Problem) Unwrap() error { return p.cause }

// Explain turns an error of the SDK into a *taskerr.Error of a retryable class around a *Problem; doing names the
// operation, e.g. `receive from queue "x"`. The error holds nothing of a key, a signature or a URL's query. A context's
// error can still be found with errors.Is. nil stays nil.
func (c *Credentials) Explain(s Service, doing string, err error) error {
	if err == nil {
		return nil
	}
	var p *Problem
	class, retryAfter := taskerr.DependencyUnavailable, time.Duration(0)
	if answer, ok := errors.AsType[*azcore.ResponseError](err); ok {
		p = c.explainAnswer(s, answer)
		if p.Kind == Outage {
			class, retryAfter = taskerr.TransientStorage, retryAfterOf(answer.RawResponse)
		}
	} else {
		p, class = c.explainNoResponse(s, err)
	}
	dependency := taskerr.Storage
	if s == Queue {
		dependency = taskerr.Queues
	}
	return &taskerr.Error{
		Class: class, Message: doing + ": " + p.Error(), RetryAfter: retryAfter, Cause: p, Dependency: dependency,
		Hint: p.Hint,
	}
}

// explainNoResponse explains a request without a response.
func (c *Credentials) explainNoResponse(s Service, err error) (*Problem, taskerr.Class) {
	p := &Problem{Kind: Outage, cause: withoutURL(err)}
	if taskerr.Exhausted(err) { // no fault of the service, nor of the settings
		return p, taskerr.TransientStorage
	}
	if _, ok := errors.AsType[*azidentity.AuthenticationFailedError](err); ok || isCredentialError(err) {
		p.Kind, p.cause = Permission, errors.New("no token from Microsoft Entra")
		p.Hint = "the worker is " + c.how +
			"; give the machine a managed identity with a role on the account, or set AZURE_STORAGE_CONNECTION_STRING"
		return p, taskerr.DependencyUnavailable
	}
	if redirect, ok := errors.AsType[*httpurl.RedirectError](err); ok {
		p.Kind, p.cause = Setting, redirect
		return p, taskerr.DependencyUnavailable
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		if dns.IsNotFound {
			p.Kind = Setting
			p.Hint = fmt.Sprintf("the host %s is unknown; check the account's name in the settings, and with a "+
				"private endpoint the DNS zone", c.Host(s))
		}
		return p, taskerr.DependencyUnavailable
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return p, taskerr.NetworkTimeout
	}
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		return p, taskerr.NetworkTimeout
	}
	return p, taskerr.TransientStorage
}

// isCredentialError reports whether no credential of a chain was available; the SDK does not export the type.
func isCredentialError(err error) bool {
	for ; err != nil; err = errors.Unwrap(err) {
		if strings.Contains(fmt.Sprintf("%T", err), "azidentity.") {
			return true
		}
	}
	return false
}

// withoutURL returns the part of a transport's error without the URL: its query may hold a shared access signature.
func withoutURL(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return withoutURL(u.Err)
	}
	if strings.HasPrefix(err.Error(), "net/http: timeout awaiting response headers") { // its type is not exported
		return &silenceError{err}
	}
	return err
}

// silenceError is net/http's error of a request that was sent and not answered, in plain words.
type silenceError struct{ err error }

func (*silenceError) Error() string   { return "the service took the request and did not answer in time" }
func (e *silenceError) Unwrap() error { return e.err }

// retryAfterOf returns the response's Retry-After; zero: none.
func retryAfterOf(resp *http.Response) time.Duration {
	if resp == nil {
		return 0
	}
	return retry.After(resp.Header, time.Now())
}
