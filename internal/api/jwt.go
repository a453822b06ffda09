package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/seed-7227ef26/async-worker/internal/apitoken"
)

// JWTConfig is how JWTs of a Supabase project, or of whoever else has its secret, are verified.
type JWTConfig struct {
	// Issuer is the project's address with /auth/v1, which tokens must name; empty: they may name any or none, and there is
	// a Secret.
	Issuer string
	// Secret verifies HS256; empty: the keys at Issuer/.well-known/jwks.json verify RS256 and ES256.
	Secret string
	// Fetch gets the keys; nil: over HTTPS.
	Fetch func(ctx context.Context, url string) ([]byte, error)
}

const (
	clockSkew  = 30 * time.Second
	maxJWT     = 8 << 10 // bytes
	minSecret  = 32      // bytes
	readerRole = "async_worker_reader"
)

// userClaims are what a token says of its user. user_metadata is not read: users write it.
type userClaims struct {
	jwt.RegisteredClaims
	Role     string `json:"role"`
	ClientID string `json:"client_id"`
	App      struct {
		ClientID string `json:"client_id"`
		Scope    string `json:"async_worker"`
	} `json:"app_metadata"`
}

// verifier verifies JWTs of one tenant.
type verifier struct {
	cfg    JWTConfig
	client string
	keys   *jwks // nil: the secret verifies
	parser *jwt.Parser
	log    *slog.Logger
	warned sync.Once // of tokens with another algorithm: anyone may send them
}

func newVerifier(cfg JWTConfig, clientID string, log *slog.Logger) (*verifier, error) {
	if cfg.Issuer == "" && cfg.Secret == "" {
		return nil, errors.New("api: JWTs need a secret (SUPABASE_JWT_SECRET), or the project's address (SUPABASE_URL)")
	}
	v := &verifier{cfg: cfg, client: clientID, log: log}
	if cfg.Secret == "" {
		v.keys = newJWKS(cfg, log)
	} else if len(cfg.Secret) < minSecret {
		return nil, fmt.Errorf("api: the JWT secret is shorter than %d bytes", minSecret)
	}
	rules := []jwt.ParserOption{
		jwt.WithValidMethods(v.methods()), jwt.WithExpirationRequired(), jwt.WithIssuedAt(), jwt.WithLeeway(clockSkew),
		jwt.WithStrictDecoding(),
	}
	if cfg.Issuer != "" {
		rules = append(rules, jwt.WithIssuer(cfg.Issuer))
	}
	v.parser = jwt.NewParser(rules...)
	return v, nil
}

// methods are the algorithms that are accepted. They are pinned: with a secret HS256 alone, else those of keys.
func (v *verifier) methods() []string {
	if v.cfg.Secret != "" {
		return supabaseMethods()[:1]
	}
	return supabaseMethods()[1:]
}

// explain logs why all tokens of a project may be refused, if that is so: the answers must not say it.
func (v *verifier) explain(refused *jwt.Token) {
	alg := ""
	if refused != nil {
		alg, _ = refused.Header["alg"].(string)
	}
	if (alg == jwt.SigningMethodHS256.Alg()) == (v.cfg.Secret != "") || !slices.Contains(supabaseMethods(), alg) {
		return
	}
	hint := "if the project signs users' tokens so, make an asymmetric key its current one (Supabase: JWT Keys), or set " +
		"SUPABASE_JWT_SECRET"
	switch {
	case v.cfg.Issuer == "":
		hint = "sign with HS256 and the secret of SUPABASE_JWT_SECRET, or set SUPABASE_URL to the project whose keys sign"
	case v.cfg.Secret != "":
		hint = "if the project signs users' tokens so, unset SUPABASE_JWT_SECRET: the project's public keys verify then"
	}
	v.warned.Do(func() {
		v.log.Warn("a token for the HTTP API was refused: it is signed with another algorithm than this worker verifies",
			"algorithm", alg, "verified", strings.Join(v.methods(), ", "), "hint", hint)
	})
}

// supabaseMethods are the algorithms that Supabase signs with: the first with a secret, the others with keys.
func supabaseMethods() []string { return []string{"HS256", "RS256", "ES256"} }

// verify returns whose token it is. Whatever is wrong with it, the error is errUnknown. It is errNoKeys if nobody can tell
// whether something is.
func (v *verifier) verify(ctx context.Context, token string) (Principal, error) {
	if len(token) > maxJWT {
		return Principal{}, errUnknown
	}
	var claims userClaims
	parsed, err := v.parser.ParseWithClaims(token, &claims, func(t *jwt.Token) (any, error) {
		if _, critical := t.Header["crit"]; critical { // extensions that must be understood: RFC 7515, 4.1.11
			return nil, errUnknown
		}
		if v.keys == nil {
			return []byte(v.cfg.Secret), nil
		}
		kid, _ := t.Header["kid"].(string)
		return v.keys.key(ctx, kid, t.Method.Alg())
	})
	if errors.Is(err, errNoKeys) {
		return Principal{}, errNoKeys
	}
	if err != nil && cmp.Or(claims.ClientID, claims.App.ClientID) == v.client {
		v.explain(parsed)
	}
	if err != nil || claims.Subject == "" || len(claims.Subject) > 256 || strings.ContainsFunc(claims.Subject, isControl) {
		return Principal{}, errUnknown
	}
	client := claims.App.ClientID
	if claims.ClientID != "" {
		if client != "" && client != claims.ClientID {
			return Principal{}, errUnknown
		}
		client = claims.ClientID
	}
	if client != v.client { // I10
		return Principal{}, errUnknown
	}
	p := Principal{Subject: claims.Subject, Scope: apitoken.Submit, Expires: claims.ExpiresAt.Add(clockSkew), kind: byJWT}
	if claims.App.Scope != "" {
		var ok bool
		if p.Scope, ok = apitoken.ParseScope(claims.App.Scope); !ok {
			return Principal{}, errUnknown
		}
	}
	if claims.Role == readerRole && claims.ClientID == v.client { // what row-level security goes by
		p.jwt = token
	}
	return p, nil
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }
