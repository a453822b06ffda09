package replay_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/replay"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// refuseXML returns the dead letter of an xml task: one of a job that it makes, or of one that is there, such as a replay.
func (b *bench) refuseXML(id, payload string) string {
	b.Helper()
	return b.reject(fmt.Sprintf(`{"task_id":%q,"task_type":"xml","payload":%s}`, id, payload), func(r *store.Rejection) {
		r.JobID, r.Type, r.Record, r.Reason, r.Payload = id, "xml", true, "unknown_type", json.RawMessage(payload)
	})
}

// filename is what the payload of a job names.
func (b *bench) filename(id string) string {
	b.Helper()
	j, err := b.Store.Job(b.Context(), id)
	if err != nil {
		b.Fatal(err)
	}
	var p struct {
		Filename string `json:"filename"`
	}
	if err := json.Unmarshal(j.Payload, &p); err != nil {
		b.Fatal(err)
	}
	return p.Filename
}

// An xml task that names no document reads the one of its id. Replays have other ids, and read that one.
func TestReplaysKeepTheInvoice(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.refuseXML("inv", `{"pretty":true}`)
	if o, err := b.Replay(t.Context(), first, replay.Options{DryRun: true}); err != nil || o.JobID != "inv.r1" {
		t.Fatalf("dry run: %+v, %v", o, err)
	}
	if name := b.filename("inv"); name != "" {
		t.Errorf("the first job names %q", name)
	}
	if o, err := b.Replay(t.Context(), first, replay.Options{By: "anna"}); err != nil || o.JobID != "inv.r1" {
		t.Fatalf("%+v, %v", o, err)
	}
	if name := b.filename("inv.r1"); name != "uploads/inv.pdf" {
		t.Errorf("the replay names %q", name)
	}
	decoded, err := task.Decode(b.sent(), task.Options{ClientID: "c"})
	if err != nil || string(decoded.Task.Payload) != `{"filename":"uploads/inv.pdf","pretty":true}` {
		t.Errorf("sent: %s, %v", decoded.Task.Payload, err)
	}

	// The message of a replay that an older version recorded names none.
	second := b.refuseXML("inv.r1", `{}`)
	if o, err := b.Replay(t.Context(), second, replay.Options{By: "anna"}); err != nil || b.filename(o.JobID) != "uploads/inv.pdf" {
		t.Errorf("the replay of the replay: %+v, %v", o, err)
	}
	for id, payload := range map[string]string{"named": `{"filename": "b.pdf"}`, "addressed": `{"source_uri": "blob:b.pdf"}`} {
		o, err := b.Replay(t.Context(), b.refuseXML(id, payload), replay.Options{By: "anna"})
		if err != nil {
			t.Fatal(err)
		}
		if j, err := b.Store.Job(t.Context(), o.JobID); err != nil || string(j.Payload) != payload {
			t.Errorf("%s: %s, %v", o.JobID, j.Payload, err)
		}
	}
}
