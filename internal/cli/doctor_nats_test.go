package cli

import (
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/queue/nats/natstest"
)

// TestDoctorOnNATS: with all rights nothing is wrong, and a right that is missing is named, with its subject; one that existing
// queues do not need is a warning.
func TestDoctorOnNATS(t *testing.T) {
	t.Parallel()
	w := newWard(t)
	const consumer = "simple-process-jobs.ocr-workers"
	rights := []struct{ denied, check, names string }{
		{"nothing", "", ""},
		{"$JS.API.STREAM.CREATE.>", "queue create", "$js.api.stream.create.simple-process-jobs"},
		{"$JS.API.CONSUMER.MSG.NEXT.>", "queue receive", "$js.api.consumer.msg.next." + consumer},
		{"$JS.ACK.>", "queue delete", "$js.ack." + consumer},
		{"$JS.API.STREAM.INFO.>", "queue metadata", "$js.api.stream.info.simple-process-jobs"},
		{"simple-process.jobs.>", "queue put", `publish to "simple-process.jobs`},
	}
	users := map[string]string{}
	for _, r := range rights {
		users["user"+strings.TrimPrefix(r.check, "queue ")] = r.denied
	}
	s := natstest.StartDenying(t, users)
	others := []string{"--skip", "clock,container,store,models,docling,webhooks"}
	env := func(user string) []string { return w.env("QUEUE_BACKEND=nats", "NATS_URL="+s.URLOf(user)) }
	if sick, code := w.sick(t, env("user"), others...); len(sick) > 0 || code != exitOK {
		t.Errorf("with all rights: exit %d, %+v", code, sick)
	}
	sick, code := w.sick(t, env("stranger"), others...)
	if r := sick["queue metadata"]; code != exitPermission || len(sick) != 1 || !strings.Contains(r.Seen, "NATS_URL") ||
		!strings.Contains(r.Remedy, "a login that the server knows") {
		t.Errorf("a login that the server does not know: exit %d, %+v", code, sick)
	}
	for _, r := range rights[1:] {
		t.Run(r.check, func(t *testing.T) {
			t.Parallel()
			sick, code := w.sick(t, env("user"+strings.TrimPrefix(r.check, "queue ")), others...)
			got, want := sick[r.check], exitPermission
			if r.check == "queue create" { // they exist
				want = exitOK
			}
			if code != want || !strings.Contains(strings.ToLower(got.Seen), r.names) ||
				!strings.Contains(got.Seen+got.Remedy, "permissions") {
				t.Errorf("exit %d, %+v", code, sick)
			}
		})
	}
}
