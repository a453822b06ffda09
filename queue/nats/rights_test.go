package nats_test

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-7227ef26/async-worker/queue"
	"github.com/seed-7227ef26/async-worker/queue/nats"
	"github.com/seed-7227ef26/async-worker/queue/nats/natstest"
)

// printedRights is the user of docs/nats.md, for another tenant than southhaven.
func printedRights(t *testing.T, tenant string) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/nats.md")
	must(t, err)
	found := regexp.MustCompile("(?s)```conf\n(.*?)```").FindStringSubmatch(string(text))
	if found == nil {
		t.Fatal("docs/nats.md has no rights")
	}
	return strings.NewReplacer("southhaven", tenant, "SOUTHHAVEN", strings.ToUpper(tenant), "$PASSWORD", tenant).
		Replace(found[1])
}

// oneAccount starts a server whose tenants are users of one account, with the printed rights, beside an administrator.
func oneAccount(t *testing.T, tenants ...string) *natstest.Server {
	t.Helper()
	users := []string{"{ user: admin, password: admin }"}
	for _, tenant := range tenants {
		users = append(users, printedRights(t, tenant))
	}
	file := filepath.Join(t.TempDir(), "nats.conf")
	must(t, os.WriteFile(file, []byte("authorization { users: [\n"+strings.Join(users, "\n")+"] }\n"), 0o600))
	return natstest.Start(t, func(o *server.Options) {
		printed, err := server.ProcessConfigFile(file)
		must(t, err)
		o.Users = printed.Users
	})
}

// tenantOf opens the queues of a tenant.
func tenantOf(t *testing.T, s *natstest.Server, user, tenant string, o nats.Options) queue.Service {
	t.Helper()
	subject := "simple-process." + tenant + ".jobs"
	o.Owner, o.Subjects = tenant, map[string]string{
		"tasks": subject, "high": subject + ".high", "low": subject + ".low", "deadletter": subject + ".deadletter",
	}
	o.Timeout = natstest.Patience
	service, err := nats.Open(nats.Login{URL: s.URLOf(user)}, o)
	must(t, err)
	t.Cleanup(func() { must(t, service.Close()) })
	return service
}

// makeStreams does what an administrator does with nats stream add, by the queues themselves.
func makeStreams(t *testing.T, s *natstest.Server, tenants ...string) {
	t.Helper()
	for _, tenant := range tenants {
		service := tenantOf(t, s, "admin", tenant, nats.Options{})
		for _, name := range []string{"tasks", "high", "low", "deadletter"} {
			must(t, service.Queue(name).Ensure(t.Context()))
		}
	}
}

// work is all that a worker and the doctor do with a queue.
func work(t *testing.T, q queue.Queue) {
	t.Helper()
	ctx := t.Context()
	must(t, q.Ensure(ctx))
	_, err := q.Send(ctx, "task of "+q.Name(), queue.SendOptions{})
	must(t, err)
	depth, err := q.Depth(ctx)
	must(t, err)
	peeked, err := q.Peek(ctx, 1)
	must(t, err)
	if depth != 1 || len(peeked) != 1 {
		t.Errorf("%s: depth %d, %d seen", q.Name(), depth, len(peeked))
	}
	m := await(t, q, 2*time.Minute)
	must(t, m.Lease.Extend(ctx, time.Minute))
	must(t, m.Lease.Release(ctx, 0))
	m = await(t, q, time.Minute)
	must(t, m.Lease.Extend(ctx, time.Minute))
	must(t, m.Lease.Delete(ctx))
	probing, is := q.(queue.Probing)
	if !is {
		t.Fatal("it can't be probed")
	}
	must(t, probing.Phantom().Extend(ctx, time.Second))
	must(t, probing.Phantom().Delete(ctx))
	hidden, err := probing.SendHidden(ctx, "a probe", time.Minute)
	must(t, err)
	must(t, hidden.Delete(ctx))
	if depth, err := q.Depth(ctx); err != nil || depth != 0 {
		t.Errorf("%s: depth %d at the end, %v", q.Name(), depth, err)
	}
}

// TestPrintedRights: two tenants that are users of one account work with the rights that docs/nats.md prints.
func TestPrintedRights(t *testing.T) {
	t.Parallel()
	tenants := []string{"acme", "borealis"}
	s := oneAccount(t, tenants...)
	makeStreams(t, s, tenants...)
	for _, tenant := range tenants {
		heard := make(chan struct{}, 99)
		service := tenantOf(t, s, tenant, tenant, nats.Options{
			OnMessage:     func() { heard <- struct{}{} },
			OnDeaf:        func(err error) { t.Error(tenant, "can't listen:", err) },
			OnSharedInbox: func(err error) { t.Error(tenant, "has no inbox:", err) },
		})
		for _, name := range []string{"tasks", "high", "low"} {
			work(t, service.Queue(name))
		}
		work(t, tenantOf(t, s, tenant, tenant, nats.Options{}).Queue("deadletter")) // nobody waits for these
	}
}

// TestSharedInbox: a login of the version before, without the right to the tenant's inbox, works, and is told of once.
func TestSharedInbox(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t, func(o *server.Options) {
		for user, inbox := range map[string]string{"before": "_INBOX.>", "none": "other"} {
			o.Users = append(o.Users, &server.User{Username: user, Password: user, Permissions: &server.Permissions{
				Subscribe: &server.SubjectPermission{Allow: []string{inbox}},
			}})
		}
	})
	shared, up := make(chan error, 9), make(chan struct{}, 9)
	q := tenantOf(t, s, "before", "acme", nats.Options{
		OnSharedInbox: func(err error) { shared <- err }, OnConnection: func(bool, error) { up <- struct{}{} },
	}).Queue("tasks")
	work(t, q)
	if len(shared) != 1 {
		t.Errorf("it told of the common inbox %d times", len(shared))
	} else if err := <-shared; !strings.Contains(err.Error(), `Subscription to "_INBOX_acme.`) {
		t.Error(err)
	}
	if <-up; len(up) > 0 {
		t.Error("it told of the connection again")
	}
	err := tenantOf(t, s, "none", "acme", nats.Options{}).Queue("tasks").Ensure(t.Context())
	if !errors.Is(err, queue.ErrDenied) || !strings.Contains(err.Error(), `subscription to "_INBOX_acme.`) {
		t.Error(err)
	}
}

// TestFindStream: the right to the names of streams is needed only for a stream of another name, and only one of the two
// rights to find it.
func TestFindStream(t *testing.T) {
	t.Parallel()
	denied := map[string]string{
		"nameless": "$JS.API.STREAM.NAMES", "blind": "$JS.API.STREAM.INFO.SIMPLE-PROCESS-ACME-JOBS",
		"neither": "$JS.API.STREAM.>", "admin": "none",
	}
	for name, c := range map[string]struct {
		user, stream, says string
	}{
		"its name":               {"nameless", "SIMPLE-PROCESS-ACME-JOBS", ""},
		"another name":           {"blind", "tasks", ""},
		"none yet":               {"nameless", "", ""},
		"another name, no names": {"nameless", "tasks", "another stream than SIMPLE-PROCESS-ACME-JOBS"},
		"no right":               {"neither", "tasks", `publish to "$JS.API.STREAM.INFO.SIMPLE-PROCESS-ACME-JOBS"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := natstest.StartDenying(t, denied)
			if c.stream != "" {
				_, err := natstest.Connect(t, s.URLOf("admin")).CreateStream(t.Context(), jetstream.StreamConfig{
					Name: c.stream, Subjects: []string{"simple-process.acme.>"}, Retention: jetstream.WorkQueuePolicy,
				})
				must(t, err)
			}
			q := tenantOf(t, s, c.user, "acme", nats.Options{}).Queue("tasks")
			if c.says == "" {
				work(t, q)
				return
			}
			if err := q.Ensure(t.Context()); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %q", err, c.says)
			}
		})
	}
}

// TestOtherAcknowledgements: a server may name domain and account in the subjects of acknowledgements (its feature flag
// js_ack_fc_v2).
func TestOtherAcknowledgements(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t, func(o *server.Options) { o.FeatureFlags = map[string]bool{"js_ack_fc_v2": true} })
	q, _ := jobs(t, s, nats.Options{Owner: "acme"})
	work(t, q)
}
