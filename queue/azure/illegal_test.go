package azure_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/queue"
)

// rawSend puts a message as another client would, with a body that Send would never make.
func rawSend(t *testing.T, q queue.Queue, f *fault, messageText string) {
	t.Helper()
	f.do(func(req *http.Request, next http.RoundTripper) (*http.Response, error) {
		resp, err := next.RoundTrip(req)
		if err != nil || req.Method != http.MethodGet {
			return resp, err
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		resp.Body = io.NopCloser(strings.NewReader(strings.ReplaceAll(string(body), "ILLEGAL", messageText)))
		resp.ContentLength = -1
		return resp, err
	})
	_, err := q.Send(t.Context(), "ILLEGAL", queue.SendOptions{})
	must(t, err)
}

func TestAnIllegalMessageBlocksNoOther(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ raw, want string }{
		"control character":     {"a\x01b", "a\ufffdb"},
		"reference to one":      {"a&#x1;b&#0;c", "a\ufffdb\ufffdc"},
		"surrogate":             {"a&#xD800;b", "a\ufffdb"},
		"number beyond Unicode": {"a&#x110000;b&#99999999999;c", "a\ufffdb\ufffdc"},
		"bad UTF-8":             {"a\xffb", "a\ufffdb"},
		"noncharacter":          {"a\uffffb", "a\ufffdb"},
		"legal":                 {"a&#x41;&amp;&#10;", "aA&\n"},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			q, f, _ := faulty(t)
			_, err := q.Send(t.Context(), "before", queue.SendOptions{})
			must(t, err)
			rawSend(t, q, f, c.raw)
			_, err = q.Send(t.Context(), "after", queue.SendOptions{})
			must(t, err)
			peeked, err := q.Peek(t.Context(), 3)
			must(t, err)
			got, err := q.Receive(t.Context(), queue.MaxBatch, time.Minute)
			must(t, err)
			if len(got) != 3 || len(peeked) != 3 {
				t.Fatalf("received %d, peeked %d; want 3", len(got), len(peeked))
			}
			for i, want := range []string{"before", c.want, "after"} {
				if got[i].Text != want || peeked[i].Text != want {
					t.Errorf("message %d is %q, peeked %q; want %q", i, got[i].Text, peeked[i].Text, want)
				}
				must(t, got[i].Lease.Delete(t.Context()))
			}
		})
	}
}

func TestAnUnreadableBatchIsFollowedBySingleMessages(t *testing.T) {
	t.Parallel()
	q, f, _ := faulty(t)
	for range 3 {
		_, err := q.Send(t.Context(), "x", queue.SendOptions{})
		must(t, err)
	}
	f.do(func(req *http.Request, next http.RoundTripper) (*http.Response, error) {
		if req.URL.Query().Get("numofmessages") != "1" {
			resp := answer(req, http.StatusOK, "", time.Now())
			resp.Body = io.NopCloser(strings.NewReader("<QueueMessagesList><QueueMessage>"))
			return resp, nil
		}
		return next.RoundTrip(req)
	})
	if _, err := q.Receive(t.Context(), 3, time.Minute); err == nil {
		t.Fatal("a cut answer was accepted")
	}
	for range 3 {
		got, err := q.Receive(t.Context(), 3, time.Minute)
		if err != nil || len(got) != 1 {
			t.Fatalf("received %d, %v; want 1", len(got), err)
		}
	}
}
