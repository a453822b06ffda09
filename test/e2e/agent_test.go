package e2e

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/llm/llmtest"
)

// question is the message of an agent task, as a frontend writes it.
func (b *bed) question(id, kind string, payload map[string]any) string {
	b.t.Helper()
	text, err := json.Marshal(map[string]any{
		"task_id": id, "task_type": kind, "webhook_url": b.hooks.URL, "payload": payload, "requested_by": "user-17",
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return string(text)
}

// TestAgentOffline: without a model an answer consists of quotations and a note; what needs a model is refused.
func TestAgentOffline(t *testing.T) {
	t.Parallel()
	b := newBed(t, "LLM_PROVIDER=offline")
	b.start()
	b.upload("log.md", []byte("# Storm\n\nThe quay cranes are parked at a wind speed of 22 m/s.\n\n# Canteen\n\nIt "+
		"opens at noon.\n"))
	b.send(b.ingest("in", "log.md"))
	b.await(b.ctx, "in")
	b.send(b.question("ask", "agent", map[string]any{
		"prompt": "At what wind speed are the cranes parked?", "document_set": "e2e",
	}))
	got := b.await(b.ctx, "ask")
	cites, _ := got.Result["citations"].([]any)
	if got.Type != "task.completed" || got.Result["retrieval_only"] != true ||
		!strings.HasPrefix(fmt.Sprint(got.Result["model"]), "offline") ||
		!strings.Contains(fmt.Sprint(got.Result["answer"]), "22 m/s") || len(cites) == 0 {
		t.Errorf("the webhook is %+v", got)
	}
	expect(b, "the row", "agent user-17 e2e t",
		"select concat_ws(' ', task_type, requested_by, document_set, retrieval_only) from agent_runs where "+
			"id::text = $1", got.Result["run_id"])
	b.send(b.question("bad", "ai", map[string]any{"prompt": "Why?"}))
	if got := b.await(b.ctx, "bad"); got.Type != "task.failed" ||
		!strings.Contains(got.Error.Message, "LLM_PROVIDER is offline") {
		t.Errorf("an ai task without a model: %+v", got)
	}
}

// agentModel is a model that works in four steps. Its answers depend on the conversation alone; it counts them.
type agentModel struct {
	mu   sync.Mutex
	paid map[int]int    // answers by step
	kill func(step int) // called before an answer that is never paid; nil: no more
	last int            // the last step that was killed
}

var chunkID = regexp.MustCompile(`chunk_id="([0-9a-f-]{36})"`)

func (s *agentModel) reply(r llmtest.ChatRequest) llmtest.Reply {
	step, read := 1, ""
	for _, m := range r.Messages {
		switch m.Role {
		case "assistant":
			step++
		case "tool":
			read += m.Text
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if step > 1 && step > s.last {
		s.last = step
		s.kill(step)
		return llmtest.Reply{Text: "To nobody."}
	}
	s.paid[step]++
	call := func(name string, arguments map[string]any) llmtest.Reply {
		raw, err := json.Marshal(arguments)
		if err != nil {
			panic(err) // plain values
		}
		return llmtest.Reply{Calls: []llm.ToolCall{{Name: name, Arguments: string(raw)}}}
	}
	switch step {
	case 1:
		return call("list_documents", map[string]any{})
	case 2:
		return call("search", map[string]any{"query": "wind speed of the cranes"})
	case 3:
		return call("grep", map[string]any{"document": "log.md", "pattern": "wind"})
	}
	id := ""
	if m := chunkID.FindStringSubmatch(read); m != nil {
		id = m[1]
	}
	return call("finish", map[string]any{
		"answer": "At 22 m/s [1].", "citations": []any{
			map[string]any{"chunk_id": id, "quote": "at a wind speed of 22 m/s"},
		},
	})
}

// TestAgentKilled: killed with -9 after each step, and started again, the worker gives the answer, no step is paid
// twice, and the events have the whole answer.
func TestAgentKilled(t *testing.T) {
	t.Parallel()
	asked, killed := make(chan int), make(chan struct{})
	s := &agentModel{paid: map[int]int{}, kill: func(step int) { asked <- step; <-killed }}
	model := llmtest.New(t, llmtest.Options{Reply: s.reply})
	b := newBed(t, append(modelEnv(model), "WORKER_LEASE_TTL_SEC=12", "RETRY_MAX_ATTEMPTS=10")...)
	b.upload("log.md", []byte("# Storm\n\nThe quay cranes are parked at a wind speed of 22 m/s.\n"))
	w := b.start()
	b.send(b.ingest("in", "log.md"))
	b.await(b.ctx, "in")
	b.send(b.question("ask", "agent", map[string]any{"prompt": "At what wind speed?", "document_set": "e2e"}))
	for step := 2; step <= 4; step++ { // step 1 was answered, and so on
		select {
		case <-asked:
		case <-b.ctx.Done():
			t.Fatalf("step %d was never requested", step)
		}
		if err := w.Stop(syscall.SIGKILL, time.Minute); err != nil {
			t.Fatal(err)
		}
		killed <- struct{}{}
		w = b.start()
	}
	got := b.await(b.ctx, "ask")
	cites, _ := got.Result["citations"].([]any)
	if got.Type != "task.completed" || got.Attempt != 4 || got.Result["answer"] != "At 22 m/s [1]." ||
		len(cites) != 1 || got.Result["steps"] != 4.0 {
		t.Errorf("the webhook is %+v", got)
	}
	for step := range 4 {
		if s.paid[step+1] != 1 {
			t.Errorf("step %d was paid %d times", step+1, s.paid[step+1])
		}
	}
	expect(b, "the row", "agent user-17 e2e 4 1",
		`select concat_ws(' ', task_type, requested_by, document_set, jsonb_array_length(steps), count(*) over ())
		from agent_runs where id::text = $1`, got.Result["run_id"])
	expect(b, "gaps between events", 0, "select max(seq)::int - count(*)::int from job_events where job_id = 'ask'")
	expect(b, "falls of progress", 0, `select count(*)::int from (select progress - lag(progress) over (order by seq) as by from job_events where job_id = 'ask') x where by < 0`)
	expect(b, "what was read along", "At 22 m/s [1].",
		`select string_agg(metadata ->> 'delta', '' order by seq) from job_events where job_id = 'ask'
		and seq >= (select max(seq) from job_events where job_id = 'ask' and metadata ->> 'restart' = 'true')`)
}
