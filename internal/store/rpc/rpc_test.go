package rpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/rpc"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// recorder is a Caller that records its calls and always returns the same answer.
type recorder struct {
	calls  []json.RawMessage
	answer string
	err    error
}

func (r *recorder) Call(_ context.Context, _ string, p json.RawMessage) (json.RawMessage, error) {
	r.calls = append(r.calls, p)
	return json.RawMessage(r.answer), r.err
}

func (*recorder) Close() {}

// TestBatches: no request is larger than Supabase's gateway allows.
func TestBatches(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ chunks, size, calls int }{
		"none": {0, 10, 0}, "few": {3, 10, 1}, "by number": {401, 10, 3}, "by size": {10, 1 << 20, 5},
		"one that is too large by itself": {1, 4 << 20, 1},
	} {
		r := &recorder{answer: `{"missing":["b","a","b"]}`}
		batch := store.ChunkBatch{DocumentID: "d", Version: 1}
		for i := range c.chunks {
			batch.Chunks = append(batch.Chunks, store.Chunk{Position: i, Content: strings.Repeat("x", c.size)})
		}
		missing, err := rpc.New(r, "a", rpc.Options{}).StageChunks(t.Context(), batch)
		if err != nil || len(r.calls) != c.calls {
			t.Errorf("%s: %d calls, want %d: %v", name, len(r.calls), c.calls, err)
		}
		if c.calls > 0 && (len(missing) != 2 || missing[0] != "a") {
			t.Errorf("%s: missing %v", name, missing)
		}
	}
}

func TestVectors(t *testing.T) {
	t.Parallel()
	r := &recorder{answer: `[]`}
	s := rpc.New(r, "a", rpc.Options{})
	if _, err := s.Search(t.Context(), store.Query{Embedding: []float32{0.123456789, -1, 0, 1e-7}}); err != nil {
		t.Fatal(err)
	}
	if got := string(r.calls[0]); !strings.Contains(got, `"embedding":"[0.12346,-1,0,1e-07]"`) ||
		!strings.Contains(got, `"client_id":"a"`) {
		t.Errorf("sent %s", got)
	}
	for _, bad := range []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))} {
		if _, err := s.Search(t.Context(), store.Query{Embedding: []float32{1, bad}}); err == nil || len(r.calls) != 1 {
			t.Errorf("%v was sent", bad)
		}
	}
}

// TestUnmarshalable: arguments that JSON can't express are an error and not a panic.
func TestUnmarshalable(t *testing.T) {
	t.Parallel()
	r := &recorder{answer: `{}`}
	_, err := rpc.New(r, "a", rpc.Options{}).Complete(t.Context(), store.Completion{
		Effects: []store.Effect{{Kind: "x", Args: math.NaN()}},
	})
	if e, ok := errors.AsType[*taskerr.Error](err); !ok || e.Class != taskerr.InternalBug || len(r.calls) != 0 {
		t.Errorf("got %v", err)
	}
}

// TestCutOff: the engine tells a connection that ended from a call that the database refused or could not run.
func TestCutOff(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err    error
		want   bool
		turned bool // store.ErrNotServing
	}{
		"no answer":              {io.ErrUnexpectedEOF, true, false},
		"shut down":              {&rpc.SQLError{State: "57P01"}, true, false},
		"starting up":            {&rpc.SQLError{State: "57P03"}, true, true},
		"broken":                 {&rpc.SQLError{State: "08006"}, true, false},
		"too many":               {&rpc.SQLError{State: "53300"}, true, true},
		"read-only":              {&rpc.SQLError{State: rpc.ReadOnly}, false, true},
		"PostgREST broke":        {&rpc.SQLError{State: "PGRST001"}, true, false},
		"PostgREST has none":     {&rpc.SQLError{State: "PGRST003"}, true, true},
		"took too long":          {&rpc.SQLError{State: "57014"}, false, false},
		"no memory":              {&rpc.SQLError{State: "53200"}, false, false},
		"a value does not fit":   {&rpc.SQLError{State: "22001"}, false, false},
		"stopped by its context": {context.Canceled, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			if errors.Is(c.err, context.Canceled) {
				cancel()
			}
			defer cancel()
			_, err := rpc.New(&recorder{err: c.err}, "a", rpc.Options{}).Job(ctx, "x")
			if err == nil || errors.Is(err, store.ErrCutOff) != c.want || !errors.Is(err, c.err) ||
				errors.Is(err, store.ErrNotServing) != c.turned {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestErrValue: a value that the database can't hold is told from what else it refuses of the data.
func TestErrValue(t *testing.T) {
	t.Parallel()
	for state, want := range map[string]bool{
		"22003": true, "22P02": true, "22P05": true, "22000": false, "54001": false, "23505": false,
	} {
		_, err := rpc.New(&recorder{err: &rpc.SQLError{State: state}}, "a", rpc.Options{}).Job(t.Context(), "x")
		if err == nil || errors.Is(err, store.ErrValue) != want {
			t.Errorf("%s: %v", state, err)
		}
	}
}

func TestUnknownOutcome(t *testing.T) {
	t.Parallel()
	r := &recorder{err: errors.New("connection reset; password=SECRET")}
	_, err := rpc.New(r, "a", rpc.Options{}).Job(t.Context(), "x")
	if e, ok := errors.AsType[*taskerr.Error](err); !ok || e.Class != taskerr.TransientStorage ||
		strings.Contains(err.Error(), "SECRET") {
		t.Errorf("got %v", err)
	}
}
