package natskey_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/nats-io/nkeys"

	"github.com/seed-7227ef26/async-worker/internal/natsconn/natskey"
)

func TestParse(t *testing.T) {
	t.Parallel()
	pair, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	own, err := pair.Seed()
	if err != nil {
		t.Fatal(err)
	}
	seed := string(own)
	for _, c := range []struct {
		login string
		form  natskey.Form
		wrong bool
	}{
		{" \n", natskey.None, false},
		{"-----BEGIN NATS USER JWT-----\neyJ0\n", natskey.Credentials, false},
		{seed + "\n", natskey.Seed, false},
		{"SU" + strings.Repeat("A", len(seed)-2), natskey.Seed, true},
		{"s3cr3t", natskey.Token, false},
		{"two words", natskey.None, true},
	} {
		if form, err := natskey.Parse(c.login); form != c.form || errors.Is(err, natskey.ErrForm) != c.wrong {
			t.Errorf("%q: %v, %v", c.login, form, err)
		}
	}
	public, sign, err := natskey.Pair(seed)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := sign([]byte("nonce"))
	if want, _ := pair.PublicKey(); err != nil || public != want || pair.Verify([]byte("nonce"), signed) != nil {
		t.Errorf("%s signs %q, %v; want %s", public, signed, err, want)
	}
}
