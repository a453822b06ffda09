package firsttry

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/webhook/receiver"
)

var deliveryID = regexp.MustCompile(`msg_[0-9A-Za-z_-]+`)

// until repeats a command that only shows something, until that has a text.
func (d *terminal) until(line, text string) *answer {
	d.Helper()
	ctx, cancel := context.WithTimeout(d.ctx, patience)
	defer cancel()
	for {
		a := d.run(line)
		if strings.Contains(strings.Join(strings.Fields(a.text), " "), text) {
			return a
		}
		if ctx.Err() != nil {
			d.Fatalf("$ %s\n%shas not printed %q", line, a.text, text)
		}
	}
}

// TestWebhooks: a webhook that was refused is listed with the reason and sent again; one that was delivered only on demand.
func TestWebhooks(t *testing.T) {
	t.Parallel()
	d := sitDown(t)
	d.env["WEBHOOK_SECRET"] = receiver.Secret
	addr := free(t)
	d.file("tides.md", "# Tides\n")
	d.run("async-worker webhooks list").expect(0, "!msg_")
	d.run("async-worker webhooks resend msg_x").expect(1, "there is no delivery msg_x", "async-worker webhooks list")
	gone := d.begin("async-worker webhooks listen --addr " + addr + " --answer 410")
	gone.await("webhook_url: ")
	stop := d.daemon()
	d.run("async-worker enqueue --id tides --upload tides.md --type ingest --document-set sea --webhook-url http://"+addr+
		"/hook?key=TopSecret --watch").expect(0, "succeeded")
	gone.await("answered: 410")
	list := d.until("async-worker webhooks list --state failed", "msg_").expect(0, "completed failed 1", "tides", addr,
		"answered 410", "!TopSecret")
	id := deliveryID.FindString(list.text)
	stop()
	gone.interrupt().expect(0, id, "task.completed tides signature: good answered: 410")
	d.run("async-worker webhooks resend "+id).expect(0, id+": the tenant's worker sends it again to "+addr)
	d.run("async-worker webhooks list --state pending").expect(0, id, "before it was sent again: failed")
	d.run("async-worker webhooks resend "+id).expect(1, id, "it will be sent by itself")
	hooks := d.begin("async-worker webhooks listen --addr " + addr)
	hooks.await("webhook_url: ")
	stop = d.daemon()
	hooks.await(id)
	d.until("async-worker webhooks list --state delivered", id)
	stop()
	hooks.interrupt().expect(0, id, "answered: 204")
	d.run("async-worker webhooks resend "+id).expect(1, id, "was delivered at", "--delivered")
	d.run("async-worker webhooks resend --delivered "+id).expect(0, id+": the tenant's worker sends it again")
	d.run("async-worker webhooks list --job tides").expect(0, id, "pending", "before it was sent again: delivered")
	d.run("async-worker jobs get tides").expect(0, id, "before it was sent again: delivered")
}
