package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/webhook"
)

const secondSecret = "whsec_U2Vjb25kU2VjcmV0U2Vjb25kU2VjcmV0U2Vjb25k"

// What the sender signs with any of its secrets is good; all else is not, and is refused.
func TestListenerVerifies(t *testing.T) {
	t.Parallel()
	const body = `{"type":"task.completed","task_id":"t1"}`
	for name, c := range map[string]struct {
		secrets, signs string
		body           string
		at             time.Time
		want           string
		code           int
	}{
		"signed":            {testSigning, testSigning, body, time.Now(), "good", 204},
		"with a second one": {testSigning + " " + secondSecret, secondSecret, body, time.Now(), "good", 204},
		"by somebody else":  {testSigning, secondSecret, body, time.Now(), "bad", 401},
		"changed":           {testSigning, testSigning, strings.Replace(body, "t1", "t2", 1), time.Now(), "bad", 401},
		"old":               {testSigning, testSigning, body, time.Now().Add(-time.Hour), "bad", 401},
		"not signed":        {testSigning, "", body, time.Now(), "none", 401},
		"nobody signs":      {"", "", body, time.Now(), "none", 204},
		"nothing to verify": {"", testSigning, body, time.Now(), "unchecked", 204},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			l, err := newListener(c.secrets, http.StatusNoContent, &out, asJSON)
			if err != nil {
				t.Fatal(err)
			}
			signer, err := webhook.NewSigner(c.signs)
			if err != nil {
				t.Fatal(err)
			}
			r := httptest.NewRequest(http.MethodPost, "/hook", strings.NewReader(c.body))
			signer.Sign(r.Header, "msg_1", c.at, body)
			w := httptest.NewRecorder()
			l.ServeHTTP(w, r)
			var got receivedWebhook
			if err := json.Unmarshal(out.Bytes(), &got); err != nil {
				t.Fatalf("%v: %s", err, out.String())
			}
			if got.Signature != c.want || got.ID != "msg_1" || w.Code != c.code || got.Answer != c.code ||
				string(got.Body) != c.body {
				t.Errorf("%d %+v", w.Code, got)
			}
		})
	}
}

// The command listens where it says, prints what comes for people, and ends with Ctrl-C.
func TestWebhooksListen(t *testing.T) {
	t.Parallel()
	ctx, end := context.WithCancel(t.Context())
	defer end()
	told := make(chan string, 10)
	out := writerFunc(func(b []byte) { told <- string(b) })
	p := &program{
		env: []string{"WEBHOOK_SECRET=" + testSigning}, stdin: strings.NewReader(""), stdout: out, stderr: out,
		open: app.Open,
	}
	code := make(chan int, 1)
	go func() { code <- p.run(ctx, []string{"webhooks", "listen", "--answer", "503"}) }()
	address := strings.TrimSpace(strings.TrimPrefix(<-told, "webhook_url: "))
	if hint := <-told; !strings.Contains(hint, "WEBHOOK_ALLOW_CIDRS=127.0.0.0/8") {
		t.Errorf("says %q", hint)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address,
		strings.NewReader(`{"type":"task.failed","task_id":"t\u001b[1m"}`))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if first := <-told; answer.StatusCode != http.StatusUnauthorized || !strings.Contains(first, "task.failed") ||
		!strings.Contains(first, "signature: none") || strings.Contains(first, "\x1b") {
		t.Errorf("%d %q", answer.StatusCode, first)
	}
	end()
	if got := <-code; got != exitOK {
		t.Errorf("exit code %d", got)
	}
	http.DefaultClient.CloseIdleConnections()
	invoke(t, app.Tenant{}, nil, "", "webhooks", "listen", "--answer", "100").want(t, exitUsage, "200 to 599")
	invoke(t, app.Tenant{}, nil, "", "webhooks", "listen", "--addr", "256.0.0.1:x").want(t, exitUsage,
		"choose another --addr")
}

type writerFunc func(b []byte)

func (f writerFunc) Write(b []byte) (int, error) {
	f(bytes.Clone(b))
	return len(b), nil
}

// What a listener prints of a webhook fits a page, whatever the ids are.
func TestListenerFits(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	l, err := newListener("", http.StatusNoContent, &out, asTable)
	if err != nil {
		t.Fatal(err)
	}
	id := strings.Repeat("t", 60)
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(`{"type":"task.completed","task_id":"`+id+`"}`))
	r.Header.Set("webhook-id", "msg_3d9c8c4b80934dde843759fadced38ca")
	l.ServeHTTP(httptest.NewRecorder(), r)
	if !strings.Contains(out.String(), id) || !strings.Contains(out.String(), "answered: 204") {
		t.Errorf("prints %s", out.String())
	}
	for line := range strings.Lines(out.String()) {
		if len(line) > maxHelpWidth+1 {
			t.Errorf("%d columns: %s", len(line)-1, line)
		}
	}
}
