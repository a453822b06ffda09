package api_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"github.com/seed-7227ef26/async-worker/internal/api"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// A job that removes a document needs the right to remove one, however its payload says so.
func TestSubmitCannotRemove(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, remove := range []string{`"delete":true`, `"delete":true,"Delete":false`, `"delete":true,"purge":true`} {
		body := `{"type":"ingest","payload":{"filename":"a.pdf","document_set":"s",` + remove + `}}`
		b.want(b.ask("POST", "/v1/jobs", body, "Authorization", "Bearer "+b.tokens["submit"]), http.StatusForbidden,
			"FORBIDDEN")
	}
	for missing, want := range map[string]int{"true": http.StatusForbidden, "false": http.StatusCreated} {
		r := b.ask("POST", "/v1/jobs", `{"type":"ingest","payload":{"prefix":"in/","document_set":"s","delete_missing":`+missing+`}}`,
			"Authorization", "Bearer "+b.tokens["submit"])
		b.want(r, want, map[string]string{"true": "FORBIDDEN"}[missing])
	}
	b.want(b.ask("POST", "/v1/jobs", strings.Replace(newFile(), `"payload":{`, `"payload":{"delete":false,`, 1),
		"Authorization", "Bearer "+b.tokens["submit"]), http.StatusCreated, "")
	b.submitted(strings.Replace(newFile(), `"payload":{`, `"payload":{"delete":true,`, 1))
}

// A submitter can't keep a schedule from firing by a job with the id of a firing.
func TestSubmitCannotFire(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	body := func(id string) string {
		return strings.Replace(newFile(), `"payload":{`, `"id":"`+id+`","payload":{`, 1)
	}
	b.want(b.ask("POST", "/v1/jobs", body("sched.nightly.1790000000"), "Authorization", "Bearer "+b.tokens["submit"]),
		http.StatusForbidden, "FORBIDDEN")
	b.want(b.ask("POST", "/v1/jobs", body("scheduled"), "Authorization", "Bearer "+b.tokens["submit"]),
		http.StatusCreated, "")
	b.submitted(body("sched.nightly.1790000000"))
}

// A stream ends when its token is taken away, before it shows anything more; so does the right of a ticket.
func TestRevokedStream(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id := b.submitted(newFile())
	h := b.begun(id)
	c := b.connect("/v1/jobs/" + id + "/events")
	c.want("started")
	ticket := b.ask("POST", "/v1/tickets", "").field("ticket")
	b.api.SetTokens(nil)
	b.report(h, store.Event{Stage: "parsing", Progress: 10})
	c.wantEnd()
	b.want(b.ask("GET", "/v1/jobs/"+id+"/events?ticket="+ticket, "", "Authorization", ""), http.StatusUnauthorized,
		"UNAUTHORIZED")
}

// A user whose id is the name of a token has idempotency keys of his own.
func TestCallersOfOneName(t *testing.T) {
	t.Parallel()
	b := newBench(t, bySecret)
	user := sign(t, jwt.SigningMethodHS256, "", []byte(jwtSecret), user(with("sub", "operateer")))
	b.want(b.ask("POST", "/v1/jobs", newFile(), "Idempotency-Key", "k"), http.StatusCreated, "")
	b.want(b.ask("POST", "/v1/jobs", newFile(), "Idempotency-Key", "k", "Authorization", "Bearer "+user),
		http.StatusCreated, "")
}

// Cursors that nobody gave out, and texts that the database can't hold, are refused or find nothing.
func TestForgedTexts(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id := b.submitted(newFile())
	var texts []string
	for _, raw := range []string{
		`{}`, `[]`, `1`, `-1`, `9223372036854775807`, `9223372036854775808`, `"x"`, `{"ID":"\u0000"}`,
		`{"At":"0000-01-01T00:00:00Z","ID":"x"}`, `{"At":"9999-12-31T23:59:59Z","ID":"x"}`,
		`{"CreatedAt":"0000-01-01T00:00:00Z","ID":"\u0000"}`, `{"created_at":"0000-01-01T00:00:00Z","id":"\u0000"}`,
		`{"at":"0000-01-01T00:00:00Z","id":"\ud800"}`, `{"filename":"\u0000","document_set":"\u0000"}`,
		`{"Filename":"\u0000","DocumentSet":"\u0000"}`,
	} {
		texts = append(texts, base64.RawURLEncoding.EncodeToString([]byte(raw)))
	}
	texts = append(texts, "\x00", "a\x00b", "\xff", "%", "\\", strings.Repeat("x", 5000))
	for _, text := range texts {
		q := url.QueryEscape(text)
		for _, path := range []string{
			"/v1/jobs?cursor=" + q, "/v1/jobs/" + id + "/events?cursor=" + q, "/v1/events?cursor=" + q,
			"/v1/dead-letters?cursor=" + q, "/v1/documents?cursor=" + q, "/v1/webhook-deliveries?cursor=" + q,
			"/v1/jobs?q=" + q, "/v1/jobs?requestedBy=" + q + "&documentSet=" + q, "/v1/documents?q=" + q,
			"/v1/jobs/" + url.PathEscape(text), "/v1/dead-letters/" + url.PathEscape(text),
			"/v1/dead-letters?jobId=" + q, "/v1/webhook-deliveries?jobId=" + q, "/v1/documents?documentSet=" + q,
		} {
			if r := b.ask("GET", path, ""); r.status >= 500 {
				t.Errorf("GET %q: %d %s", path, r.status, r.text)
			}
		}
		for _, path := range []string{
			"/v1/jobs/" + url.PathEscape(text) + "/cancel", "/v1/jobs/" + url.PathEscape(text) + "/retry",
			"/v1/dead-letters/" + url.PathEscape(text) + "/replay", "/v1/webhook-deliveries/" + url.PathEscape(text) + "/resend",
		} {
			if r := b.ask("POST", path, ""); r.status >= 500 {
				t.Errorf("POST %q: %d %s", path, r.status, r.text)
			}
		}
		body, _ := json.Marshal(api.Question{Query: text[:min(len(text), 2000)], DocumentSet: text[:min(len(text), 256)]})
		if r := b.ask("POST", "/v1/search", string(body)); r.status >= 500 {
			t.Errorf("search %s: %d %s", body, r.status, r.text)
		}
	}
	for name, narrow := range map[string]string{
		"no character": `"metadata":{"a":"x\u0000y"}`, "no character in a key": `"metadata":{"of":{"a\u0000":1}}`,
		"half a pair": `"metadata":{"a":"\ud800"}`, "much nested": `"metadata":` + strings.Repeat(`{"a":`, 9000) + "1" + strings.Repeat("}", 9000),
		"a large number": `"metadata":{"a":1e308,"b":-1e-308}`, "no double": `"metadata":{"a":1e-99999}`,
		"a long value":      `"metadata":{"a":"` + strings.Repeat("x", 300_000) + `"}`,
		"before the year 0": `"from":"0000-01-01T00:00:00+14:00"`, "after 9999": `"to":"9999-12-31T23:59:59-12:00"`,
		"no language": `"language":"\u0000"`, "all backwards": `"from":"2025-01-01T00:00:00Z","to":"2024-01-01T00:00:00Z"`,
	} {
		r := b.ask("POST", "/v1/search", `{"query":"tide",`+narrow+`}`)
		if r.status >= 500 {
			t.Errorf("search, %s: %d %.200s", name, r.status, r.text)
		}
	}
	for _, since := range []string{"0000-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"} {
		if r := b.ask("GET", "/v1/jobs?since="+since, ""); r.status >= 500 {
			t.Errorf("since %s: %d %s", since, r.status, r.text)
		}
		if r := b.ask("POST", "/v1/dead-letters/replay", `{"olderThan":"`+since+`"}`); r.status >= 500 {
			t.Errorf("older than %s: %d %s", since, r.status, r.text)
		}
	}
}

// Whatever a handler reports, it is the data of one event: no line of it begins another field or event.
func TestNoInjection(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id := b.submitted(newFile())
	h := b.begun(id)
	const evil = "x\n\nid: 99\r\nevent: job\rdata: {}\u2028\n\n"
	b.report(h, store.Event{
		Stage: "parsing", Progress: 1, Message: evil,
		Metadata: json.RawMessage("{\n\n\"note\"\n:\n\"a\\n\\nid: 98\"\n\n}"),
	})
	b.complete(h)
	c := b.connect("/v1/jobs/" + id + "/events")
	got := c.want("started", "parsing", "completed")
	c.wantEnd()
	for i, m := range got {
		if m.event != "job" || m.id != []string{"1", "2", "3"}[i] {
			t.Errorf("event %d is %+v", i, m)
		}
	}
	if e := got[1].job(t); e.Message != evil || e.Metadata == nil || !strings.Contains(string(*e.Metadata), `id: 98`) {
		t.Errorf("the event reads %+v", e)
	}
}
