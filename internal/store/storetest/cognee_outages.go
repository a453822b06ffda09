package storetest

import (
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// testCogneeGivesUp: a document that fails again and again, while others do not, is left for a person at last.
func testCogneeGivesUp(t *testing.T, b *bench) {
	b.openCognee()
	b.ingest("poison.pdf", "one")
	status := ""
	for n := 0; status != store.CogneeFailed; n++ {
		d := b.toSend()
		if d.Attempts != n || n > 100 {
			t.Fatalf("attempt %d: %+v", n, d)
		}
		o := cogneeOutcome(d, store.CogneeRetry, store.CogneeFailing)
		o.NextAfter = 0
		s, err := b.SettleCognee(b.ctx(), o)
		if err != nil || s.Down {
			t.Fatalf("one document alone takes Cognee down: %+v, %v", s, err)
		}
		status = s.Status
	}
	if s := b.cognee(); s.Failed != 1 || s.Pending != 0 {
		t.Errorf("state %+v", s)
	}
}

// testCogneeOutage: while Cognee is down there is one probe at a time, and no attempt counts that shows no more than that.
func testCogneeOutage(t *testing.T, b *bench) {
	b.openCognee()
	for _, name := range []string{"a.pdf", "b.pdf", "c.pdf", "d.pdf", "e.pdf"} {
		b.ingest(name, name)
	}
	work := b.work()
	if len(work.Documents) != 5 || work.Down {
		t.Fatalf("claimed %+v", work)
	}
	b.settle(work.Documents[0], store.CogneeRetry, store.CogneeFailing)
	if s := b.settle(work.Documents[1], store.CogneeRetry, store.CogneeFailing); s.Down {
		t.Fatalf("two failures: %+v", s)
	}
	s := b.settle(work.Documents[2], store.CogneeRetry, store.CogneeFailing)
	if !s.Down || !s.Began || s.Probe <= 0 {
		t.Fatalf("three failures: %+v", s)
	}
	if got := b.work(); len(got.Documents) > 0 || !got.Down || got.Next <= 0 {
		t.Fatalf("claimed while Cognee is down: %+v", got)
	}
	b.settle(work.Documents[3], store.CogneeRetry, store.CogneeDown)
	o := cogneeOutcome(work.Documents[4], store.CogneeRetry, store.CogneeDown)
	o.FirstProbe, o.Probe = 0, true
	if s, err := b.SettleCognee(b.ctx(), o); err != nil || !s.Down || s.Began {
		t.Fatalf("settled %+v, %v", s, err)
	}
	var probe store.CogneeWork
	for n := 0; len(probe.Documents) == 0 && n < 100; n++ { // the probe is due in a millisecond
		probe = b.work()
	}
	if len(probe.Documents) != 1 || !probe.Down || probe.Documents[0].Attempts != 0 {
		t.Fatalf("probe %+v", probe)
	}
	if got := b.work(); len(got.Documents) > 0 {
		t.Fatalf("two probes at once: %+v", got)
	}
	b.probeGoesOn(probe.Documents[0])
	if s := b.cognee(); s.DownSince == nil || s.Pending != 5 {
		t.Errorf("state %+v", s)
	}
	if s := b.settle(probe.Documents[0], store.CogneeSent, store.CogneeUp); s.Down || !s.Ended {
		t.Errorf("settled %+v", s)
	}
	if s := b.cognee(); s.DownSince != nil {
		t.Errorf("state %+v", s)
	}
	if got := b.work(); got.Down || len(got.Documents) != 1 { // three wait for their next attempt, as before
		t.Errorf("claimed %+v", got)
	}
}

// probeGoesOn: the next probe waits for one that goes on, and not for another request.
func (b *bench) probeGoesOn(d store.CogneeDocument) {
	b.t.Helper()
	held := store.CogneeHeld{Documents: []store.CogneeLease{{DocumentID: d.DocumentID, Fence: d.Fence}}}
	for _, held.Probe = range []bool{false, true} {
		if _, err := b.ExtendCognee(b.ctx(), held, 3*hour); err != nil {
			b.t.Fatal(err)
		}
		if got := b.work(); !got.Down || (got.Next > 2*hour) != held.Probe {
			b.t.Errorf("with the claim of a probe %t: %+v", held.Probe, got)
		}
	}
}

// testCogneeGivesUpSeveral: of three documents that Cognee never takes each attempt counts, also in the outage that they
// make; between their attempts Cognee works on another set.
func testCogneeGivesUpSeveral(t *testing.T, b *bench) {
	b.openCognee()
	b.ingestInto("another", "good.pdf", "fine")
	b.settle(b.toSend(), store.CogneeSent, store.CogneeUp)
	for _, name := range []string{"a.pdf", "b.pdf", "c.pdf"} {
		b.ingest(name, name)
	}
	work := b.work(func(c *store.CogneeClaim) { c.Quiet = hour })
	if len(work.Documents) != 3 {
		t.Fatalf("claimed %+v", work)
	}
	var s store.CogneeSettled
	for _, d := range work.Documents {
		o := cogneeOutcome(d, store.CogneeRetry, store.CogneeFailing)
		o.FirstProbe, o.NextAfter = 0, 0
		var err error
		if s, err = b.SettleCognee(b.ctx(), o); err != nil {
			t.Fatal(err)
		}
	}
	if !s.Down {
		t.Fatalf("three failures: %+v", s)
	}
	for probes := 0; probes < 3; {
		for _, d := range b.work().Documents {
			if d.Attempts != 1 {
				t.Fatalf("probe %d has had %d attempts, want the one before the outage", probes, d.Attempts)
			}
			o := cogneeOutcome(d, store.CogneeRetry, store.CogneeFailing)
			o.Probe, o.FirstProbe = true, 0
			if _, err := b.SettleCognee(b.ctx(), o); err != nil {
				t.Fatal(err)
			}
			probes++
		}
	}
	for attempts := range 2 { // a run of cognify is given up, too
		for work = b.work(); len(work.Documents)+len(work.Datasets) == 0; {
			work = b.work()
		}
		if len(work.Documents) > 0 || work.Datasets[0].DocumentSet != "another" || work.Datasets[0].Attempts != attempts {
			t.Fatalf("claimed %+v while the documents wait for their next attempts", work)
		}
		if _, err := b.SettleCognify(b.ctx(), store.CognifyOutcome{
			CogneeHealth:  store.CogneeHealth{Health: store.CogneeFailing, Probe: true},
			CognifyHolder: store.CognifyHolder{DocumentSet: "another", Fence: work.Datasets[0].Fence}, Outcome: store.CognifyFailed,
		}); err != nil {
			t.Fatal(err)
		}
	}
}
