// Package apitoken makes the bearer tokens of the HTTP API, and reads the entries that are kept of them. An entry has a
// hash of its token alone.
package apitoken

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/pattern"
)

// tokenPrefix makes a token recognizable, for scanners of leaked secrets.
const tokenPrefix = "aw_"

var tokenName = pattern.New(`^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$`)

// Scope is what a caller may do. A greater one includes the lesser ones.
type Scope int

// The scopes.
const (
	Read    Scope = iota + 1 // see jobs, documents and results
	Submit                   // and submit and cancel jobs
	Operate                  // and retry, replay, delete
)

// Scopes are all scopes.
func Scopes() []Scope { return []Scope{Read, Submit, Operate} }

func (s Scope) String() string {
	return map[Scope]string{Read: "read", Submit: "submit", Operate: "operate"}[s]
}

// ParseScope reads the name of a scope.
func ParseScope(name string) (Scope, bool) {
	for _, s := range Scopes() {
		if s.String() == name {
			return s, true
		}
	}
	return 0, false
}

// Token is the entry of a token.
type Token struct {
	Name  string
	Scope Scope
	Hash  [sha256.Size]byte
}

// New makes a token of 256 random bits, and the entry that is kept of it.
func New(name string, scope Scope) (text string, t Token, err error) {
	if !tokenName.MatchString(name) {
		return "", Token{}, fmt.Errorf("the name %q is not 1 to 64 of A-Z, a-z, 0-9 and . _ @ -, beginning with a letter "+
			"or digit", name)
	}
	var raw [32]byte
	_, _ = rand.Read(raw[:]) // it never fails
	text = tokenPrefix + base64.RawURLEncoding.EncodeToString(raw[:])
	return text, Token{Name: name, Scope: scope, Hash: sha256.Sum256([]byte(text))}, nil
}

// String is the token's entry in API_TOKENS: NAME:SCOPE:HASH.
func (t Token) String() string {
	return t.Name + ":" + t.Scope.String() + ":" + hex.EncodeToString(t.Hash[:])
}

// Parse reads entries, separated by commas or lines. The error names an entry by its number: it may hold a token.
func Parse(text string) (tokens []Token, err error) {
	names, hashes := map[string]bool{}, map[[sha256.Size]byte]bool{}
	for _, entry := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(",\n\r", r) }) {
		entry = strings.TrimSpace(entry)
		if entry == "" {
			continue
		}
		n := len(tokens) + 1
		parts := strings.Split(entry, ":")
		if len(parts) != 3 || !tokenName.MatchString(parts[0]) {
			return nil, fmt.Errorf("entry %d is not NAME:SCOPE:HASH", n)
		}
		t := Token{Name: parts[0]}
		var ok bool
		if t.Scope, ok = ParseScope(parts[1]); !ok {
			return nil, fmt.Errorf("entry %d has no scope read, submit or operate", n)
		}
		hash, err := hex.DecodeString(parts[2])
		if err != nil || len(hash) != sha256.Size {
			return nil, fmt.Errorf("entry %d has no SHA-256 in hex: 64 of 0-9 and a-f", n)
		}
		copy(t.Hash[:], hash)
		if names[t.Name] || hashes[t.Hash] {
			return nil, fmt.Errorf("entry %d repeats a name or a hash", n)
		}
		names[t.Name], hashes[t.Hash] = true, true
		tokens = append(tokens, t)
	}
	return tokens, nil
}
