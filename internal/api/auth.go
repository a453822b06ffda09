package api

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/seed-7227ef26/async-worker/internal/apitoken"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// Principal is who calls.
type Principal struct {
	Subject string // for audit, and as the requester of jobs: a token's name, or a user's id
	Scope   apitoken.Scope
	Expires time.Time // of the right to call; zero: not known
	jwt     string    // of a user whose reads the database can decide; empty: the worker's own key reads
	kind    kind
	hash    [sha256.Size]byte // of a token
}

// kind is how a caller proves who he is. Subjects of different kinds are different callers: a user's id may be the name
// of a token.
type kind string

const (
	byToken kind = "token"
	byJWT   kind = "jwt"
	byPeer  kind = "peer" // the kernel
)

// identity tells callers apart.
func (p Principal) identity() string { return string(p.kind) + "\x00" + p.Subject }

// Auth is who may call.
type Auth struct {
	Tokens []apitoken.Token
	JWT    *JWTConfig // nil: no JWT is accepted
	// Local returns the subject of a caller on this machine who may do everything, as the kernel knows him; nil: nobody.
	Local func(*http.Request) (subject string, ok bool)
	// AsCaller opens the store with a caller's JWT, so that row-level security decides what he reads; nil: it does not.
	AsCaller func(jwt string) (store.Store, error)
}

// errUnknown is the one answer to a missing, wrong or expired token: it does not tell which.
var errUnknown = errors.New("api: not authorized")

// authenticator finds out who calls.
type authenticator struct {
	auth     Auth
	tokens   atomic.Pointer[[]apitoken.Token]
	verifier *verifier // nil: no JWT is accepted
}

func newAuthenticator(d Deps) (*authenticator, error) {
	a := &authenticator{auth: d.Auth}
	a.tokens.Store(&d.Auth.Tokens)
	if d.Auth.JWT != nil {
		v, err := newVerifier(*d.Auth.JWT, d.ClientID, d.Log)
		if err != nil {
			return nil, err
		}
		a.verifier = v
	}
	return a, nil
}

// open reports whether there is a token with which one may call.
func (a *authenticator) open() bool { return a.verifier != nil || len(*a.tokens.Load()) > 0 }

// SetTokens replaces the tokens that are accepted.
func (a *API) SetTokens(tokens []apitoken.Token) { a.auth.tokens.Store(&tokens) }

// authenticate finds out who sends a request.
func (a *authenticator) authenticate(r *http.Request) (Principal, error) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	token = strings.TrimSpace(token)
	if token == "" || !strings.EqualFold(scheme, "Bearer") {
		if r.Header.Get("Authorization") == "" && a.auth.Local != nil {
			if subject, ok := a.auth.Local(r); ok {
				return Principal{Subject: subject, Scope: apitoken.Operate, kind: byPeer}, nil
			}
		}
		return Principal{}, errUnknown
	}
	return a.bearer(r.Context(), token)
}

// bearer finds out who has a token.
func (a *authenticator) bearer(ctx context.Context, token string) (Principal, error) {
	if t, ok := a.known(token); ok {
		return Principal{Subject: t.Name, Scope: t.Scope, kind: byToken, hash: t.Hash}, nil
	}
	if a.verifier == nil || strings.Count(token, ".") != 2 {
		return Principal{}, errUnknown
	}
	return a.verifier.verify(ctx, token)
}

// known compares a token with all that were handed out, in a time that tells nothing about them.
func (a *authenticator) known(token string) (found apitoken.Token, ok bool) {
	sum := sha256.Sum256([]byte(token))
	for _, t := range *a.tokens.Load() {
		if subtle.ConstantTimeCompare(sum[:], t.Hash[:]) == 1 {
			found, ok = t, true
		}
	}
	return found, ok
}

// valid reports whether the token of a caller is still accepted. The right of a user ends by itself.
func (a *authenticator) valid(p Principal) bool {
	return p.kind != byToken || slices.ContainsFunc(*a.tokens.Load(), func(t apitoken.Token) bool { return t.Hash == p.hash })
}

type principalKey struct{}

func principalFrom(ctx context.Context) Principal {
	p, _ := ctx.Value(principalKey{}).(Principal)
	return p
}

func unauthorized() *Problem {
	return problem(http.StatusUnauthorized, "UNAUTHORIZED", "send a valid token as: Authorization: Bearer TOKEN")
}

// unauthenticated is the answer to a caller who is not known, by the error of authenticate.
func unauthenticated(err error) *Problem {
	if !errors.Is(err, errNoKeys) {
		return unauthorized()
	}
	p := problem(http.StatusServiceUnavailable, "UNAVAILABLE", "the keys that verify this token can't be read now; try again")
	p.retryAfter, p.stranger = jwksRetry, true
	return p
}

// authorize lets a request through whose caller may make it.
func (a *API) authorize(ctx huma.Context, next func(huma.Context)) {
	r, w := humago.Unwrap(ctx)
	need, _ := ctx.Operation().Metadata[scopeKey].(apitoken.Scope)
	p, refused := a.mayCall(r, need)
	if refused != nil {
		refused.write(w)
		return
	}
	next(huma.WithValue(ctx, principalKey{}, p))
}

// mayCall finds out who calls, and whether he may: a nil Problem.
func (a *API) mayCall(r *http.Request, need apitoken.Scope) (Principal, *Problem) {
	p, err := a.auth.authenticate(r)
	if err != nil {
		if holder, ok := a.tickets.redeem(r); ok && a.auth.valid(holder) {
			p, err = holder, nil
		}
	}
	if err != nil {
		return p, unauthenticated(err)
	}
	if limited := a.take(p); limited != nil {
		return p, limited
	}
	return p, p.may(need)
}

// take counts a request; a Problem: there are too many.
func (a *API) take(p Principal) *Problem {
	return limited(a.limits.requests.take(p.identity()), "too many requests with this token; wait as long as Retry-After says")
}

// limited is the Problem of a caller who has to wait; nil: he does not.
func limited(wait time.Duration, detail string) *Problem {
	if wait <= 0 {
		return nil
	}
	p := problem(http.StatusTooManyRequests, "RATE_LIMITED", detail)
	p.retryAfter = wait
	return p
}

// may returns why a caller may not do what needs a scope; nil: he may.
func (p Principal) may(need apitoken.Scope) *Problem {
	if p.Scope < need || need == 0 {
		return problem(http.StatusForbidden, "FORBIDDEN", fmt.Sprintf("this needs the scope %s, the token has %s", need,
			p.Scope))
	}
	return nil
}

// audit logs a change, and who made it.
func (a *API) audit(ctx context.Context, did string, details ...any) {
	p := principalFrom(ctx)
	a.deps.Log.InfoContext(ctx, "a change by the API", append(details, "did", did, "by", p.Subject, "scope", p.Scope.String())...)
}

// reader reads as the caller, where the database can decide what he may read, else with the worker's own key.
func (a *API) reader(ctx context.Context) store.Store {
	p := principalFrom(ctx)
	if p.jwt == "" || a.deps.Auth.AsCaller == nil {
		return a.deps.Store
	}
	s, err := a.deps.Auth.AsCaller(p.jwt)
	if err != nil {
		a.deps.Log.Warn("a caller's own key can't be used to read", "error", err)
		return nobody{}
	}
	return s
}

// mayRead asks the database whether the caller may read at all: what a stream shows was read for all its listeners.
func (a *API) mayRead(ctx context.Context) error {
	if principalFrom(ctx).jwt == "" {
		return nil
	}
	_, err := a.reader(ctx).Jobs(ctx, store.JobFilter{Limit: 1})
	return err
}
