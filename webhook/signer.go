package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/seed-7227ef26/async-worker/webhook/signing"
)

// The headers of Standard Webhooks 1.0.0.
const (
	HeaderID        = "webhook-id"        // the same for every attempt at a delivery
	HeaderTimestamp = "webhook-timestamp" // of this attempt, in Unix seconds
	HeaderSignature = "webhook-signature" // "v1,…" for each secret, separated by spaces
)

// Signer signs requests. One without secrets sets the id and the timestamp alone.
type Signer struct{ keys [][]byte }

// NewSigner returns a signer with the secrets of WEBHOOK_SECRET (see signing.Keys); each of them signs. An empty value
// makes a signer that does not sign. No error holds a secret.
func NewSigner(secrets string) (*Signer, error) {
	keys, err := signing.Keys(secrets)
	if err != nil {
		return nil, fmt.Errorf("WEBHOOK_SECRET: %w; make one with: echo whsec_$(openssl rand -base64 32)", err)
	}
	return &Signer{keys: keys}, nil
}

// maxID is the length of an id that the database takes, too.
const maxID = 128

// signable reports whether an id can be signed: with a dot in it, it could stand for another id and another time.
func signable(id string) bool {
	return id != "" && len(id) <= maxID && strings.Trim(id, idCharacters) == ""
}

const idCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"

// Sign sets the headers of one attempt at the delivery of a body. The id is signable.
func (s *Signer) Sign(h http.Header, id string, at time.Time, body string) {
	timestamp := strconv.FormatInt(at.Unix(), 10)
	h.Set(HeaderID, id)
	h.Set(HeaderTimestamp, timestamp)
	signatures := make([]string, 0, len(s.keys))
	for _, key := range s.keys {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(id + "." + timestamp + "." + body))
		signatures = append(signatures, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	if len(signatures) > 0 {
		h.Set(HeaderSignature, strings.Join(signatures, " "))
	}
}
