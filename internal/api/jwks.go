package api

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net/http"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/seed-7227ef26/async-worker/internal/httpurl"
)

const (
	jwksPath    = "/.well-known/jwks.json"
	jwksKeep    = 10 * time.Minute
	jwksAgain   = 30 * time.Second // at the earliest, for a key that is not known
	jwksRetry   = 5 * time.Second  // at the earliest, for such a key after a fetch that failed
	jwksLimit   = 10 * time.Second // for a request
	jwksWarn    = 5 * time.Minute  // between two warnings
	maxJWKS     = 256 << 10        // bytes
	maxKeys     = 50
	minRSA      = 2048 // bits
	maxRSA      = 8192 // bits
	maxExponent = 1 << 31
)

var (
	errNoKey = errors.New("api: no such key")
	// errNoKeys means that nobody knows whether there is such a key: the project's keys can't be read.
	errNoKeys = errors.New("api: the project's keys can't be read")
)

// jwks are the public keys of a project, read again from time to time.
type jwks struct {
	url   string
	fetch func(ctx context.Context, url string) ([]byte, error)
	log   *slog.Logger

	fetching sync.Mutex // one fetches; who needs a key that is not known waits for it
	at       time.Time  // of the end of the last fetch, successful or not
	failed   bool       // the last fetch
	warned   time.Time  // when a failure was logged last

	mu    sync.Mutex
	read  time.Time // of the last successful fetch
	known map[string]publicKey
}

// publicKey is a key and the one algorithm that it is for.
type publicKey struct {
	alg string
	key any
}

func newJWKS(cfg JWTConfig, log *slog.Logger) *jwks {
	k := &jwks{url: cfg.Issuer + jwksPath, fetch: cfg.Fetch, log: log}
	if k.fetch == nil {
		client := &http.Client{Transport: httpurl.Transport(), Timeout: jwksLimit}
		k.fetch = func(ctx context.Context, url string) ([]byte, error) { return get(ctx, client, url) }
	}
	return k
}

func get(ctx context.Context, client *http.Client, url string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("read the project's keys: %w", err)
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("read the project's keys: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("read the project's keys: %s", resp.Status)
	}
	return io.ReadAll(io.LimitReader(resp.Body, maxJWKS))
}

// key returns a key by its id and algorithm. Old keys stay valid while new ones can't be read, or while another call
// reads them. A key that is known and not old waits for nothing, whatever other tokens name. The error is errNoKey, or
// errNoKeys if the key may be one of those that could not be read.
func (k *jwks) key(ctx context.Context, kid, alg string) (any, error) {
	if kid == "" {
		return nil, errNoKey
	}
	found, fresh := k.find(kid)
	read := true
	if !fresh && (found.key == nil || k.fetching.TryLock()) {
		if found.key == nil {
			k.fetching.Lock()
		}
		read = k.refresh(ctx, kid)
		found, _ = k.find(kid)
	}
	switch {
	case found.key == nil && !read:
		return nil, errNoKeys
	case found.key == nil || found.alg != alg:
		return nil, errNoKey
	}
	return found.key, nil
}

// find returns a key, and whether it is not old.
func (k *jwks) find(kid string) (found publicKey, fresh bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	found, ok := k.known[kid]
	return found, ok && time.Since(k.read) <= jwksKeep
}

// refresh reads the keys unless another call has found the key meanwhile, or the last fetch was a moment ago. It reports
// whether the last fetch succeeded. The caller holds fetching, which it unlocks.
func (k *jwks) refresh(ctx context.Context, kid string) (read bool) {
	defer k.fetching.Unlock()
	found, fresh := k.find(kid)
	wait := jwksAgain
	if k.failed && found.key == nil {
		wait = jwksRetry
	}
	if fresh || !k.at.IsZero() && time.Since(k.at) <= wait {
		return !k.failed
	}
	known, err := k.fetchAll(ctx)
	// The wait begins at the end of a fetch: the calls that waited for it must not fetch one after the other.
	k.at, k.failed = time.Now(), err != nil
	if err != nil {
		k.warn(err)
		return false
	}
	k.mu.Lock()
	k.known, k.read = known, k.at
	k.mu.Unlock()
	return true
}

func (k *jwks) fetchAll(ctx context.Context) (map[string]publicKey, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), jwksLimit)
	defer cancel()
	raw, err := k.fetch(ctx, k.url)
	if err != nil {
		return nil, err
	}
	return parseJWKS(raw)
}

// warn logs that the keys can't be read, not each time. The caller holds fetching.
func (k *jwks) warn(err error) {
	if !k.warned.IsZero() && time.Since(k.warned) < jwksWarn {
		return
	}
	k.warned = time.Now()
	k.log.Warn("can't read the project's keys: requests with a user's JWT get 503 if its key is not known yet; "+
		"check SUPABASE_URL, and whether the project answers", "url", k.url, "error", err)
}

// parseJWKS reads a JSON Web Key Set (RFC 7517). Keys of other kinds, and for other uses, are left out.
func parseJWKS(raw []byte) (map[string]publicKey, error) {
	var set struct {
		Keys []jwk `json:"keys"`
	}
	if err := json.Unmarshal(raw, &set); err != nil {
		return nil, fmt.Errorf("read the project's keys: %w", err)
	}
	known := map[string]publicKey{}
	for _, k := range set.Keys[:min(len(set.Keys), maxKeys)] {
		if key, ok := k.public(); ok && k.ID != "" && (k.Use == "" || k.Use == "sig") && (k.Alg == "" || k.Alg == key.alg) {
			known[k.ID] = key
		}
	}
	return known, nil
}

type jwk struct {
	ID    string `json:"kid"`
	Type  string `json:"kty"`
	Use   string `json:"use"`
	Alg   string `json:"alg"`
	Curve string `json:"crv"`
	N     string `json:"n"`
	E     string `json:"e"`
	X     string `json:"x"`
	Y     string `json:"y"`
}

func (k jwk) public() (publicKey, bool) {
	switch {
	case k.Type == "RSA":
		n, e := number(k.N), number(k.E)
		if n.BitLen() < minRSA || n.BitLen() > maxRSA || !e.IsInt64() || e.Int64() < 3 || e.Int64() >= maxExponent {
			return publicKey{}, false
		}
		return publicKey{jwt.SigningMethodRS256.Alg(), &rsa.PublicKey{N: n, E: int(e.Int64())}}, true
	case k.Type == "EC" && k.Curve == "P-256":
		x, xErr := base64.RawURLEncoding.DecodeString(k.X)
		y, yErr := base64.RawURLEncoding.DecodeString(k.Y)
		if xErr != nil || yErr != nil || len(x) != 32 || len(y) != 32 {
			return publicKey{}, false
		}
		key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), append(append([]byte{4}, x...), y...))
		return publicKey{jwt.SigningMethodES256.Alg(), key}, err == nil
	}
	return publicKey{}, false
}

// number decodes a Base64urlUInt (RFC 7518); 0: it is none.
func number(text string) *big.Int {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return new(big.Int)
	}
	return new(big.Int).SetBytes(raw)
}
