package storetest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// situation prepares a job and returns the call to make on it, which reports its answer.
type situation struct {
	name    string
	prepare func(b *bench) (jobID string, call func() string)
}

// sameTogether: calls that are made at once get the answers, and leave the rows and events, that they do one by one.
func sameTogether(t *testing.T, b *bench, all []situation) {
	t.Helper()
	const copies = 8 // more than are in flight before a batch
	want := map[string]string{}
	for _, s := range all {
		id, call := s.prepare(b)
		want[s.name] = call() + b.left(id)
	}
	type one struct{ name, jobID, answer string }
	var calls []*one
	var wg sync.WaitGroup
	start := make(chan struct{})
	for range copies {
		for _, s := range all {
			id, call := s.prepare(b)
			o := &one{name: s.name, jobID: id}
			calls = append(calls, o)
			wg.Go(func() {
				<-start
				o.answer = call()
			})
		}
	}
	close(start)
	wg.Wait()
	for _, o := range calls {
		if got := o.answer + b.left(o.jobID); got != want[o.name] {
			t.Errorf("%s: together\n%s\nalone\n%s", o.name, got, want[o.name])
		}
	}
}

// left is what a call left of a job, without ids and times.
func (b *bench) left(id string) string {
	j := b.job(id)
	c, err := b.JobContext(b.ctx(), id)
	var text strings.Builder
	fmt.Fprintf(&text, "\n%s %s %d%% attempts %d/%d result %s error %q started %t completed %t took %v received %t %v\n",
		j.Status, j.Stage, j.Progress, j.Attempts, j.MaxAttempts, j.Result, j.ErrorMessage, j.StartedAt != nil,
		j.CompletedAt != nil, j.ProcessingMS != nil, c.Received != "", err)
	at := time.Time{}
	for _, e := range b.history(id) {
		fmt.Fprintf(&text, "%d %s %d%% attempt %d %q %s, in order %t\n", e.Seq, e.Stage, e.Progress, e.Attempt, e.Message,
			e.Metadata, !e.At.Before(at))
		at = e.At
	}
	var events []string
	for _, d := range b.deliveries(store.DeliveryFilter{JobID: id}) {
		events = append(events, d.Event+" "+d.Status)
	}
	slices.Sort(events)
	fmt.Fprint(&text, events)
	return workerName.ReplaceAllLiteralString(text.String(), "worker")
}

// workerName matches the names of workers that have their own.
var workerName = regexp.MustCompile(`worker-[0-9a-f-]{36}`)

// beginning makes a situation of a message that prepare makes for a job.
func beginning(name string, prepare func(b *bench) store.Begin) situation {
	return situation{name, func(b *bench) (string, func() string) {
		m := prepare(b)
		return m.JobID, func() string {
			a, err := b.Begin(b.ctx(), m)
			a.Wait, a.Duration, a.Waited = min(a.Wait, 1), min(a.Duration, 0), min(a.Waited, 0) // some take no millisecond
			return fmt.Sprintf("%+v %v", a, err)
		}
	}}
}

// submitted records a job before its message comes.
func (b *bench) submitted(edit ...func(*store.Begin)) store.Begin {
	b.t.Helper()
	m := message(edit...)
	if _, err := b.Submit(b.ctx(), store.Submission{Task: m.Task, Queue: "q", Message: "{}"}); err != nil {
		b.t.Fatal(err)
	}
	return m
}

// anotherMessage is a second message of a job.
func anotherMessage(m store.Begin) store.Begin {
	m.Source.MessageID, m.ID = uuid.NewString(), uuid.NewString()
	return m
}

// testBeginsAsAlone: a begin in a batch does what it does alone, whatever state its job is in.
func testBeginsAsAlone(t *testing.T, b *bench) {
	hooked := func(m *store.Begin) { m.WebhookEvents = []string{"started", "progress"} }
	sameTogether(t, b, []situation{
		beginning("new", func(*bench) store.Begin { return message() }),
		beginning("new, with a webhook", func(*bench) store.Begin { return message(hooked) }),
		beginning("pending", func(b *bench) store.Begin { return b.submitted() }),
		beginning("pending, with a webhook", func(b *bench) store.Begin { return b.submitted(hooked) }),
		beginning("pending, and starts later", func(b *bench) store.Begin {
			m := message()
			b.later(m, `{}`)
			return m
		}),
		beginning("pending, another task", func(b *bench) store.Begin {
			m := b.submitted()
			m.Fingerprint = "f2"
			return m
		}),
		beginning("pending and canceled", func(b *bench) store.Begin {
			m := b.submitted()
			if _, err := b.RequestCancel(b.ctx(), m.JobID, "anna"); err != nil {
				b.t.Fatal(err)
			}
			return m
		}),
		beginning("canceled before it came", func(b *bench) store.Begin {
			m := message()
			if _, err := b.RequestCancel(b.ctx(), m.JobID, "anna"); err != nil {
				b.t.Fatal(err)
			}
			return m
		}),
		beginning("released", func(b *bench) store.Begin {
			m, h := b.run(hooked)
			if _, err := b.Release(b.ctx(), store.Release{Holder: h, Events: []store.Event{event("parsing", 40)}}); err != nil {
				b.t.Fatal(err)
			}
			return anotherMessage(m)
		}),
		beginning("not answered, and canceled", func(b *bench) store.Begin {
			return anotherMessage(b.canceledUnanswered())
		}),
		beginning("held", func(b *bench) store.Begin {
			m, _ := b.run()
			return anotherMessage(m)
		}),
		beginning("lost", func(b *bench) store.Begin {
			m, h := b.run(func(m *store.Begin) { m.Worker = "worker-" + uuid.NewString() }) // lost alone
			b.loseWorker(h)
			return anotherMessage(m)
		}),
		beginning("waiting", func(b *bench) store.Begin {
			m, h := b.run()
			if _, err := b.Retry(b.ctx(), store.Retry{Holder: h, Error: badInput, After: hour}); err != nil {
				b.t.Fatal(err)
			}
			return anotherMessage(m)
		}),
		beginning("succeeded", func(b *bench) store.Begin {
			m, h := b.run()
			b.complete(h)
			return anotherMessage(m)
		}),
	})
}

// completing makes a situation of a completion that prepare makes of a running job.
func completing(name string, prepare func(b *bench, c *store.Completion), edit ...func(*store.Begin)) situation {
	return situation{name, func(b *bench) (string, func() string) {
		_, h := b.run(edit...)
		c := store.Completion{Holder: h, Result: json.RawMessage(`{"n":1}`)}
		prepare(b, &c)
		return h.JobID, func() string {
			s, err := b.Complete(b.ctx(), c)
			s.Duration = min(s.Duration, 0) // some take no millisecond
			if err != nil {
				return "refused" // the sentence names the job
			}
			return fmt.Sprintf("%+v %s", s, s.Result)
		}
	}}
}

// testCompletionsAsAlone: a completion in a batch does what it does alone, whatever it has.
func testCompletionsAsAlone(t *testing.T, b *bench) {
	silent := func(m *store.Begin) { m.WebhookURL = "" }
	hooked := func(m *store.Begin) { m.WebhookEvents = []string{"started", "progress"} }
	events := func(of ...store.Event) func(*bench, *store.Completion) {
		return func(_ *bench, c *store.Completion) { c.Events = of }
	}
	sameTogether(t, b, []situation{
		completing("nothing else", events()),
		completing("no webhook", events(), silent),
		completing("webhooks of its course", events(), hooked),
		completing("no result", func(_ *bench, c *store.Completion) { c.Result = nil }),
		completing("the time that it took", func(_ *bench, c *store.Completion) {
			c.Result = json.RawMessage(`{"processing_time_ms":1234}`)
		}),
		completing("progress that falls", func(_ *bench, c *store.Completion) {
			c.Events = []store.Event{event("parsing", 50), event("", 20), event("indexing", 250), event("", -1)}
		}),
		completing("time that goes back", func(_ *bench, c *store.Completion) {
			late, early := event("parsing", 1), event("indexing", 2)
			late.At, early.At = time.Now().Add(hour), time.Now().Add(-hour)
			early.Metadata = json.RawMessage(`{"page":1}`)
			c.Events = []store.Event{late, early}
		}),
		completing("an event twice", func(_ *bench, c *store.Completion) {
			e := event("parsing", 1)
			c.Events = []store.Event{e, event("indexing", 2), e}
		}),
		completing("an event that was flushed", func(b *bench, c *store.Completion) {
			e := event("parsing", 60)
			if _, err := b.Heartbeat(b.ctx(), store.Heartbeat{Holder: c.Holder, Lease: hour, Events: []store.Event{e}}); err != nil {
				b.t.Fatal(err)
			}
			c.Events = []store.Event{e, event("indexing", 30)}
		}),
		completing("a checkpoint", func(b *bench, c *store.Completion) {
			if _, err := b.Heartbeat(b.ctx(), store.Heartbeat{
				Holder: c.Holder, Lease: hour, Checkpoint: json.RawMessage(`{"at":1}`),
			}); err != nil {
				b.t.Fatal(err)
			}
		}),
		completing("a stale fence", func(_ *bench, c *store.Completion) { c.Fence++ }),
		completing("a result that is no object", func(_ *bench, c *store.Completion) { c.Result = json.RawMessage(`[1]`) }),
		completing("an unknown effect", func(_ *bench, c *store.Completion) {
			c.Effects = []store.Effect{{Kind: "no_such_effect"}}
		}),
	})
}

// testOppositeBatches: two workers that begin and complete the same jobs in opposite order wait for neither of them, and
// each job runs and ends once (I2).
func testOppositeBatches(t *testing.T, b *bench) {
	const jobs = 64
	workers := []store.Store{b.open(t, b.client), b.open(t, b.client)}
	var all []store.Begin
	for i := range jobs {
		if i%2 == 0 {
			all = append(all, b.submitted())
		} else {
			all = append(all, message())
		}
	}
	var fences, ends [jobs]atomic.Int64
	each := func(do func(s store.Store, i int)) {
		var wg sync.WaitGroup
		for k, s := range workers {
			for n := range jobs {
				i := n
				if k == 1 {
					i = jobs - 1 - n
				}
				wg.Go(func() { do(s, i) })
			}
		}
		wg.Wait()
	}
	each(func(s store.Store, i int) {
		begun, err := s.Begin(b.ctx(), anotherMessage(all[i]))
		if err != nil {
			t.Errorf("begin: %v", err)
		} else if begun.Decision == store.Run && !fences[i].CompareAndSwap(0, begun.Fence) {
			t.Errorf("I2: job %d runs twice", i)
		}
	})
	each(func(s store.Store, i int) {
		h := store.Holder{JobID: all[i].JobID, Fence: fences[i].Load()}
		if _, err := s.Complete(b.ctx(), store.Completion{Holder: h, Result: json.RawMessage(`{}`)}); err == nil {
			ends[i].Add(1)
		}
	})
	for i, m := range all {
		if n := ends[i].Load(); n != 1 {
			t.Errorf("I2: job %d was completed %d times", i, n)
		}
		if got := fmt.Sprint(stages(b.history(m.JobID))); got != "[started completed]" {
			t.Errorf("I8: events of job %d: %s", i, got)
		}
	}
	for _, s := range workers {
		s.Close()
	}
}
