// Package natskey tells the forms of a login to NATS from each other, for the settings and for the clients.
package natskey

import (
	"errors"
	"strings"

	"github.com/nats-io/nkeys"
)

// Form is the form of a login.
type Form int

// The forms.
const (
	None        Form = iota
	Credentials      // the content of a .creds file: a JWT and a seed
	Seed             // the seed of an NKey
	Token
)

// ErrForm reports a login of no form, or a damaged seed.
var ErrForm = errors.New("neither the content of a .creds file, nor the seed of an NKey, nor a token")

// seedLength is that of a user's seed, in base32 with its prefix and checksum.
const seedLength = 58

// Parse returns the form of a login. The error is ErrForm.
func Parse(login string) (Form, error) {
	switch login = strings.TrimSpace(login); {
	case login == "":
		return None, nil
	case strings.Contains(login, "BEGIN NATS USER JWT"):
		return Credentials, nil
	case strings.HasPrefix(login, "SU") && len(login) == seedLength:
		_, _, err := Pair(login)
		return Seed, err
	case strings.ContainsAny(login, " \n"):
		return None, ErrForm
	}
	return Token, nil
}

// Pair returns the public key of a seed, and what signs with the private one. The error is ErrForm.
func Pair(seed string) (public string, sign func(nonce []byte) ([]byte, error), err error) {
	pair, err := nkeys.FromSeed([]byte(strings.TrimSpace(seed)))
	if err != nil {
		return "", nil, ErrForm
	}
	if public, err = pair.PublicKey(); err != nil {
		return "", nil, ErrForm
	}
	return public, pair.Sign, nil
}
