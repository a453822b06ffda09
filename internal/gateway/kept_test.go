package gateway_test

import (
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/gateway"
)

// The claims of a row follow a multiple of 1000, also those behind the 999th; none of another row is looked for.
func TestFirstClaim(t *testing.T) {
	t.Parallel()
	const row = 1_795_000_000_123_000
	for claim, want := range map[int64]int64{
		1: 1, 999: 1, 1000: 1, 1001: 1001, row + 1: row + 1, row + 7: row + 1, row + 1000: row + 1,
	} {
		if got := gateway.FirstClaim(claim); got != want {
			t.Errorf("of claim %d: %d, want %d", claim, got, want)
		}
	}
	for claim, want := range map[int64]int{row + 1: 1, row + 3: 3, row + 1000: 8, 1000: 8} {
		if got := gateway.KeptBlobs("k", claim); len(got) != want || got[want-1] != gateway.KeptBlob("k", claim) {
			t.Errorf("of claim %d: %q, want %d", claim, got, want)
		}
	}
}
