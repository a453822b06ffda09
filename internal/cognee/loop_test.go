package cognee_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/cognee"
	"github.com/seed-7227ef26/async-worker/internal/cognee/cogneetest"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// TestLoop: documents of two sets are added, updated and forgotten, each set is worked into the graph, and the rows of
// Cognee say where they are from.
func TestLoop(t *testing.T) {
	t.Parallel()
	b := newBed(t, cogneetest.Options{Polls: 2})
	a := b.ingest("legal docs", "a.pdf", "# Terms\n\nOne", "Two")
	b.ingest("legal docs", "copy.pdf", "# Terms\n\nOne", "Two") // the same text
	b.ingest("other", "b.pdf", "Three")
	b.run(b.config(), b.settled)
	b.equal()
	row := b.server.Rows()[a][0]
	if row.Dataset != "southhaven_legal~20docs" || !slices.Equal(row.NodeSet, []string{"legal docs", a}) ||
		row.Metadata["filename"] != "a.pdf" || row.Metadata["version"] != 1.0 || row.Metadata["pages"] != 3.0 ||
		row.Metadata["sha256"] != "sha of a.pdf" || !row.InGraph {
		t.Errorf("row %+v", row)
	}
	if got := b.server.Cognified(); got["southhaven_legal~20docs"] != 1 || got["southhaven_other"] != 1 {
		t.Errorf("runs of cognify: %v", got)
	}
	b.ingest("legal docs", "a.pdf", "Changed")
	b.delete("legal docs", "copy.pdf")
	b.run(b.config(), b.settled)
	b.equal()
	if row := b.server.Rows()[a][0]; !slices.Equal(row.NodeSet, []string{"legal docs", a}) {
		t.Errorf("the update lost the node set: %+v", row)
	}
	if got := b.server.Calls(cogneetest.Update); got != 1 {
		t.Errorf("%d updates", got)
	}
}

// TestLoopOrder: a version that becomes active while an older one is being sent is sent after it, and one that was
// replaced while its text was read is not sent at all.
func TestLoopOrder(t *testing.T) {
	t.Parallel()
	var b *bed
	once := sync.OnceFunc(func() {
		b.ingest("s", "a.pdf", "version 2")
		b.ingest("s", "a.pdf", "version 3")
	})
	b = newBed(t, cogneetest.Options{Fault: func(endpoint string, _ *http.Request) *cogneetest.Fault {
		if endpoint != cogneetest.Add {
			return nil
		}
		once() // before the text is read to its end
		return nil
	}})
	b.ingest("s", "a.pdf", "version 1")
	b.run(b.config(), b.settled)
	b.equal()
	var last string
	for _, c := range b.server.Changes() {
		_, version, _ := strings.Cut(strings.TrimSpace(c.Content), "version ")
		if version <= last || version == "2" {
			t.Errorf("version %q comes after %q", version, last)
		}
		last = version
	}
}

// TestLoopOutage: while Cognee refuses every key there is one probe at a time, and then everything arrives.
func TestLoopOutage(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	denied, inFlight, most := 0, 0, 0
	var sent, listed sync.WaitGroup // of the requests of the first claim: each is sent, and then lists the datasets
	sent.Add(4)
	listed.Add(4)
	together := func(all *sync.WaitGroup) *cogneetest.Fault { // one that ended late would overlap with a probe
		return &cogneetest.Fault{Status: 401, Wait: func() { all.Done(); all.Wait() }}
	}
	b := newBed(t, cogneetest.Options{Fault: func(string, *http.Request) *cogneetest.Fault {
		mu.Lock()
		defer mu.Unlock()
		switch denied++; {
		case denied <= 4:
			return together(&sent)
		case denied <= 8:
			return together(&listed)
		case denied > 20:
			return nil
		}
		inFlight++
		most = max(most, inFlight)
		return &cogneetest.Fault{Status: 401, Wait: func() { mu.Lock(); defer mu.Unlock(); inFlight-- }}
	}})
	for _, name := range []string{"1.pdf", "2.pdf", "3.pdf", "4.pdf", "5.pdf", "6.pdf"} {
		b.ingest("s", name, "text of "+name)
	}
	b.run(b.config(), b.settled)
	b.equal()
	if most > 1 {
		t.Errorf("%d requests at once while Cognee was down", most)
	}
	if s := b.state(); s.Failed+s.Refused != 0 || s.DownSince != nil {
		t.Errorf("state %+v", s)
	}
}

// TestLoopUnreachable: nothing listens at the address. Documents wait, and no attempt is counted.
func TestLoopUnreachable(t *testing.T) {
	t.Parallel()
	b := newBed(t, cogneetest.Options{})
	b.ingest("s", "a.pdf", "one")
	cfg := b.config()
	cfg.Client = newClient(t, "http://127.0.0.1:1") // a port that was free may be another test's by now
	b.run(cfg, func() bool { return b.count(store.CogneeRetry) >= 5 })
	if s := b.state(); s.DownSince == nil || s.Pending != 1 || !strings.Contains(s.LastError, "could not be reached") {
		t.Errorf("state %+v", s)
	}
}

// TestLoopDatasetGone: somebody removed the dataset. Documents are added again, and a delete is done.
func TestLoopDatasetGone(t *testing.T) {
	t.Parallel()
	b := newBed(t, cogneetest.Options{})
	b.ingest("s", "a.pdf", "one")
	b.ingest("s", "b.pdf", "two")
	b.run(b.config(), b.settled)
	b.server.Remove("southhaven_s")
	b.delete("s", "b.pdf")
	b.run(b.config(), b.settled)
	b.ingest("s", "a.pdf", "one, changed")
	b.run(b.config(), b.settled)
	b.equal()
}

// TestLoopStops: a request that outlives the grace of a shutdown is given back, and another worker sends the document at
// once.
func TestLoopStops(t *testing.T) {
	t.Parallel()
	arrived, release := make(chan struct{}), make(chan struct{})
	first := sync.OnceFunc(func() { close(arrived); <-release })
	b := newBed(t, cogneetest.Options{Fault: func(endpoint string, _ *http.Request) *cogneetest.Fault {
		if endpoint != cogneetest.Add {
			return nil
		}
		return &cogneetest.Fault{Wait: first, Status: http.StatusServiceUnavailable}
	}})
	b.ingest("s", "a.pdf", "one")
	cfg := b.config()
	cfg.Grace = time.Millisecond
	l, err := cognee.NewLoop(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); l.Run(ctx) }()
	<-arrived
	stop()
	<-ended
	close(release)
	work, err := b.store.ClaimCognee(t.Context(), store.CogneeClaim{Worker: "w2", Max: 1, Lease: time.Hour})
	if err != nil || len(work.Documents) != 1 || work.Documents[0].Attempts != 0 {
		t.Errorf("claimed %+v, %v", work, err)
	}
}

// between is a store in which something happens before a text is read.
type between struct {
	store.Cognee
	before func()
}

func (s between) CogneeText(ctx context.Context, q store.CogneeTextQuery) (store.CogneeText, error) {
	s.before()
	return s.Cognee.CogneeText(ctx, q)
}

// TestLoopReplaced: a version that is replaced between its claim and its text is not sent, and costs no attempt.
func TestLoopReplaced(t *testing.T) {
	t.Parallel()
	b := newBed(t, cogneetest.Options{})
	b.ingest("s", "a.pdf", "version 1")
	cfg := b.config()
	cfg.Store = between{b.store, sync.OnceFunc(func() { b.ingest("s", "a.pdf", "version 2") })}
	b.run(cfg, b.settled)
	if changes := b.server.Changes(); len(changes) != 1 || !strings.Contains(changes[0].Content, "version 2") {
		t.Errorf("changes %+v", changes)
	}
}

// thief is a store in which another worker has taken every claim once a request has arrived.
type thief struct {
	store.Cognee
	arrived chan struct{}
}

func (s thief) ExtendCognee(
	ctx context.Context, held store.CogneeHeld, lease time.Duration,
) (store.CogneeKept, error) {
	select {
	case <-s.arrived:
		return store.CogneeKept{}, nil
	default:
		return s.Cognee.ExtendCognee(ctx, held, lease)
	}
}

// TestLoopLosesItsClaim: a request ends when its claim is lost, so that another worker's comes after it.
func TestLoopLosesItsClaim(t *testing.T) {
	t.Parallel()
	arrived, ended := make(chan struct{}), make(chan struct{})
	requests := 0
	b := newBed(t, cogneetest.Options{Fault: func(endpoint string, r *http.Request) *cogneetest.Fault {
		if endpoint != cogneetest.Add {
			return nil
		}
		if requests++; requests > 1 {
			return nil
		}
		return &cogneetest.Fault{After: true, Wait: func() {
			close(arrived)
			select {
			case <-r.Context().Done():
			case <-time.After(5 * time.Minute): // without the guard it would wait for ever
				t.Error("the request goes on")
			}
			close(ended)
		}}
	}})
	b.ingest("s", "a.pdf", "one")
	cfg := b.config()
	cfg.Store, cfg.Renew = thief{b.store, arrived}, 10*time.Millisecond
	b.run(cfg, func() bool {
		select {
		case <-ended:
			return true
		default:
			return false
		}
	})
}

// TestLoopLateAdd: a document is deleted after its upload was cut off, and Cognee goes on with the upload: it lists the
// document only after it was first asked to forget it. In the end it does not have it.
func TestLoopLateAdd(t *testing.T) {
	t.Parallel()
	var b *bed
	late, listed := make(chan struct{}), 0
	done := sync.OnceFunc(func() { close(late) })
	b = newBed(t, cogneetest.Options{Fault: func(endpoint string, r *http.Request) *cogneetest.Fault {
		switch endpoint {
		case cogneetest.Add:
			if err := r.ParseMultipartForm(1 << 20); err != nil { // the text is read while it is being sent
				t.Error(err)
			}
			b.delete("s", "a.pdf")
			return &cogneetest.Fault{Late: late}
		case cogneetest.List:
			if listed++; listed == 2 {
				done()
			}
		}
		return nil
	}})
	b.ingest("s", "a.pdf", "the text of a deleted document")
	cfg := b.config()
	cfg.Unlisted = time.Minute // it is asked again after a second
	b.run(cfg, b.settled)
	done()
	b.run(cfg, func() bool { return len(b.server.Changes()) > 0 && b.settled() })
	b.equal()
}
