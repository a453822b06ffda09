package main

import (
	"context"
	"fmt"
	"time"
)

// runStaleAck has a stale worker acknowledge a message while another worker works on it, and kills that one before it
// commits. A queue whose receipts are checked refuses the acknowledgement, and delivers the message again. JetStream
// takes it and removes the message: then the job's lease in the database is what is left of the task, and the sweep
// finds it and sends the message again (I1).
func (c *crasher) runStaleAck(ctx context.Context, name string, bed queueBed, store string) error {
	t, err := c.newTenant(ctx, bed, store)
	if err != nil {
		return err
	}
	if err := t.upload(ctx, "doc.md", document); err != nil {
		return err
	}
	if err := t.send(ctx, t.ingest(taskID, "doc.md", t.hooks.URL, nil), taskID, "succeeded"); err != nil {
		return err
	}
	stale, err := t.queues.hold(ctx)
	if err != nil {
		return fmt.Errorf("receive the task: %w", err)
	}
	env, err := t.environment(t.direct(), "LLM_PROVIDER=offline", "PROVE_LEASE=3s")
	if err != nil {
		return err
	}
	if err := c.loseHeld(ctx, name, t, env, stale); err != nil {
		return err
	}
	// The sweep takes a job ten minutes after its lease has ended.
	if err := t.age(ctx, time.Hour); err != nil {
		return err
	}
	p, err := start(ctx, c.file, append(env, "PROVE_SWEEP=1s"))
	if err != nil {
		return err
	}
	var found []string
	if err := t.drain(ctx, t.recovery, p.Done()); err != nil {
		found = append(found, "I1 after a stale acknowledgement: "+err.Error())
	}
	if err := p.end(); err != nil {
		return err
	}
	if len(found) == 0 {
		if found, err = t.check(ctx, c.report, 1); err != nil {
			return err
		}
	}
	c.report.ran()
	c.report.violated(name, found, p.log.String())
	return nil
}

// loseHeld starts the worker that gets the message after the stale one, and kills it when it is about to commit and
// the stale one has acknowledged the message.
func (c *crasher) loseHeld(
	ctx context.Context, name string, t *tenant, env []string, stale func(context.Context) error,
) error {
	holder, err := start(ctx, c.file, append(env[:len(env):len(env)], "PROVE_STOP=1",
		"PROVE_POINT=store.Complete#1:before"))
	if err != nil {
		return err
	}
	err = await(ctx, t.recovery, holder.stopped, holder.Done())
	if err == nil {
		err = stale(ctx)
	}
	if e := holder.kill(); err == nil {
		err = e
	}
	if err != nil {
		return fmt.Errorf("%w\n%s", err, holder.log)
	}
	left, err := t.queues.depth(ctx)
	switch {
	case err != nil:
		return err
	case left > 0:
		c.report.add("stale acknowledgements refused", 1)
	case t.bed.name() == natsQueue:
		c.report.add("held messages removed by a stale acknowledgement", 1)
	default:
		c.report.violated(name, []string{"a stale acknowledgement is refused: the held message is gone"}, "")
	}
	return nil
}
