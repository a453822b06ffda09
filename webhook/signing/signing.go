// Package signing reads the secrets that sign webhooks, in the syntax of Standard Webhooks 1.0.0
// (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md#symmetric).
package signing

import (
	"encoding/base64"
	"fmt"
	"strings"
)

const (
	secretPrefix = "whsec_"
	minKey       = 24 // bytes
	maxKey       = 64
)

// SecretError reports what is wrong with one of several secrets. It never holds the secret.
type SecretError struct {
	Number, Of int
	Problem    string
}

func (e *SecretError) Error() string {
	return fmt.Sprintf("secret %d of %d %s", e.Number, e.Of, e.Problem)
}

// Keys returns the keys of a list of secrets, the newest first: each "whsec_" and base64 of 24 to 64 bytes, separated
// by spaces or commas. While a secret is being replaced there are several: each signs, and a receiver may know any of
// them. The error is a *SecretError.
func Keys(secrets string) ([][]byte, error) {
	list := Split(secrets)
	keys := make([][]byte, 0, len(list))
	for i, secret := range list {
		key, problem := read(secret)
		if problem != "" {
			return nil, &SecretError{i + 1, len(list), problem}
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// Split returns the secrets of a list without checking them.
func Split(secrets string) []string {
	return strings.FieldsFunc(secrets, func(r rune) bool { return strings.ContainsRune(", \t\r\n", r) })
}

func read(secret string) (key []byte, problem string) {
	encoded, ok := strings.CutPrefix(secret, secretPrefix)
	if !ok {
		return nil, "does not begin with whsec_"
	}
	key, err := base64.StdEncoding.DecodeString(encoded)
	switch {
	case err != nil:
		return nil, "is not base64 after whsec_"
	case len(key) < minKey || len(key) > maxKey:
		return nil, fmt.Sprintf("holds %d bytes, not %d to %d", len(key), minKey, maxKey)
	}
	return key, ""
}
