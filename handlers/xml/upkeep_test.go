package xml_test

import (
	"errors"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/gateway"
	"github.com/seed-7227ef26/async-worker/internal/gateway/gatewaytest"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// TestSlowUpkeep: an upkeep that is slow to remove an expired answer leaves the one that was paid for since another upkeep
// removed the first.
func TestSlowUpkeep(t *testing.T) {
	t.Parallel()
	b := newBench(t, gatewaytest.Options{})
	b.do(payloadOf(""))
	expired := func() []store.ExpiredAnswer {
		old, err := b.Store.ExpireAnswers(t.Context(), 0, 10)
		if err != nil || len(old) != 1 {
			t.Fatalf("expired %v, %v", old, err)
		}
		return old
	}
	remove := func(old []store.ExpiredAnswer) {
		for _, name := range append(gateway.KeptBlobs(old[0].Key, old[0].Claim), old[0].Blob) {
			if err := b.Bucket.Remove(t.Context(), name); err != nil && !errors.Is(err, blob.ErrNotFound) {
				t.Fatal(err)
			}
		}
		if _, err := b.Store.ForgetAnswers(t.Context(), old); err != nil {
			t.Fatal(err)
		}
	}
	quick, slow := expired(), expired()
	remove(quick)
	if r := b.do(payloadOf("")); r.Deduplicated {
		t.Errorf("after it is removed: %+v", r)
	}
	remove(slow)
	if r := b.do(payloadOf("")); !r.Deduplicated {
		t.Errorf("after it is removed once more: %+v", r)
	}
	b.calls(2, "one expired answer")
}
