package receiver_test

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/seed-7227ef26/async-worker/internal/stack/leaktest"
	"github.com/seed-7227ef26/async-worker/webhook/receiver"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// post sends a body as the webhook with this id and returns the status.
func post(t *testing.T, url, secret, id, body string) int {
	t.Helper()
	signer, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	signature, err := signer.Sign(id, now, []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set(standardwebhooks.HeaderWebhookID, id)
	req.Header.Set(standardwebhooks.HeaderWebhookSignature, signature)
	req.Header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(now.Unix(), 10))
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.StatusCode
}

func TestReceiver(t *testing.T) {
	t.Parallel()
	var rejected []string // requests come one after the other
	firsts := 0
	r, err := receiver.Open(receiver.Options{Check: func(body []byte) error {
		if strings.Contains(string(body), "forbidden") {
			return errors.New("forbidden word")
		}
		return nil
	}, Reject: func(id string, problem error) {
		rejected = append(rejected, id+": "+problem.Error())
	}, Accept: func(_ receiver.Delivery, first bool) {
		if first {
			firsts++
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	const other = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
	for _, c := range []struct {
		secret, id, body string
		status           int
	}{
		{receiver.Secret, "msg_1", `{"type":"task.failed","task_id":"t","client_id":"a"}`, 204},
		{receiver.Secret, "msg_1", `{"type":"task.failed","task_id":"t","client_id":"a"}`, 204},
		{receiver.Secret, "msg_2", `{"type":"task.completed","task_id":"t","client_id":"b"}`, 204},
		{other, "msg_3", `{"type":"task.completed","task_id":"t"}`, 401},
		{receiver.Secret, "msg_4", `{`, 401},
		{receiver.Secret, "msg_5", `{"type":"forbidden","task_id":"t"}`, 401},
	} {
		if got := post(t, r.URL, c.secret, c.id, c.body); got != c.status {
			t.Errorf("%s %s: status %d, want %d", c.id, c.body, got, c.status)
		}
	}
	if len(rejected) != 3 || !strings.Contains(rejected[0], "signature") || !strings.Contains(rejected[1], "decode") ||
		!strings.Contains(rejected[2], "forbidden word") {
		t.Errorf("rejected: %q", rejected)
	}
	if firsts != 2 || r.Count() != 2 || !strings.HasPrefix(rejected[0], "msg_3: ") {
		t.Errorf("%d of %d webhook-ids are new, rejected: %q", firsts, r.Count(), rejected)
	}
	if d, err := r.Await(t.Context(), "t"); err != nil || d.ID != "msg_1" || d.Type != "task.failed" {
		t.Errorf("awaited %+v, %v", d, err)
	}
	if ids := r.IDs("t"); len(ids) != 2 || ids[0] != "msg_1" || ids[1] != "msg_2" {
		t.Errorf("ids: %q", ids)
	}
	if all, one := r.Deliveries("", "t"), r.Deliveries("b", "t"); len(all) != 3 || len(one) != 1 {
		t.Errorf("%d deliveries, %d of the tenant b; want 3 and 1", len(all), len(one))
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("the reason"))
	if _, err := r.Await(ctx, "unknown"); err == nil || !strings.Contains(err.Error(), "the reason") {
		t.Errorf("awaited an unknown task: %v", err)
	}
}
