package azure_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	storage "github.com/seed-7227ef26/async-worker/internal/azure"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/queue/azure"
)

func TestErrorsSayWhatToMendAndNoSecret(t *testing.T) {
	t.Parallel()
	const signature = "c2VjcmV0LXNpZ25hdHVyZQ=="
	sas := "SharedAccessSignature=sv=2024-11-04&ss=q&srt=sco&sp=rp&se=2999-01-01T00:00:00Z&sig=" +
		url.QueryEscape(signature)
	key := "AccountName=acme;AccountKey=c2VjcmV0LWtleQ=="
	respond := func(status int, code string, off time.Duration) func(*http.Request, http.RoundTripper) (
		*http.Response, error) {
		return func(req *http.Request, _ http.RoundTripper) (*http.Response, error) {
			return answer(req, status, code, time.Now().Add(off)), nil
		}
	}
	fail := func(err error) func(*http.Request, http.RoundTripper) (*http.Response, error) {
		return func(*http.Request, http.RoundTripper) (*http.Response, error) { return nil, err }
	}
	for name, c := range map[string]struct {
		credentials string
		at          func(*http.Request, http.RoundTripper) (*http.Response, error)
		class       taskerr.Class
		kind        storage.Kind
		says        []string
	}{
		"SAS lacks a right": {
			sas, respond(403, "AuthorizationPermissionMismatch", 0),
			taskerr.DependencyUnavailable, storage.Permission,
			[]string{"ss=bq", "sp=rwdlacup", "sp=rp)"},
		},
		"firewall": {
			key, respond(403, "AuthorizationFailure", 0), taskerr.DependencyUnavailable,
			storage.Permission,
			[]string{"firewall"},
		},
		"role": {
			key, respond(403, "AuthorizationPermissionMismatch", 0),
			taskerr.DependencyUnavailable, storage.Permission,
			[]string{
				"messages/process/action", "messages/write", "Contributor",
			},
		},
		"wrong key": {
			key, respond(403, "AuthenticationFailed", 0), taskerr.DependencyUnavailable,
			storage.Permission,
			[]string{"key was rotated"},
		},
		"clock": {
			key, respond(403, "AuthenticationFailed", -time.Hour),
			taskerr.DependencyUnavailable, storage.Clock,
			[]string{"1h0m", "ahead of", "timedatectl"},
		},
		"SAS and clock": {
			sas, respond(403, "AuthenticationFailed", time.Hour),
			taskerr.DependencyUnavailable, storage.Clock,
			[]string{"behind"},
		},
		"bad name": {
			key, respond(400, "InvalidResourceName", 0), taskerr.DependencyUnavailable,
			storage.Setting,
			[]string{"CLIENT_ID"},
		},
		"broken": {
			sas, respond(500, "InternalError", 0), taskerr.TransientStorage, storage.Outage,
			[]string{"500 InternalError"},
		},
		"unknown host": {
			sas, fail(&net.DNSError{Err: "no such host", Name: "acme", IsNotFound: true}),
			taskerr.DependencyUnavailable, storage.Setting,
			[]string{"acme.queue.core.windows.net", "account's name"},
		},
		"refused": {
			sas, fail(&net.OpError{Op: "dial", Err: errors.New("connection refused")}),
			taskerr.TransientStorage, storage.Outage,
			[]string{"connection refused"},
		},
		"cut off":  {sas, fail(io.ErrUnexpectedEOF), taskerr.TransientStorage, storage.Outage, []string{"EOF"}},
		"too slow": {sas, fail(context.DeadlineExceeded), taskerr.NetworkTimeout, storage.Outage, []string{"deadline"}},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			f := &fault{}
			f.do(c.at)
			s := open(t, "AccountName=acme;"+c.credentials, azure.Options{Transport: f})
			_, err := s.Queue("q").Receive(t.Context(), 1, time.Minute)
			e, ok := errors.AsType[*taskerr.Error](err)
			if !ok || e.Class != c.class || !taskerr.Classes[e.Class].Retryable {
				t.Fatalf("got %v, want class %s", err, c.class)
			}
			p, ok := errors.AsType[*storage.Problem](err)
			if !ok || p.Kind != c.kind {
				t.Errorf("got the problem %+v, want kind %s", p, c.kind)
			}
			for _, part := range append(c.says, `queue "q"`) {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q doesn't say %q", err, part)
				}
			}
			everything := fmt.Sprintf("%v %+v %#v %s", err, err, err, e.Message)
			for _, secret := range []string{
				signature, url.QueryEscape(signature), "sig=", "c2VjcmV0LWtleQ",
				"topsecret",
			} {
				if strings.Contains(everything, secret) {
					t.Errorf("%q contains %q", everything, secret)
				}
			}
		})
	}
}

// An identity that may use a queue but not create it needs no more if the queue exists.
func TestEnsureWithoutTheRightToCreate(t *testing.T) {
	t.Parallel()
	q, f, _ := faulty(t)
	f.do(func(req *http.Request, next http.RoundTripper) (*http.Response, error) {
		if req.Method == http.MethodPut {
			return answer(req, http.StatusForbidden, "AuthorizationPermissionMismatch", time.Now()), nil
		}
		return next.RoundTrip(req)
	})
	must(t, q.Ensure(t.Context()))
}
