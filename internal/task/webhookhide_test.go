package task_test

import (
	"encoding/base64"
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
		"no JSON":                                                                                              "no JSON",
		"aGk=":                                                                                                 "aGk=",
		"":                                                                                                     "",
	} {
		if got := task.HideWebhook(text); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", text, got, want)
		}
	}
}
