// Package rpc implements store.Store. It encodes the arguments of the SQL functions of store/schema, decodes their
// answers and converts their errors to the store's. A Caller carries the calls: store/postgres has one through pgx,
// store/supabase one through PostgREST.
package rpc

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/internal/tracing"
)

// callTimeout bounds every call: Supabase ends one after a minute, and a dead connection may never answer.
const callTimeout = 90 * time.Second

// Caller carries a call to the database. It is safe for concurrent use.
type Caller interface {
	// Call runs the function fn with the one argument p, a JSON object, as one transaction, and returns its JSON
	// answer. An error that the database or PostgREST raised is a *SQLError. After any other error the outcome is
	// unknown.
	Call(ctx context.Context, fn string, p json.RawMessage) (json.RawMessage, error)
	// Close closes the connections.
	Close()
}

// VectorCaller is a Caller that can send vectors in binary, which JSON can't: a component takes two bytes, not ten.
type VectorCaller interface {
	Caller
	// CallWithVectors is Call for a function of p and an array of halfvec. A nil vector is sent as null.
	CallWithVectors(ctx context.Context, fn string, p json.RawMessage, vectors [][]float32) (json.RawMessage, error)
	// LeastVectors is the number of vectors from which CallWithVectors costs less than a Call with them as texts.
	LeastVectors() int
}

// Options qualify New. The zero value checks nothing.
type Options struct {
	Dimensions int // EMBEDDING_DIMENSIONS, which Check holds against the schema; zero: not checked
	// OnUnanswered is called once, when the first call has had no answer for answerGrace, which it gets; nil: not called.
	OnUnanswered func(waited time.Duration)
}

// client is a store.Store over a Caller.
type client struct {
	caller     Caller
	id         string // of the tenant
	options    Options
	heard      atomic.Bool // a call was answered, with success or an error
	unanswered sync.Once
	begins     Batcher[beginArgs, store.BeginAnswer]
	ends       Batcher[store.Completion, store.Settlement]
}

// New returns the store of one tenant over a caller. The store closes the caller.
func New(caller Caller, clientID string, o Options) store.Store {
	c := &client{caller: caller, id: clientID, options: o}
	givenUp := func(fn string) func(context.Context) error {
		return func(ctx context.Context) error { return blame(ctx, fn, ctx.Err()) }
	}
	c.begins.Function, c.begins.Alone, c.begins.Together = "aw_begin", c.beginAlone, c.beginTogether
	c.ends.Function, c.ends.Alone, c.ends.Together = "aw_complete", c.completeAlone, c.completeTogether
	c.begins.GivenUp, c.ends.GivenUp = givenUp("aw_begin"), givenUp("aw_complete")
	return c
}

// Close closes the connections.
func (c *client) Close() { c.caller.Close() }

// Check returns ErrSchema, ErrForbidden or another error when the store is not usable.
func (c *client) Check(ctx context.Context) error {
	answer, err := call[struct {
		Version    int `json:"version"`
		Dimensions int `json:"dimensions"`
	}](ctx, c, "aw_check", struct{}{})
	if err != nil {
		return err
	}
	if answer.Version < schema.Version() {
		return fmt.Errorf("%w: it is at version %d, this program needs %d", store.ErrSchema, answer.Version,
			schema.Version())
	}
	if want := c.options.Dimensions; want != 0 && want != answer.Dimensions {
		return fmt.Errorf("%w: they have %d dimensions, EMBEDDING_DIMENSIONS is %d", store.ErrDimensions, answer.Dimensions, want)
	}
	return nil
}

// send is Caller.Call, or a variant that sends more than JSON.
type send func(ctx context.Context, fn string, p json.RawMessage) (json.RawMessage, error)

// call calls the SQL function fn with args, which encode as a JSON object, and returns its answer as an A. Every call
// carries the tenant (I10).
func call[A any](ctx context.Context, c *client, fn string, args any) (A, error) {
	return callBy[A](ctx, c, c.caller.Call, fn, args)
}

// run is call for a function without an answer.
func (c *client) run(ctx context.Context, fn string, args any) error {
	_, err := call[json.RawMessage](ctx, c, fn, args)
	return err
}

func callBy[A any](ctx context.Context, c *client, by send, fn string, args any) (answer A, err error) {
	p, err := c.encode(args)
	if err != nil {
		return answer, &taskerr.Error{
			Class: taskerr.InternalBug, Message: "the arguments of " + fn + " can't be encoded", Cause: err,
		}
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	ctx, abort := context.WithCancelCause(ctx)
	defer abort(nil)
	ctx, end := tracing.Call(ctx, fn)
	listened := c.listen(ctx, abort)
	raw, err := by(ctx, fn, Clean(p))
	listened()
	end(err)
	if err != nil {
		return answer, blame(ctx, fn, err)
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return answer, &taskerr.Error{
			Class: taskerr.TransientStorage, Message: "the answer of " + fn + " can't be read", Cause: err,
		}
	}
	return answer, nil
}

// encode writes args as a JSON object with the tenant. The tenant comes last, since the last of equal keys counts: no
// argument can name another tenant (I10).
func (c *client) encode(args any) (json.RawMessage, error) {
	fields, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	tenant, err := json.Marshal(struct {
		ClientID string `json:"client_id"`
	}{c.id})
	if err != nil || string(fields) == "{}" {
		return tenant, err
	}
	if fields[0] != '{' {
		return nil, fmt.Errorf("%T is not encoded as an object", args)
	}
	return append(append(fields[:len(fields)-1], ','), tenant[1:]...), nil
}

// millis is a duration that is written and read as milliseconds.
type millis time.Duration

// MarshalJSON implements json.Marshaler.
func (m millis) MarshalJSON() ([]byte, error) {
	return strconv.AppendInt(nil, time.Duration(m).Milliseconds(), 10), nil
}

// UnmarshalJSON implements json.Unmarshaler. Null is zero.
func (m *millis) UnmarshalJSON(text []byte) error {
	var n int64
	if err := json.Unmarshal(text, &n); err != nil {
		return err
	}
	*m = millis(time.Duration(n) * time.Millisecond)
	return nil
}

// Arguments and answers of more than one function.
type (
	jobArg struct {
		JobID string `json:"job_id"`
	}
	idArg struct {
		ID string `json:"id"`
	}
	expiry struct {
		OlderThan millis `json:"older_than_ms"`
		Limit     int    `json:"limit"`
	}
	removed struct {
		Removed int `json:"removed"`
	}
)

// orNil returns nil for a JSON null, which a RawMessage would keep as the text null.
func orNil(raw json.RawMessage) json.RawMessage {
	if string(raw) == "null" {
		return nil
	}
	return raw
}
