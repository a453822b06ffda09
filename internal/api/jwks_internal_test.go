package api

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const oneKey = `{"keys":[{"kid":"k","kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",` +
	`"y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]}` // of RFC 7517

// A token that names an unknown key makes nobody else wait for the project's keys.
func TestKnownKeyWaitsForNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slow := false
		k := newJWKS(JWTConfig{Fetch: func(ctx context.Context, _ string) ([]byte, error) {
			if slow {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return []byte(oneKey), nil
		}}, slog.New(slog.DiscardHandler))
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
			if err := <-unknown; !errors.Is(err, errNoKeys) {
				t.Errorf("%s: an unknown key: %v", name, err)
			}
		}
	})
}

// After a restart in an outage of the project, nobody can tell whether a key is known: the worker does not say that it is
// not. It asks again every few seconds, however many ask for keys, and tells the operator once.
func TestKeysThatCannotBeRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var logged bytes.Buffer
		fetches, down := 0, true
		k := newJWKS(JWTConfig{Fetch: func(ctx context.Context, _ string) ([]byte, error) {
			fetches++
			if down {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return []byte(oneKey), nil
		}}, slog.New(slog.NewTextHandler(&logged, nil)))
		ask := func(kid string, want error) {
			t.Helper()
			if _, err := k.key(t.Context(), kid, "ES256"); !errors.Is(err, want) {
				t.Errorf("key %q: %v, want %v", kid, err, want)
			}
		}
		began := time.Now()
		for range 20 { // one after the other, as calls that wait for the same fetch do
			ask("k", errNoKeys)
		}
		if took := time.Since(began); fetches != 1 || took > jwksLimit {
			t.Errorf("%d fetches within %v", fetches, took)
		}
		ask("", errNoKey)
		time.Sleep(jwksRetry + time.Second)
		ask("k", errNoKeys)
		if warnings := strings.Count(logged.String(), "level=WARN"); fetches != 2 || warnings != 1 {
			t.Errorf("%d fetches, %d warnings: %s", fetches, warnings, logged.String())
		}
		down = false
		time.Sleep(jwksRetry + time.Second)
		ask("k", nil)
		ask("another", errNoKey)
		time.Sleep(jwksAgain + time.Second)
		down = true
		ask("another", errNoKeys)
		ask("k", nil)
	})
}
