package config

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/azure/sas"
)

// expiresSoon is how long before the end of a key there is a warning. A worker reads its keys only at its start, and the
// services then refuse them without saying beforehand.
const expiresSoon = 30 * 24 * time.Hour

// claims are what a key that is a JWT says of itself. Nothing here relies on it: the database checks the signature.
type claims struct {
	Role string  `json:"role"`
	Exp  float64 `json:"exp"` // NumericDate: seconds, which may have a fraction
}

// claimsOf reads a key; ok is false unless it is a JWT. Supabase's new keys (sb_secret_…) are none, and don't expire.
func claimsOf(key string) (c claims, ok bool) {
	parts := strings.Split(key, ".")
	if len(parts) != 3 {
		return claims{}, false
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	return c, err == nil && json.Unmarshal(payload, &c) == nil
}

// publicKey recognises Supabase's keys for browsers: sb_publishable_… and the JWT of the role anon.
func publicKey(key string) bool {
	c, ok := claimsOf(key)
	return ok && c.Role == "anon" || strings.HasPrefix(key, "sb_publishable_")
}

// checkKeyExpiry warns of a key to PostgREST that expires.
func (l *loader) checkKeyExpiry(name string, key Secret, remedy string) {
	const year9999 = 253402300799
	if c, ok := claimsOf(key.Reveal()); ok && c.Exp > 0 && c.Exp <= year9999 {
		l.checkExpiry(name, "it", time.Unix(int64(c.Exp), 0), "the database refuses the worker, and tasks wait and then fail", remedy)
	}
}

// checkSignatureExpiry warns of a connection string with a shared access signature that expires.
func (l *loader) checkSignatureExpiry(name string, connection Secret) {
	parts, _ := connectionParts(connection.Reveal())
	values, err := sas.Parse(parts["SharedAccessSignature"])
	if end, ok := sas.End(values); err == nil && ok {
		l.checkExpiry(name, "its shared access signature", end, "the storage account refuses the worker",
			"issue another (docs/azure.md), and restart the worker")
	}
}

func (l *loader) checkExpiry(name, what string, end time.Time, then, remedy string) {
	at := end.UTC().Format("2006-01-02 15:04 UTC")
	switch left := time.Until(end); {
	case left <= 0:
		l.warn(name, what+" expired at "+at+": "+then, remedy)
	case left < expiresSoon:
		l.warn(name, what+" expires at "+at+", in less than 30 days: from then on "+then, remedy)
	}
}
