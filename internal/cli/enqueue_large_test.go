package cli

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/queue/memory"
)

// A message that is larger than the queue takes goes into the container, and a claim check of it on the queue.
func TestEnqueueLarge(t *testing.T) {
	t.Parallel()
	r := &rows{}
	o, bucket := office(r)
	text := `{"task_id":"t-1","task_type":"ingest","payload":{"filename":"a.pdf","document_set":"s","metadata":{"n":"` +
		strings.Repeat("x", memory.MaxText) + `"}}}`
	invoke(t, o, testEnv(), text, "enqueue", "-").want(t, exitOK)
	peeked, err := o.Queues.Normal.Peek(t.Context(), 32)
	if err != nil || len(peeked) != 1 {
		t.Fatalf("%d messages, %v", len(peeked), err)
	}
	claim, err := task.Decode(peeked[0].Text, task.Options{ClientID: "southhaven"})
	if err != nil {
		t.Fatal(err)
	}
	sent, err := task.Decode(bucket.blobs[claim.ClaimCheck], task.Options{ClientID: "southhaven", FromClaimCheck: true})
	if err != nil || sent.Task.ID != "t-1" || len(sent.Task.Payload) < memory.MaxText || !r.sent["t-1"] {
		t.Errorf("claim check %+v of %d bytes, %v", claim, len(sent.Task.Payload), err)
	}
	o.Bucket = full{}
	folder := testEnv("BLOB_BACKEND=dir", "BLOB_DIR=/srv/documents")
	invoke(t, o, folder, strings.Replace(text, "t-1", "t-2", 1), "enqueue", "-").want(t, exitUnavailable,
		"a running worker's sweep sends it", "the disk is full", "check BLOB_DIR")
	o.Bucket = nil
	invoke(t, o, testEnv(), strings.Replace(text, "t-1", "t-3", 1), "enqueue", "-").want(t, exitFailed,
		"a running worker's sweep sends it", "goes through the container")
}

// A container that can't be opened, as with an expired signature, is none for a task that needs none.
func TestEnqueueWithoutAContainer(t *testing.T) {
	t.Parallel()
	const storage = "AZURE_STORAGE_CONNECTION_STRING=BlobEndpoint=https://a.blob.core.windows.net;QueueEndpoint=https://a.queue.core.windows.net;" +
		"SharedAccessSignature=sv=2022-11-02&sig=c2ln&se="
	for expires, want := range map[string]bool{"2020-01-01": false, "2099-01-01": true} {
		p := &program{env: testEnv(storage + expires)}
		cmd := p.newEnqueueCommand()
		if groups, err := p.withBlobs(cmd, shortcutNeeds, false); err != nil || groups&config.Blob != 0 != want {
			t.Errorf("%s: %b, %v", expires, groups, err)
		}
	}
}

// full is a container that takes nothing.
type full struct{ blob.Bucket }

func (full) Put(context.Context, string, io.Reader, string) (blob.Properties, error) {
	return blob.Properties{}, &taskerr.Error{
		Class: taskerr.TransientStorage, Dependency: taskerr.Storage, Message: "the disk is full",
	}
}
