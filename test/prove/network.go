package main

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

// classes are the kinds of requests whose answers are dropped.
func classes() []string {
	return []string{"dequeue", "renew", "delete", "begin", "complete", "webhook"}
}

// batchClasses are those of requests that stand for many calls, on a bed, and the class of one such call alone.
func batchClasses(bed queueBed) map[string]string {
	batches := map[string]string{"begin_all": "begin", "complete_all": "complete"}
	if bed.name() == "postgres" { // other queues delete messages one by one
		batches["delete_all"] = "delete"
	}
	return batches
}

// batchTasks is how many tasks run at once where calls have to meet in a batch.
const batchTasks = 12

// classesOn are all classes on a bed, and how many runs each of them has.
func (n *networkRun) classesOn(bed queueBed) map[string]int {
	all := map[string]int{}
	for _, class := range classes() {
		all[class] = n.runs
	}
	for class := range batchClasses(bed) {
		all[class] = max(min(n.runs, 2), n.runs/4) // they take longer
	}
	return all
}

// network drops answers on real connections: the request was carried out, and the worker doesn't know.
func network(ctx context.Context, o options, r *report) (err error) {
	g, err := o.servers(ctx, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.close()) }()
	n := &networkRun{servers: g, options: o, report: r, slow: newModel()}
	defer n.slow.close()
	n.slow.slow(o.seed, 1200*time.Millisecond, 2200*time.Millisecond)
	if n.file, err = o.built.of(ctx, "./test/prove/crashworker"); err != nil {
		return err
	}
	beds, err := g.newBeds(ctx, o.queues)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(o.parallel)
	for _, bed := range beds {
		for class, runs := range n.classesOn(bed) {
			r.printf("%s/%s: %d runs", bed.name(), class, runs) // the runs before it end meanwhile
			for i := range runs {
				name := fmt.Sprintf("network/%s/%s/%03d", bed.name(), class, i+1)
				if !o.wants(name) {
					continue
				}
				group.Go(func() error {
					if err := n.one(ctx, bed, name, class, i); err != nil {
						return fmt.Errorf("%s: %w", name, err)
					}
					return nil
				})
			}
		}
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for _, bed := range beds {
		for _, class := range slices.Sorted(maps.Keys(n.classesOn(bed))) {
			class = bed.name() + "/" + class
			r.printf("%-18s %d runs, answers dropped %d", class, r.counted("runs of "+class),
				r.counted("dropped in "+class))
		}
	}
	return nil
}

type networkRun struct {
	*servers
	options
	report *report
	file   string
	slow   *model // answers after a renewal is due
}

// one is a run: two tasks, or many for a class of batches, on a network whose faults follow from its name and the seed.
func (n *networkRun) one(ctx context.Context, bed queueBed, name, class string, i int) error {
	rnd := seeded(n.seed, name)
	s := newFaultPlan()
	alone, batch := batchClasses(bed)[class]
	if batch { // while these two wait for their answers, others gather
		s.plan(alone, 1, delayed)
		s.plan(alone, 2, delayed)
	}
	planFaults(s, class, rnd)
	t, err := n.newTenant(ctx, bed, n.stores[i%len(n.stores)])
	if err != nil {
		return err
	}
	at, stop, err := n.insertProxies(t, s)
	if err != nil {
		return err
	}
	defer stop()
	more := []string{"PROVE_LEASE=3s", "RETRY_MAX_ATTEMPTS=9"} // faults may cost more attempts than the default
	if class == "renew" {
		at.model = n.slow.url()
	} else {
		more = append(more, "LLM_PROVIDER=offline")
	}
	if batch {
		more = append(more, fmt.Sprintf("WORKER_CONCURRENCY=%d", batchTasks))
	}
	env, err := t.environment(at, more...)
	if err != nil {
		return err
	}
	if err := t.upload(ctx, "doc.md", document); err != nil {
		return err
	}
	if err := t.send(ctx, t.ingest(taskID, "doc.md", at.hooks, nil), taskID, "succeeded"); err != nil {
		return err
	}
	if err := t.send(ctx, t.ingest("task-2", "missing.md", at.hooks, nil), "task-2", "failed"); err != nil {
		return err
	}
	if batch {
		if err := sendTogether(ctx, t, at.hooks); err != nil {
			return err
		}
	}
	found, log, err := n.runWorkers(ctx, t, env)
	if err != nil {
		return err
	}
	dropped := s.count(class, dropAnswer)
	n.report.ran()
	n.report.add("runs of "+bed.name()+"/"+class, 1)
	n.report.add("dropped in "+bed.name()+"/"+class, dropped)
	if dropped == 0 {
		n.report.add("runs without a dropped answer of their class", 1)
	}
	n.report.violated(name, found, "the network: "+s.String()+"\n"+log)
	return nil
}

// sendTogether sends tasks that end at about the same time, with effects that may be committed together: those of an
// ingest are not.
func sendTogether(ctx context.Context, t *tenant, hooks string) error {
	files, err := talk()
	if err != nil {
		return err
	}
	for i := range 2 * batchTasks {
		id := fmt.Sprintf("talk-%d", i)
		if err := t.upload(ctx, id+".pptx", files["talk.pptx"]); err != nil {
			return err
		}
		text := t.taskMessage(id, "convert", hooks, map[string]any{"filename": id + ".pptx"})
		if err := t.send(ctx, text, id, "succeeded"); err != nil {
			return err
		}
	}
	return nil
}

// seeded returns the source of one run's choices.
func seeded(seed uint64, name string) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // never fails
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

// planFaults plans a dropped answer of the class, often more of them, and sometimes a fault elsewhere.
func planFaults(s *faultPlan, class string, rnd *rand.Rand) {
	s.plan(class, 1, dropAnswer)
	for range rnd.IntN(3) {
		s.plan(class, 1+rnd.IntN(6), dropAnswer)
	}
	all := append(classes(), "heartbeat", "stage_chunks", "settle_delivery", "claim_deliveries", "fail",
		"dead_letter_sent", "send", "blob")
	for range rnd.IntN(3) {
		other := all[rnd.IntN(len(all))]
		if other != class {
			s.plan(other, 1+rnd.IntN(3), []fault{cutBefore, dropAnswer, delayed}[rnd.IntN(3)])
		}
	}
}

// insertProxies puts proxies in front of all services.
func (n *networkRun) insertProxies(t *tenant, s *faultPlan) (at addresses, stop func(), err error) {
	at = t.direct()
	var stops []func()
	stop = func() {
		for _, f := range stops {
			f()
		}
	}
	proxy := func(target string, classify func(*http.Request, []byte) string) string {
		p, e := newHTTPProxy(target, s, classify)
		if e != nil {
			err = errors.Join(err, e)
			return target
		}
		stops = append(stops, p.close)
		return p.server.URL
	}
	blobs, e := interceptStorage(&at, "Blob", s)
	if e != nil {
		return at, stop, e
	}
	stops = append(stops, blobs.close)
	queues, e := t.bed.intercept(&at, s)
	if e != nil {
		return at, stop, e
	}
	if queues != nil {
		stops = append(stops, queues.close)
	}
	at.api = proxy(at.api, rpcClass)
	at.hooks = proxy(at.hooks, func(*http.Request, []byte) string { return "webhook" })
	pg, url, e := newPGProxy(at.database, s)
	if e != nil {
		return at, stop, errors.Join(err, e)
	}
	at.database = url
	stops = append(stops, pg.close)
	return at, stop, err
}

func pathEnd(r *http.Request) string { return r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:] }

// runWorkers runs workers until everything is done. When only webhooks are left for a while, which are scheduled
// minutes ahead, they are made due, and another worker delivers them.
func (n *networkRun) runWorkers(ctx context.Context, t *tenant, env []string) (found []string, log string, err error) {
	deadline := time.Now().Add(max(90*time.Second, t.recovery))
	for {
		p, err := start(ctx, n.file, env)
		if err != nil {
			return nil, log, err
		}
		drained := t.drainOrHooks(ctx, time.Until(deadline), p.Done(), p.working)
		err = p.end()
		log += "a worker:\n" + p.log.String()
		switch code := p.code(); {
		case err != nil:
			return nil, log, err
		case errors.Is(drained, errOnlyHooks) && time.Now().Before(deadline):
			n.report.add("webhooks not waited for", 1)
			if err := t.expireClaims(ctx); err != nil {
				return nil, log, err
			}
			continue
		case errors.Is(drained, errNotDrained) || errors.Is(drained, errOnlyHooks):
			return []string{"I1 " + drained.Error()}, log, nil
		case drained != nil:
			return nil, log, drained
		case code != 0 && code != endedAtStart:
			return []string{fmt.Sprintf("a process that got SIGTERM exits with %d, want 0", code)}, log, nil
		}
		// A dropped answer to a dead letter's copy may leave a second one.
		found, err := t.check(ctx, n.report, 3)
		return found, log, err
	}
}

var errOnlyHooks = errors.New("only webhooks are left")

// drainOrHooks is drain that returns errOnlyHooks once nothing but webhooks was left for two seconds in which the worker
// has worked: on a loaded machine its start takes longer.
func (t *tenant) drainOrHooks(
	ctx context.Context, patience time.Duration, gone <-chan struct{}, working func() bool,
) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for left := 0; left < 3; {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
			if only, err := t.onlyWebhooksLeft(ctx); err == nil && only && working() {
				left++
			} else {
				left = 0
			}
		}
		stop(errOnlyHooks)
	}()
	err := t.drain(ctx, patience, gone)
	if errors.Is(context.Cause(ctx), errOnlyHooks) && err != nil {
		return errOnlyHooks
	}
	return err
}
