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
)

// The headers of Standard Webhooks 1.0.0.
const (
	HeaderID        = "webhook-id"        // the same for every attempt at a delivery
	HeaderTimestamp = "webhook-timestamp" // of this attempt, in Unix seconds
	HeaderSignature = "webhook-signature" // "v1,…" for each secret, separated by spaces
)

const (
	secretPrefix = "whsec_"
	minKey       = 24 // bytes
	maxKey       = 64
)

// Signer signs requests. One without secrets sets the id and the timestamp alone.
type Signer struct{ keys [][]byte }

// NewSigner reads the value of WEBHOOK_SECRET: "whsec_" and base64 of 24 to 64 bytes, several of them
// separated by spaces or commas while a secret is being replaced (each then signs, and a receiver may
// know either). An empty value makes a signer that does not sign. No error repeats a secret.
func NewSigner(secrets string) (*Signer, error) {
	list := strings.FieldsFunc(secrets, func(r rune) bool { return strings.ContainsRune(", \t\r\n", r) })
	s := &Signer{}
	for i, secret := range list {
		key, err := readSecret(secret)
		if err != nil {
			return nil, fmt.Errorf("WEBHOOK_SECRET: secret %d of %d %w", i+1, len(list), err)
		}
		s.keys = append(s.keys, key)
	}
	return s, nil
}

func readSecret(secret string) ([]byte, error) {
	encoded, ok := strings.CutPrefix(secret, secretPrefix)
	if !ok {
		return nil, fmt.Errorf("does not begin with %s; make one with: echo %s$(openssl rand -base64 32)", secretPrefix,
			secretPrefix)
	}
	key, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, fmt.Errorf("is not base64 after %s; make one with: echo %s$(openssl rand -base64 32)", secretPrefix,
			secretPrefix)
	}
	if len(key) < minKey || len(key) > maxKey {
		return nil, fmt.Errorf("holds %d bytes; it must be %d to %d", len(key), minKey, maxKey)
	}
	return key, nil
}

// maxID is the length of an id that the database takes, too.
const maxID = 128

// signable says whether an id can be signed: with a dot in it, it could stand for another id and another time.
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
