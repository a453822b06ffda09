package nats_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	sink "github.com/seed-7227ef26/async-worker/internal/events/nats"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// limited opens a sink whose login may publish to some subjects.
func limited(t *testing.T, inbox string, subjects ...string) *sink.Sink {
	t.Helper()
	s := serve(t, func(o *server.Options) {
		o.Users = []*server.User{{Username: "u", Password: "u", Permissions: &server.Permissions{
			Publish:   &server.SubjectPermission{Allow: append(subjects, "$JS.API.STREAM.NAMES")},
			Subscribe: &server.SubjectPermission{Allow: []string{inbox}},
		}}}
	})
	return open(t, sink.Options{URL: strings.Replace(s.ClientURL(), "://", "://u:u@", 1), Owner: "southhaven"})
}

// TestRejectedType: a login with the documented rights publishes the dead letter of a rejected message, whatever its
// type, and what comes after it.
func TestRejectedType(t *testing.T) {
	t.Parallel()
	s := limited(t, "_INBOX_southhaven.>", "*.job.*", "*.dlq")
	for _, name := range []string{"a.b", "a.b.c", "dlq", "*", ">", "a b", "$SYS", ".", strings.Repeat("a", 65)} {
		all := page(t, 1, 2, func(i int, o *store.Outgoing) {
			if i == 0 {
				o.Kind, o.TaskType = store.OutgoingLetter, name
			}
		})
		if sent, err := s.Send(t.Context(), all); sent.Done != 2 || len(sent.Refused) != 0 || err != nil {
			t.Errorf("%q (%s): %+v, %v", name, all[0].Type, sent, err)
		}
	}
}

// TestSharedInbox: a login of the version before, without the right to the tenant's inbox, works.
func TestSharedInbox(t *testing.T) {
	t.Parallel()
	s := limited(t, "_INBOX.>", "*.job.*")
	if sent, err := s.Send(t.Context(), page(t, 1, 2, nil)); sent.Done != 2 || err != nil {
		t.Errorf("%+v, %v", sent, err)
	}
}

// TestDenied: no event counts as published that the server denied, although the client learns of it apart from the
// answer to its request.
func TestDenied(t *testing.T) {
	t.Parallel()
	s := limited(t, "_INBOX_southhaven.>")
	for range 1000 {
		if sent, err := s.Send(t.Context(), page(t, 1, 1, nil)); sent.Done != 0 || err == nil {
			t.Fatalf("%+v, %v", sent, err)
		}
	}
}

// TestDeniedInPart: what a stream has acknowledged counts, although the server denies another event of the page.
func TestDeniedInPart(t *testing.T) {
	t.Parallel()
	srv := serve(t, func(o *server.Options) {
		o.Users = []*server.User{
			{Username: "admin", Password: "admin"},
			{Username: "u", Password: "u", Permissions: &server.Permissions{
				Publish: &server.SubjectPermission{Deny: []string{"ocr.dlq"}},
			}},
		}
	})
	_, js := client(t, srv, nats.UserInfo("admin", "admin"))
	makeStream(t, js, jetstream.StreamConfig{})
	s := open(t, sink.Options{
		URL: strings.Replace(srv.ClientURL(), "://", "://u:u@", 1), Owner: "southhaven", Timeout: 5 * time.Second,
	})
	all := page(t, 1, 3, func(i int, o *store.Outgoing) {
		if i == 2 {
			o.Kind = store.OutgoingLetter
		}
	})
	sent, err := s.Send(t.Context(), all)
	if sent.Done != 2 || err == nil || !strings.Contains(err.Error(), "ocr.dlq") {
		t.Errorf("%+v, %v", sent, err)
	}
}
