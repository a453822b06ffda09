package cli

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

func someDeliveries() []store.DeliveryEntry {
	soon, answer, trouble := noon.Add(time.Hour), http.StatusGone, "gone \x1b[1m"
	ended := []store.DeliveryEnd{{Status: store.DeliveryFailed, Attempts: 9, LastError: &trouble}}
	return []store.DeliveryEntry{
		{
			ID: "msg_s", JobID: "j4", Event: "task.completed", Host: "a.example", Status: store.DeliveryPending,
			InFlight: true, NextAttemptAt: &soon,
		},
		{
			ID: "msg_w", JobID: "j3", Event: "task.completed", Host: "down.example", Status: store.DeliveryPending,
			Waiting: true, NextAttemptAt: &soon,
		},
		{
			ID: "msg_p", JobID: "j2", Event: "task.completed", Host: "a.example", Status: store.DeliveryPending,
			Attempts: 2, NextAttemptAt: &soon,
		},
		{
			ID: "msg_f", JobID: "j1", Event: "task.failed", Host: "b.example", Status: store.DeliveryFailed, Attempts: 10,
			ResponseStatus: &answer, LastError: &trouble, Earlier: ended,
		},
	}
}

func TestWebhooksList(t *testing.T) {
	t.Parallel()
	s := &rows{outbox: someDeliveries()}
	list := func(args ...string) result {
		return invoke(t, app.Tenant{Store: s}, testEnv(), "", append([]string{"webhooks", "list"}, args...)...)
	}
	r := list()
	r.want(t, exitOK, "ID EVENT STATE TRIES CREATED JOB", "msg_s completed pending 0 j4 a.example; being sent",
		"msg_w completed pending 0 j3 down.example; sent when the receiver is up",
		"msg_p completed pending 2 j2 a.example; next "+formatTime(noon.Add(time.Hour)),
		"msg_f failed failed 10 j1 b.example; gone [1m; before it was sent again: failed, gone [1m")
	if strings.Contains(r.out, "\x1b") {
		t.Errorf("lists %q", r.out)
	}
	list("--state", "failed", "--job", "j1", "-n", "7").want(t, exitOK, "msg_f")
	if want := (store.DeliveryFilter{Status: "failed", JobID: "j1", Limit: 7}); s.listed != want {
		t.Errorf("asks for %+v", s.listed)
	}
	list("--state", "lost").want(t, exitUsage, "pending, delivered, failed, refused")
	list("-n", "1001").want(t, exitUsage, "1 to 1000")
	var found []store.DeliveryEntry
	if err := json.Unmarshal([]byte(list("-o", "json").out), &found); err != nil || len(found) != 4 {
		t.Errorf("%v: %+v", err, found)
	}
}

// On a real database: failed deliveries are sent again, those in flight or delivered are not; an old schema is reported.
func TestWebhooksResend(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for _, id := range []string{"a", "b", "c"} {
		d.fail(id, report)
	}
	claimed, err := d.Store.ClaimDeliveries(d.Context(), store.Claim{Worker: "w", Max: 10, Lease: time.Hour})
	if err != nil || len(claimed.Deliveries) != 3 {
		t.Fatalf("%+v, %v", claimed, err)
	}
	of := map[string]store.Delivery{}
	for _, c := range claimed.Deliveries {
		of[c.JobID] = c
	}
	settle := func(job, status string, answer int) {
		t.Helper()
		o := store.DeliveryOutcome{ID: of[job].ID, Fence: of[job].Fence, Status: status, ResponseStatus: answer}
		if _, err := d.Store.SettleDelivery(d.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	settle("a", store.DeliveryFailed, http.StatusGone)
	settle("b", store.DeliveryDelivered, http.StatusOK)

	r := d.command("webhooks", "list")
	r.want(t, exitOK, of["a"].ID+" failed failed 1", "hook.example; answered 410", "hook.example; being sent")
	if strings.Contains(r.out, "https://") || strings.Contains(r.out, "hook.example/") {
		t.Errorf("it shows an address: %s", r.out)
	}
	d.command("webhooks", "resend", of["c"].ID).want(t, exitFailed, "is being sent", "webhooks list")
	d.command("webhooks", "resend", of["b"].ID).want(t, exitFailed, "was delivered at", "--delivered")
	d.command("webhooks", "resend", "msg_x").want(t, exitFailed, "there is no delivery msg_x",
		"async-worker webhooks list shows the deliveries")
	d.command("webhooks", "resend", "msg_x", of["a"].ID).want(t, exitFailed,
		of["a"].ID+": the tenant's worker sends it again to hook.example")
	d.command("webhooks", "resend", "--delivered", of["b"].ID, "-o", "json").want(t, exitOK, `"status": "pending"`)
	again, err := d.Store.ClaimDeliveries(d.Context(), store.Claim{Worker: "w", Max: 10, Lease: time.Hour})
	if err != nil || len(again.Deliveries) != 2 || slices.ContainsFunc(again.Deliveries,
		func(c store.Delivery) bool { return c.ID != of[c.JobID].ID || c.Attempts != 0 }) {
		t.Errorf("%+v, %v", again, err)
	}

	d.command("webhooks", "list", "--job", "a").want(t, exitOK, "before it was sent again: failed, answered 410")
	d.command("webhooks", "list", "--job", "b", "-o", "json").want(t, exitOK, `"earlier": [`, `"status": "delivered"`)
	d.command("jobs", "get", "b", "-o", "json").want(t, exitOK, `"earlier": [`, `"status": "delivered"`)

	conn, err := pgx.Connect(d.Context(), d.url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(d.Context(), "drop function aw_list_deliveries(jsonb); drop function "+
		"aw_resend_delivery(jsonb)"); err != nil {
		t.Fatal(err)
	}
	d.command("webhooks", "list").want(t, exitConfig, "async-worker migrate")
	d.command("webhooks", "resend", of["a"].ID).want(t, exitConfig, "async-worker migrate")
}
