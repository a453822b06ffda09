package pgmq

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
)

// risks tells of queues that may lose messages, once of each.
type risks struct {
	onRisk func(risk string)

	mu    sync.Mutex
	known map[string]bool // by queue: it was looked at
}

// look tells what the answer of aw_queue_ensure says of a queue. It may be the operator's choice, so it is no error.
func (r *risks) look(queue, answer string) error {
	var table struct {
		Unlogged    bool `json:"unlogged"`
		Partitioned bool `json:"partitioned"`
	}
	if err := json.Unmarshal([]byte(answer), &table); err != nil {
		return fmt.Errorf("read the answer of aw_queue_ensure: %w", err)
	}
	r.mu.Lock()
	known := r.known[queue]
	r.known[queue] = true
	r.mu.Unlock()
	if known {
		return nil
	}
	if table.Unlogged {
		r.onRisk(fmt.Sprintf("the queue %[1]q is unlogged: Postgres empties it after a crash, and a standby does not have its tasks; "+
			`run alter table pgmq."q_%[2]s" set logged, or let it run empty, drop it, and create it with pgmq.create`, queue,
			strings.ToLower(queue)))
	}
	if table.Partitioned {
		r.onRisk(fmt.Sprintf("the queue %q is partitioned: pg_partman drops its old partitions with the tasks that wait in them "+
			"(retention in part_config); let it run empty, drop it, and create it with pgmq.create", queue))
	}
	return nil
}
