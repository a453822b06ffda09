package task_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/task"
)

// TestHideWebhook: of the address in a message its host alone is left, however the message is written; all else stays.
func TestHideWebhook(t *testing.T) {
	t.Parallel()
	const hidden = `{"a":1,"webhook_url":"https://h.example:8/…","b":"x"}`
	for text, want := range map[string]string{
		`{"a":1,"webhook_url":"https://h.example:8/T0/token?k=v#f","b":"x"}`:                                   hidden,
		`{"a":1,"webhook_url":"https:\/\/h.example:8\/token","b":"x"}`:                                         hidden,
		base64.StdEncoding.EncodeToString([]byte(`{"a":1,"webhook_url":"https://h.example:8/token","b":"x"}`)): hidden,
		`{ "webhook_url" : "https://u:token@h.example?token" }`:                                                `{ "webhook_url" : "https://h.example/…" }`,
		`{"webhook_url":"https://h.example"}`:                                                                  `{"webhook_url":"https://h.example"}`,
		`{"webhook_url":"token%zz\"token"}`:                                                                    `{"webhook_url":"…"}`,
		`{"webhook_url":"https://h/token`:                                                                      `{"webhook_url":"…"`,
		`{"webhook_url":null,"b":"aGk="}`:                                                                      `{"webhook_url":null,"b":"aGk="}`,
		`{"webhook_url":["https://h/token",{"a":"]"}],"b":1}`:                                                  `{"webhook_url":"…","b":1}`,
		`{"webhook_url": {"url":"https://h/to\"ken}"},"b":1}`:                                                  `{"webhook_url": "…","b":1}`,
		`{"webhook_url":[["https://h/token`:                                                                    `{"webhook_url":"…"`,
		`{"webhook_url": https://h.example/token, "b":1}`:                                                      `{"webhook_url": https://h.example/… "b":1}`,
		`{"webhook_url"=>"https://h.example/token"}`:                                                           `{"webhook_url"=>"https://h.example/…"}`,
		`[webhook_url] => https://h.example/token`:                                                             `[webhook_url] => https://h.example/…`,
		`{u'webhook_url': u'https://h.example/token'}`:                                                         `{u'webhook_url': u'https://h.example/…'}`,
		`{'webhook_url': ['https://h.example/token'], 'b': 1}`:                                                 `{'webhook_url': …, 'b': 1}`,
		`{'webhook_url': {'url': 'https://h.example/token`:                                                     `{'webhook_url': …`,
		`{'task_id': 't', 'webhook_url': 'https://h.example/token', 'b': 1}`:                                   `{'task_id': 't', 'webhook_url': 'https://h.example/…', 'b': 1}`,
		"task_id=t&webhook_url=https://h.example/token&b=1":                                                    "task_id=t&webhook_url=https://h.example/…&b=1",
		"no JSON": "no JSON",
		"aGk=":    "aGk=",
		"":        "",
	} {
		if got := task.HideWebhook(text); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", text, got, want)
		}
	}
}

// TestHideWebhookWrapped: it is found wherever the decoder finds it: in base64 of any alphabet, in strings, and in the data
// of an event.
func TestHideWebhookWrapped(t *testing.T) {
	t.Parallel()
	const plain = `{"task_id":"t","task_type":"ocr","payload":{"filename":"a>>>?.pdf"},"webhook_url":"https://h.example/s3cret"}`
	quoted := func(text string) string {
		raw, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	coded := base64.StdEncoding.EncodeToString([]byte(plain))
	event := func(data string) string {
		return `{"specversion":"1.0","id":"1","source":"/","type":"t",` + data + `}`
	}
	for name, text := range map[string]string{
		"plain":                   plain,
		"without padding":         base64.RawStdEncoding.EncodeToString([]byte(plain)),
		"in the URL alphabet":     base64.URLEncoding.EncodeToString([]byte(plain)),
		"in lines":                coded[:60] + " \r\n" + coded[60:],
		"twice base64":            base64.StdEncoding.EncodeToString([]byte(coded)),
		"a string":                quoted(plain),
		"a string of base64":      quoted(coded),
		"base64 of a string":      base64.StdEncoding.EncodeToString([]byte(quoted(plain))),
		"an event":                event(`"data":` + plain),
		"an event of a string":    event(`"data":` + quoted(plain)),
		"an event of base64":      event(`"data_base64":"` + coded + `"`),
		"base64 of such an event": base64.StdEncoding.EncodeToString([]byte(event(`"data_base64":"` + coded + `"`))),
		"an escaped name":         strings.Replace(plain, "webhook_url", `webhook\u005furl`, 1),
	} {
		decoded, err := task.Decode(text, task.Options{ClientID: "c"})
		if err != nil || !strings.HasSuffix(decoded.Task.WebhookURL, "s3cret") {
			t.Errorf("%s: the decoder finds %q, %v", name, decoded.Task.WebhookURL, err)
		}
		got := task.HideWebhook(text)
		if again, err := task.Decode(got, task.Options{ClientID: "c"}); err != nil || again.Task.WebhookURL != "https://h.example/…" {
			t.Errorf("%s: %s, %v", name, got, err)
		}
		for end := range len(text) { // a message that breaks off
			got := task.HideWebhook(text[:end])
			plain, _ := base64.RawStdEncoding.DecodeString(got) // what is not base64 has no text
			if strings.Contains(got+string(plain), "s3c") {
				t.Errorf("%s, up to byte %d: %s", name, end, got)
				break
			}
		}
	}
}
