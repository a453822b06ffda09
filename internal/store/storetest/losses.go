package storetest

import (
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// process is a worker process that runs jobs until it ends.
type process struct {
	*bench
	name    string
	holders []store.Holder
}

func (b *bench) process() *process { return &process{bench: b, name: "worker-" + uuid.NewString()} }

// begins a job by another message of its worker, and checks the decision.
func (p *process) begins(m store.Begin, want store.Decision) store.BeginAnswer {
	p.t.Helper()
	m = anotherMessage(m)
	m.Worker = p.name
	begun := p.begin(m, want)
	if want == store.Run {
		p.holders = append(p.holders, holder(m, begun))
	}
	return begun
}

// dies loses all jobs that the process has begun and not completed.
func (p *process) dies() {
	p.t.Helper()
	for _, h := range p.holders {
		p.loseWorker(h)
	}
}

// finishes completes the job that the process began last.
func (p *process) finishes() {
	p.t.Helper()
	last := len(p.holders) - 1
	p.complete(p.holders[last])
	p.holders = p.holders[:last]
}

// together begins new jobs in one process, and ends it, as often as told.
func (b *bench) together(n, attempts, times int) (lost []store.Begin) {
	b.t.Helper()
	for range n {
		lost = append(lost, message(func(m *store.Begin) { m.MaxAttempts = attempts }))
	}
	for range times {
		p := b.process()
		for _, m := range lost { // after one loss all begin at once
			if begun := p.begins(m, store.Run); begun.Attempt != 1 {
				b.t.Errorf("I9: %+v, want attempt 1", begun)
			}
		}
		p.dies()
	}
	return lost
}

// testLostTogether: a loss that jobs share costs none of them an attempt, also with one attempt allowed, and after the second
// they begin one at a time. Whoever is lost alone after that has ended the process: it pays, and the others do not.
func testLostTogether(t *testing.T, b *bench) {
	lost := b.together(4, 1, 2)
	healthy, poison := lost[:3], lost[3]
	for range 2 {
		p := b.process()
		if begun := p.begins(healthy[0], store.Run); begun.Attempt != 1 {
			t.Errorf("I9: %+v, want attempt 1 again", begun)
		}
		for _, m := range lost[1:] {
			if begun := b.process().begins(m, store.Waiting); begun.Wait <= 0 {
				t.Errorf("beside a suspect: %+v, want a wait", begun)
			}
		}
		p.finishes()
		healthy, lost = healthy[1:], lost[1:]
	}
	p := b.process()
	p.begins(poison, store.Run)
	p.dies()
	if begun := b.process().begins(poison, store.Spent); begun.Attempt != 1 {
		t.Errorf("I6: lost alone: %+v", begun)
	}
	p = b.process()
	if begun := p.begins(healthy[0], store.Run); begun.Attempt != 1 {
		t.Errorf("I9: the last of them: %+v", begun)
	}
	p.finishes()
	if got := stages(b.history(poison.JobID)); !slices.Equal(got, []string{
		"started", "worker_lost", "released", "started", "worker_lost", "released", "started", "failed",
	}) {
		t.Errorf("events: %v", got)
	}
}

// testLostBesideOthers: jobs that were lost with the only suspect among them pay nothing, and from its third loss on it pays
// each time: a job that ends its process, and is never alone, ends as well.
func testLostBesideOthers(t *testing.T, b *bench) {
	poison := b.together(2, 3, 1)[0]
	var victims []store.Begin
	for _, want := range []int{1, 1, 2, 3} {
		p := b.process()
		if begun := p.begins(poison, store.Run); begun.Attempt != want {
			t.Errorf("I6: %+v, want attempt %d", begun, want)
		}
		m := message(func(m *store.Begin) { m.MaxAttempts = 1 })
		p.begins(m, store.Run)
		p.dies()
		victims = append(victims, m)
	}
	b.process().begins(poison, store.Spent)
	for _, m := range victims {
		p := b.process()
		if begun := p.begins(m, store.Run); begun.Attempt != 1 {
			t.Errorf("I9: %+v, want attempt 1", begun)
		}
		p.finishes()
	}
}

// testLostMessage: the message of a job that was lost, and waits for another one, is told from a duplicate: it was received
// before all that waits on the queue, and must not go behind it. A sweep sends no other one while it comes.
func testLostMessage(t *testing.T, b *bench) {
	lost := []store.Begin{message(), message()}
	for n := range 2 {
		for _, m := range lost {
			m.Worker = "worker-" + strconv.Itoa(n)
			b.loseWorker(holder(m, b.begin(m, store.Run)))
		}
	}
	lost[0].Worker, lost[1].Worker = "worker-2", "worker-3"
	b.begin(lost[0], store.Run)
	if got := b.stalled(soon); !slices.Equal(got, []string{lost[1].JobID}) {
		t.Errorf("before its message came: %v are stalled", got)
	}
	if begun := b.begin(lost[1], store.Waiting); !begun.Ran {
		t.Errorf("its own message: %+v", begun)
	}
	if begun := b.begin(anotherMessage(lost[1]), store.Waiting); begun.Ran {
		t.Errorf("a duplicate: %+v", begun)
	}
	if got := b.stalled(soon); len(got) != 0 {
		t.Errorf("its message has come, and %v are stalled", got)
	}
	if got := b.stalled(store.SweepAges{}); !slices.Equal(got, []string{lost[1].JobID}) {
		t.Errorf("I1: its message has not come again: %v are stalled", got)
	}
}

// testLostTogetherEnds: losses that jobs share again and again count after five of them, so that every job ends (I6).
func testLostTogetherEnds(t *testing.T, b *bench) {
	lost := b.together(2, 1, 1)
	for range 5 {
		p := b.process()
		for _, m := range lost { // the other one is lost, not under way
			begun := p.begins(m, store.Run)
			if begun.Attempt != 1 {
				t.Errorf("I9: %+v, want attempt 1", begun)
			}
			b.loseWorker(p.holders[len(p.holders)-1])
		}
	}
	for _, m := range lost {
		b.process().begins(m, store.Spent)
	}
}

// testLostAlone: what a worker gave back, or finished, was not lost with it.
func testLostAlone(t *testing.T, b *bench) {
	p := b.process()
	var all []store.Begin
	for range 3 {
		m := message()
		p.begins(m, store.Run)
		all = append(all, m)
	}
	if _, err := b.Release(b.ctx(), store.Release{Holder: p.holders[0]}); err != nil {
		t.Fatal(err)
	}
	b.complete(p.holders[1])
	b.loseWorker(p.holders[2])
	if begun := b.process().begins(all[2], store.Run); begun.Attempt != 2 {
		t.Errorf("lost alone: %+v, want attempt 2", begun)
	}
	beside := b.process()
	beside.begins(message(), store.Run) // its lease lasts: the process lives
	m := message()
	beside.begins(m, store.Run)
	b.loseWorker(beside.holders[1])
	if begun := b.process().begins(m, store.Run); begun.Attempt != 2 {
		t.Errorf("lost by a worker that lives: %+v, want attempt 2", begun)
	}
}

// testLostBegunTogether: of jobs that were lost together twice and are begun at once, one begins, and the others wait for it.
func testLostBegunTogether(t *testing.T, b *bench) {
	for round := range 10 {
		lost := b.together(4, 3, 2)
		decisions := make([]store.Decision, len(lost))
		var wg sync.WaitGroup
		for i, m := range lost {
			wg.Go(func() {
				m = anotherMessage(m)
				m.Worker = "worker-" + strconv.Itoa(i)
				begun, err := b.Begin(b.ctx(), m)
				if err != nil {
					t.Errorf("round %d: %v", round, err)
				}
				decisions[i] = begun.Decision
			})
		}
		wg.Wait()
		slices.Sort(decisions)
		if !slices.Equal(decisions, []store.Decision{store.Run, store.Waiting, store.Waiting, store.Waiting}) {
			t.Errorf("round %d: %v, want one to run and the others to wait", round, decisions)
		}
	}
}
