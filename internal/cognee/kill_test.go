package cognee_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/cognee/cogneetest"
	"github.com/seed-7227ef26/async-worker/internal/stack"
)

// trouble fails every third request to a server, each in another way, lets the server be down for a while, and kills
// the worker in the worst places.
type trouble struct {
	victim *victim
	every  int // requests between two kills
	after  int // requests before the outage

	requests, failed, outage int
}

// down are the requests that an outage of the server takes.
const down = 40

func (x *trouble) fault(string, *http.Request) *cogneetest.Fault {
	x.requests++
	switch {
	case x.requests >= x.after && x.outage < down:
		x.outage++
		return &cogneetest.Fault{Drop: true}
	case x.requests%x.every == 0 && rand.IntN(2) == 0: // it is done, and the worker does not know
		return &cogneetest.Fault{After: true, Wait: x.victim.kill, Drop: true}
	case x.requests%x.every == 0: // it is done, and the worker may have recorded so
		return &cogneetest.Fault{After: true, Status: http.StatusBadGateway, Wait: func() {
			time.AfterFunc(time.Duration(rand.IntN(5000))*time.Microsecond, x.victim.kill)
		}}
	case x.requests%3 == 0:
		x.failed++
		return [...]*cogneetest.Fault{
			{}, {After: true}, {Drop: true}, {Drop: true, After: true}, {Status: http.StatusServiceUnavailable},
		}[x.failed%5]
	}
	return nil
}

// TestKilledWorkers: 100 documents (500 in `make prove`), each of which is updated when all are sent, and a third of
// which is deleted, while Cognee fails every third request and is down for a while, and the worker is killed four times
// (ten; SIGKILL). At the end Cognee has what the index has, and each version took effect once, none after a newer one.
func TestKilledWorkers(t *testing.T) {
	t.Parallel()
	documents, kills := 100, 4
	switch {
	case os.Getenv(stack.ProveEnv) != "":
		documents, kills = 500, 10
	case testing.Short():
		documents, kills = 40, 2
	}
	b := newKilled(t, 3*documents/5, kills, 3*documents/kills)
	for version := 1; version <= 2; version++ {
		b.write(documents, version)
		b.await(b.settled)
	}
	b.remove(documents)
	b.await(b.settled)
	versions, forgotten := b.finish()
	if want := 2*documents + b.more; versions != want || forgotten != (documents+2)/3 {
		t.Errorf("%d versions took effect, want %d; %d documents were forgotten, want %d", versions, want, forgotten,
			(documents+2)/3)
	}
}

// TestKilledWorkersBehind: the same, but nobody waits for what is sent. Versions that are replaced before they are sent
// are left out.
func TestKilledWorkersBehind(t *testing.T) {
	t.Parallel()
	const documents = 60
	b := newKilled(t, math.MaxInt, 3, 40) // without an outage: each death in one costs a lease of 30 s
	for version := 1; version <= 5; version++ {
		b.write(documents, version)
	}
	b.remove(documents)
	b.await(b.settled)
	if versions, _ := b.finish(); versions > 5*documents+b.more {
		t.Errorf("%d versions took effect", versions)
	}
}

// killed is a bed whose worker is another process, which is killed.
type killed struct {
	*bed
	victim *victim
	more   int // documents beyond those of the test
}

// newKilled starts the worker. The outage comes after so many requests, a kill every so many.
func newKilled(t *testing.T, after, kills, every int) *killed {
	x := &trouble{every: every, after: after}
	b := &killed{bed: newBed(t, cogneetest.Options{Polls: 1, Fault: func(e string, r *http.Request) *cogneetest.Fault {
		return x.fault(e, r)
	}})}
	b.victim = &victim{t: t, died: make(chan struct{}, 1), most: kills}
	x.victim = b.victim
	b.victim.env = []string{serverEnv + "=" + b.server.URL(), databaseEnv + "=" + b.database}
	b.victim.start()
	ended, stop := make(chan struct{}), make(chan struct{})
	go func() { // the next worker
		defer close(ended)
		for {
			select {
			case <-b.victim.died:
				b.victim.start()
			case <-stop:
				return
			}
		}
	}()
	t.Cleanup(func() {
		close(stop)
		<-ended
		b.victim.mu.Lock()
		defer b.victim.mu.Unlock()
		b.victim.end()
	})
	return b
}

// await looks again and again until the condition holds.
func (b *killed) await(until func() bool) {
	b.t.Helper()
	check := time.NewTicker(100 * time.Millisecond)
	defer check.Stop()
	for !until() {
		select {
		case <-check.C:
		case <-b.t.Context().Done():
			b.t.Fatalf("the test was stopped; %+v", b.state())
		}
	}
}

// each calls do for the numbers of the documents, by several writers.
func each(documents int, do func(n int)) {
	var writers sync.WaitGroup
	const parallel = 4
	for w := range parallel {
		writers.Go(func() {
			for n := w; n < documents; n += parallel {
				do(n)
			}
		})
	}
	writers.Wait()
}

// write makes a version of each document.
func (b *killed) write(documents, version int) {
	each(documents, func(n int) {
		b.ingest(fmt.Sprintf("set %d", n%3), fmt.Sprintf("%d.pdf", n), "# Head",
			fmt.Sprintf("text of %d, version %d", n, version))
	})
}

// remove deletes every third document.
func (b *killed) remove(documents int) {
	each(documents, func(n int) {
		if n%3 == 0 {
			b.delete("set 0", fmt.Sprintf("%d.pdf", n))
		}
	})
}

// finish goes on until the worker was killed often enough, checks what Cognee has and the order in which versions took
// effect, and prints the count.
func (b *killed) finish() (versions, forgotten int) {
	b.t.Helper()
	for b.victim.killed() < b.victim.most {
		b.more++
		b.ingest("set 0", fmt.Sprintf("more %d.pdf", b.more), fmt.Sprintf("more %d, version 1", b.more))
		b.await(b.settled)
	}
	b.equal()
	last := map[string]string{} // the version that took effect last, by document
	for _, c := range b.server.Changes() {
		if c.Endpoint == cogneetest.Forget {
			forgotten++
			last[c.Document] = "forgotten"
			continue
		}
		_, version, _ := strings.Cut(strings.TrimSpace(c.Content), ", version ")
		if last[c.Document] >= version {
			b.t.Errorf("version %q of %s took effect after %q", version, c.Document, last[c.Document])
		}
		versions++
		last[c.Document] = version
	}
	runs := 0
	for _, n := range b.server.Cognified() {
		runs += n
	}
	b.t.Logf("%d kills: %d documents are in the index and in Cognee; %d versions were sent, each took effect once; "+
		"%d documents were forgotten; %d requests came again without an effect; %d runs of cognify", b.victim.killed(),
		len(b.server.Rows()), versions, forgotten, b.server.Repeated(), runs)
	return versions, forgotten
}
