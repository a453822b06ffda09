package webhooktest_test

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/seed-7227ef26/async-worker/webhook/webhooktest"
)

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
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.StatusCode
}

func TestReceiver(t *testing.T) {
	t.Parallel()
	var rejected []string // requests come one after the other
	r := webhooktest.Open(func(body []byte) error {
		if strings.Contains(string(body), "forbidden") {
			return errors.New("forbidden word")
		}
		return nil
	}, func(problem error) { rejected = append(rejected, problem.Error()) })
	defer r.Close()
	const other = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
	for _, c := range []struct {
		secret, id, body string
		status           int
	}{
		{webhooktest.Secret, "msg_1", `{"type":"task.failed","task_id":"t","client_id":"a"}`, 204},
		{webhooktest.Secret, "msg_1", `{"type":"task.failed","task_id":"t","client_id":"a"}`, 204},
		{webhooktest.Secret, "msg_2", `{"type":"task.completed","task_id":"t","client_id":"b"}`, 204},
		{other, "msg_3", `{"type":"task.completed","task_id":"t"}`, 401},
		{webhooktest.Secret, "msg_4", `{`, 401},
		{webhooktest.Secret, "msg_5", `{"type":"forbidden","task_id":"t"}`, 401},
	} {
		if got := post(t, r.URL, c.secret, c.id, c.body); got != c.status {
			t.Errorf("%s %s: status %d, want %d", c.id, c.body, got, c.status)
		}
	}
	if len(rejected) != 3 || !strings.Contains(rejected[0], "signature") || !strings.Contains(rejected[1], "decode") ||
		!strings.Contains(rejected[2], "forbidden word") {
		t.Errorf("rejected: %q", rejected)
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
