package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/queue"
)

// formerLimit is for one look at queues that are not the worker's.
const formerLimit = 10 * time.Second

// warnOfFormerQueues warns of queues that the tenant has in the database though its QUEUE_BACKEND is another by now.
// aw_enqueue goes by these queues, and would put tasks where no worker takes them.
func (t *Tenant) warnOfFormerQueues(ctx context.Context) {
	waiting, err := t.formerQueues(ctx)
	switch {
	case errors.Is(err, queue.ErrNotFound):
	case err != nil:
		t.log.Debug("did not find out whether the database has queues of this tenant", "error", err)
	default:
		t.log.Warn("aw_enqueue puts tasks on queues in the database, which this worker does not receive: they are of an earlier "+
			"QUEUE_BACKEND=postgres", "waiting", waiting, "hint", fmt.Sprintf("let a worker with that setting do what waits, then, "+
			"as the database's owner: %s (docs/systemd.md)", retire(t.Config.DBSchema, t.Config.ClientID)))
	}
}

// retire is the SQL that ends a tenant's queues in the database. The setting binds the session to the tenant, as row-level
// security holds for the owner, too.
func retire(schema, client string) string {
	return fmt.Sprintf("set app.client_id = '%[2]s'; delete from %[1]s.aw_queues where client_id = '%[2]s'", schema, client)
}

// formerQueues counts the messages on such a queue. The error is queue.ErrNotFound if there is none.
func (t *Tenant) formerQueues(ctx context.Context) (int, error) {
	if t.backend().enqueue {
		return 0, queue.ErrNotFound // they are the worker's
	}
	ctx, cancel := context.WithTimeout(ctx, formerLimit)
	defer cancel()
	service, err := t.postgresQueues(ctx)
	if err != nil {
		return 0, err
	}
	waiting, err := service.Queue(task.QueueNames(t.Config.ClientID).Normal).Depth(ctx)
	return waiting, errors.Join(err, service.Close())
}
