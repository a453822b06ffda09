package webhook_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/seed-7227ef26/async-worker/webhook"
)

const (
	oldSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	newSecret = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDazX0bLMqh3E="
)

func newSigner(t *testing.T, secrets string) *webhook.Signer {
	t.Helper()
	s, err := webhook.NewSigner(secrets)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// verify uses the reference library.
func verify(t *testing.T, secret string, body []byte, h http.Header) error {
	t.Helper()
	reference, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	return reference.Verify(body, h)
}

func TestSignerAgainstReference(t *testing.T) {
	t.Parallel()
	body := `{"type":"task.completed","result":{"ä":"€"}}`
	for _, secrets := range []string{
		newSecret + " " + oldSecret, oldSecret + "," + newSecret,
		oldSecret + ",\n " + newSecret,
	} {
		h := http.Header{}
		newSigner(t, secrets).Sign(h, "msg_1", time.Now(), body)
		for _, secret := range []string{oldSecret, newSecret} {
			if err := verify(t, secret, []byte(body), h); err != nil {
				t.Errorf("%s", err)
			}
			if verify(t, secret, []byte(body+" "), h) == nil {
				t.Error("another body was verified")
			}
		}
		h.Set(webhook.HeaderID, "msg_2")
		if verify(t, newSecret, []byte(body), h) == nil {
			t.Error("another id was verified")
		}
	}
}

// The example of the Standard Webhooks specification.
func TestSignerKnownAnswer(t *testing.T) {
	t.Parallel()
	h := http.Header{}
	newSigner(t, oldSecret).Sign(h, "msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), `{"test": 2432232314}`)
	if got, want := h.Get(webhook.HeaderSignature), "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestSignerWithoutSecret(t *testing.T) {
	t.Parallel()
	h := http.Header{}
	newSigner(t, " ").Sign(h, "msg_1", time.Unix(1, 0), "{}")
	if h.Get(webhook.HeaderSignature) != "" || h.Get(webhook.HeaderID) != "msg_1" ||
		h.Get(webhook.HeaderTimestamp) != "1" {
		t.Errorf("got %v", h)
	}
}

func TestNewSignerRefuses(t *testing.T) {
	t.Parallel()
	key := func(n int) string {
		return "whsec_" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", n)))
	}
	for secrets, want := range map[string]string{
		"topsecret":              "WEBHOOK_SECRET: secret 1 of 1 does not begin with whsec_",
		oldSecret + " topsecret": "WEBHOOK_SECRET: secret 2 of 2 does not begin",
		"whsec_topsecret!":       "is not base64",
		key(23):                  "holds 23 bytes, not 24 to 64",
		key(65):                  "holds 65 bytes",
	} {
		_, err := webhook.NewSigner(secrets)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
			continue
		}
		if strings.Contains(err.Error(), "topsecret") || strings.Contains(err.Error(), "a2tr") {
			t.Errorf("the error contains a secret: %v", err)
		}
	}
	for _, n := range []int{24, 64} {
		if _, err := webhook.NewSigner(key(n)); err != nil {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

func ExampleSigner_Sign() {
	signer, err := webhook.NewSigner("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil {
		fmt.Println(err)
		return
	}
	header := http.Header{}
	signer.Sign(header, "msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), `{"test": 2432232314}`)
	fmt.Println(header.Get("webhook-signature"))
	// Output: v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=
}
