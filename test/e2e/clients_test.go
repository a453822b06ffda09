package e2e

import (
	"encoding/json"
	"testing"
)

// TestClientsThatAreNotOurs: messages of Azure's SDK for JavaScript, in both encodings that frontends use, native
// and as a CloudEvent, are processed, and their senders get webhooks.
func TestClientsThatAreNotOurs(t *testing.T) {
	t.Parallel()
	b := newBed(t, "LLM_PROVIDER=offline")
	b.start()
	b.upload("notes.md", []byte("# Tides\n\n## Spring tide\n\nTwice a month the water is highest.\n"))
	event := func(task string) string {
		text, err := json.Marshal(map[string]any{
			"specversion": "1.0", "id": "e1", "source": "/frontend", "type": "task.requested",
			"data": json.RawMessage(task),
		})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for id, send := range map[string]func(id string){
		"js-base64":     func(id string) { b.sendFromJavaScript(b.ingest(id, "notes.md"), "base64") },
		"js-raw":        func(id string) { b.sendFromJavaScript(b.ingest(id, "notes.md"), "raw") },
		"js-cloudevent": func(id string) { b.sendFromJavaScript(event(b.ingest(id, "notes.md")), "base64") },
	} {
		send(id)
		got := b.await(b.ctx, id)
		if got.Type != "task.completed" || got.Status != "completed" || got.TaskType != "ingest" ||
			got.ClientID != b.client {
			t.Errorf("%s: the webhook is %+v", id, got)
		}
		if got.Result["filename"] != "notes.md" || got.Result["chunks"] != 1.0 {
			t.Errorf("%s: the result is %v, want notes.md in 1 chunk", id, got.Result)
		}
		expect(b, id+": the job", "succeeded", "select status from jobs where id = $1", id)
	}
	expect(b, "headings of the chunk", "Tides/Spring tide",
		"select array_to_string(heading_path, '/') from document_chunks")
}
