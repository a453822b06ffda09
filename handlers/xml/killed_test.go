package xml_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/handlers/handlertest"
	"github.com/seed-7227ef26/async-worker/handlers/xml"
	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/gateway"
	"github.com/seed-7227ef26/async-worker/internal/gateway/gatewaytest"
	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// killer ends an attempt at one of its steps, before or after it takes effect. From then on every step fails, as after
// the death of a process.
type killer struct {
	at    int // the step, from 1; zero: none
	after bool
	steps []string
	dead  bool
}

var errKilled = errors.New("the worker was killed")

// kill runs one step.
func kill[T any](k *killer, name string, do func() (T, error)) (t T, err error) {
	if k.dead {
		return t, errKilled
	}
	k.steps = append(k.steps, name)
	mine := len(k.steps) == k.at
	if mine && !k.after {
		k.dead = true
		return t, errKilled
	}
	t, err = do()
	if mine {
		k.dead = true
		var none T
		return none, errKilled
	}
	return t, err
}

type killedStore struct {
	xml.Store
	k *killer
}

func (s killedStore) ClaimAnswer(ctx context.Context, q store.AnswerQuestion) (store.AnswerClaim, error) {
	return kill(s.k, "claim "+q.Mode, func() (store.AnswerClaim, error) { return s.Store.ClaimAnswer(ctx, q) })
}

func (s killedStore) KeepAnswer(ctx context.Context, a store.Answer) (string, error) {
	return kill(s.k, "keep", func() (string, error) { return s.Store.KeepAnswer(ctx, a) })
}

func (s killedStore) Derived(ctx context.Context, q store.DerivedQuery) (store.DerivedAnswer, error) {
	return kill(s.k, "derived", func() (store.DerivedAnswer, error) { return s.Store.Derived(ctx, q) })
}

func (s killedStore) HoldDocument(ctx context.Context, h store.Holder, most int) (int, error) {
	return kill(s.k, "hold", func() (int, error) { return s.Store.HoldDocument(ctx, h, most) })
}

func (s killedStore) Partials(ctx context.Context, q store.PartialQuery) ([]store.Partial, error) {
	return kill(s.k, "partials", func() ([]store.Partial, error) { return s.Store.Partials(ctx, q) })
}

func (s killedStore) KeepPartials(ctx context.Context, job string, all []store.Partial) error {
	_, err := kill(s.k, "keep partials", func() (int, error) { return 0, s.Store.KeepPartials(ctx, job, all) })
	return err
}

type killedBucket struct {
	blob.Bucket
	k *killer
}

func (b killedBucket) Open(ctx context.Context, name string) (p blob.Properties, body io.ReadCloser, err error) {
	body, err = kill(b.k, "open", func() (io.ReadCloser, error) {
		var body io.ReadCloser
		p, body, err = b.Bucket.Open(ctx, name)
		return body, err
	})
	return p, body, err
}

func (b killedBucket) Put(ctx context.Context, name string, r io.Reader, kind string) (blob.Properties, error) {
	return kill(b.k, "put", func() (blob.Properties, error) { return b.Bucket.Put(ctx, name, r, kind) })
}

func (b killedBucket) PutNew(ctx context.Context, name string, r io.Reader, kind string) (blob.Properties, error) {
	return kill(b.k, "put result", func() (blob.Properties, error) { return b.Bucket.PutNew(ctx, name, r, kind) })
}

type killedGateway struct {
	xml.Gateway
	k *killer
}

func (g killedGateway) Process(ctx context.Context, c gateway.Call) (gateway.Answer, error) {
	return kill(g.k, "gateway "+string(c.Accept), func() (gateway.Answer, error) { return g.Gateway.Process(ctx, c) })
}

type killedProgress struct {
	handlertest.Progress
	k *killer
}

func (p *killedProgress) Save(ctx context.Context) error {
	_, err := kill(p.k, "save", func() (int, error) { return 0, p.Progress.Save(ctx) })
	return err
}

type killedModel struct {
	*model
	k *killer
}

func (m killedModel) Ask(ctx context.Context, q llm.Question) (llm.Answer, error) {
	return kill(m.k, "model", func() (llm.Answer, error) { return m.model.Ask(ctx, q) })
}

// TestKilledAtEachStep: a worker is killed before or after each of its steps. The next attempt has one result, and pays
// for no call whose answer was stored. A forced task takes none of the answers that were there before it.
func TestKilledAtEachStep(t *testing.T) {
	t.Parallel()
	for mode, whole := range map[string]int{`,"mode":"direct"`: 1, inChecked: 2} {
		for _, force := range []bool{false, true} {
			steps := killedOnce(t, mode, force, 0, false).steps
			for at := 1; at <= len(steps); at++ {
				for _, after := range []bool{false, true} {
					name := fmt.Sprintf("%s force=%v %d %s after=%v", strings.Trim(mode[8:], `"`), force, at, steps[at-1], after)
					t.Run(name, func(t *testing.T) {
						t.Parallel()
						killedOnce(t, mode, force, at, after).check(t, whole)
					})
				}
			}
		}
	}
}

// killing is the course of one test.
type killing struct {
	steps  []string // of a whole attempt
	stored int      // paid calls whose answer was stored when the worker died
	lost   int      // and those whose answer was not
	paid   int      // in the end
	rows   int      // results
}

func killedOnce(t *testing.T, mode string, force bool, at int, after bool) killing {
	t.Helper()
	b := newBench(t, gatewaytest.Options{})
	hints, path := task.Hints{Force: force}, "results/t7.xml"
	if force {
		b.finish(b.BeginAs("t7", task.XML, payloadOf(mode), task.Hints{}))
		path = "results/2/t7.xml"
	}
	before := b.gateway.Paid()
	b.Job.Lease = 0 // the next attempt starts at once
	k := &killer{at: at, after: after}
	deps := b.deps
	deps.Store, deps.Bucket = killedStore{b.Store, k}, killedBucket{b.Bucket, k}
	deps.Gateway, deps.Chat = killedGateway{b.deps.Gateway, k}, killedModel{b.model, k}
	c := b.BeginAs("t7", task.XML, payloadOf(mode), hints)
	progress := &killedProgress{k: k}
	c.Progress = progress
	out, err := xml.New(deps).Handle(t.Context(), c)
	var r killing
	if at == 0 {
		if err != nil {
			t.Fatal(err)
		}
		b.Complete(c, out, &result{})
		return killing{steps: k.steps}
	}
	if !errors.Is(err, errKilled) && !k.dead {
		t.Fatalf("it survived: %v", err)
	}
	r.stored = countStored(k)
	r.lost = b.gateway.Paid() - before - r.stored
	next := b.BeginAs("t7", task.XML, payloadOf(mode), hints)
	next.Checkpoint = progress.Saved
	got := b.finish(next)
	if got.ResultPath != path || !strings.HasPrefix(b.Get(got.ResultPath), "<?xml") || got.Deduplicated {
		t.Errorf("%+v", got)
	}
	r.paid = b.gateway.Paid() - before
	r.rows = handlertest.Query[int](b.Bench, "select count(*)::int from derived_contents where blob = $1", path)
	return r
}

// countStored counts the answers of the gateway that were in the container when the worker died: each "put" after a call.
func countStored(k *killer) int {
	stored, open := 0, false
	for i, step := range k.steps {
		done := i+1 < k.at || k.after
		switch {
		case strings.HasPrefix(step, "gateway"):
			open = done
		case step == "put" && open && done:
			stored, open = stored+1, false
		}
	}
	return stored
}

func (r killing) check(t *testing.T, whole int) {
	t.Helper()
	if r.rows != 1 {
		t.Errorf("%d results", r.rows)
	}
	if r.lost > 1 || r.paid != whole+r.lost {
		t.Errorf("%d calls were paid for, want %d: %d answers were stored and %d lost when the worker died", r.paid, whole+r.lost,
			r.stored, r.lost)
	}
}

// keepless is a store in which no answer is kept.
type keepless struct{ xml.Store }

func (keepless) KeepAnswer(context.Context, store.Answer) (string, error) { return "", errKilled }

// TestKilledAfterLoss: somebody removed a kept answer, and the job that asks again dies before its row is written. Its next
// attempt pays for nothing.
func TestKilledAfterLoss(t *testing.T) {
	t.Parallel()
	b := newBench(t, gatewaytest.Options{})
	b.do(payloadOf(""))
	if err := b.Bucket.Remove(t.Context(), handlertest.Query[string](b.Bench, "select blob from gateway_answers")); err != nil {
		t.Fatal(err)
	}
	b.Job.Lease = 0
	deps := b.deps
	deps.Store = keepless{b.Store}
	progress := &handlertest.Progress{}
	c := b.BeginAs("t7", task.XML, payloadOf(""), task.Hints{})
	c.Progress = progress
	if _, err := xml.New(deps).Handle(t.Context(), c); !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
	b.calls(2, "the killed attempt")
	next := b.BeginAs("t7", task.XML, payloadOf(""), task.Hints{})
	next.Checkpoint = progress.Saved
	b.finish(next)
	b.calls(2, "the next attempt")
}
