package memory_test

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-7227ef26/async-worker/queue"
	"github.com/seed-7227ef26/async-worker/queue/memory"
)

// A message is hidden while its lease lasts, and gone when it is deleted.
func Example() {
	ctx := context.Background()
	q := memory.New(memory.Options{}).Queue("acme-tasks")
	if err := q.Ensure(ctx); err != nil {
		fmt.Println(err)
		return
	}
	if _, err := q.Send(ctx, `{"task_id":"1"}`, queue.SendOptions{}); err != nil {
		fmt.Println(err)
		return
	}
	messages, err := q.Receive(ctx, queue.MaxBatch, time.Minute)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range messages {
		fmt.Println(m.Text)
		if err := m.Lease.Extend(ctx, time.Minute); err != nil { // as long as the work takes
			fmt.Println(err)
		}
		if err := m.Lease.Delete(ctx); err != nil {
			fmt.Println(err)
		}
	}
	depth, err := q.Depth(ctx)
	fmt.Println(depth, err)
	// Output:
	// {"task_id":"1"}
	// 0 <nil>
}
