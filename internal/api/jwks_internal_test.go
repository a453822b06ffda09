package api

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A token that names an unknown key makes nobody else wait for the project's keys.
func TestKnownKeyWaitsForNothing(t *testing.T) {
	t.Parallel()
	const known = `{"keys":[{"kid":"k","kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",` +
		`"y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]}` // of RFC 7517
	synctest.Test(t, func(t *testing.T) {
		slow := false
		k := newJWKS(JWTConfig{Fetch: func(ctx context.Context, _ string) ([]byte, error) {
			if slow {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return []byte(known), nil
		}})
		key := func(kid string) (waited time.Duration, err error) {
			began := time.Now()
			_, err = k.key(t.Context(), kid, "ES256")
			return time.Since(began), err
		}
		if _, err := key("k"); err != nil {
			t.Fatal(err)
		}
		slow = true
		for name, wait := range map[string]time.Duration{"fresh": jwksAgain, "old": 2 * jwksKeep} {
			time.Sleep(wait + time.Second)
			unknown := make(chan error)
			go func() {
				_, err := key("another")
				unknown <- err
			}()
			synctest.Wait()
			if waited, err := key("k"); err != nil || waited > 0 {
				t.Errorf("%s: a known key waited for %v, %v", name, waited, err)
			}
			if err := <-unknown; !errors.Is(err, errNoKey) {
				t.Errorf("%s: an unknown key: %v", name, err)
			}
		}
	})
}
