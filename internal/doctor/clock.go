package doctor

import (
	"context"
	"fmt"
	"time"
)

// Limits of the difference between this machine's clock and a service's. Azure rejects signatures that are 15 minutes
// off.
const (
	WarnSkew = 30 * time.Second
	failSkew = 5 * time.Minute
)

// SetClock says what to do about a clock that is off.
const SetClock = "switch time synchronization on: timedatectl set-ntp true"

func clock(ctx context.Context, w *Worker) []Result {
	const check = "storage clock"
	var there time.Time
	asked := time.Now()
	err := w.within(ctx, func(ctx context.Context) (err error) {
		there, err = w.StorageAt(ctx)
		return err
	})
	if err != nil {
		return []Result{{Check: check, State: Skipped, Seen: "the storage account does not answer: " + err.Error()}}
	}
	took := time.Since(asked)
	return []Result{skewed(check, "the storage account's", there, asked.Add(took/2), took)}
}

// skewed judges the difference between a service's clock and this machine's.
func skewed(check, whose string, there, here time.Time, took time.Duration) Result {
	skew, way := Skew(there, here, took), "ahead of"
	if skew < 0 {
		way = "behind"
	}
	seen := fmt.Sprintf("this machine's clock is %s %s %s", skew.Abs().Round(time.Second), way, whose)
	switch {
	case skew.Abs() >= failSkew:
		return Result{Check: check, State: Fail, Class: Config, Seen: seen, Remedy: SetClock}
	case skew.Abs() >= WarnSkew:
		return Result{Check: check, State: Warn, Seen: seen, Remedy: SetClock}
	}
	return ok(check, "this machine's clock agrees with %s", whose)
}

// Skew is by how much this machine's clock, here, is ahead of a service's, there; negative: behind. The precision is
// half the time that the answer took, and a second, since a Date has whole seconds; the skew is what is beyond it.
func Skew(there, here time.Time, took time.Duration) time.Duration {
	skew := here.Sub(there)
	beyond := max(0, skew.Abs()-took/2-time.Second)
	if skew < 0 {
		return -beyond
	}
	return beyond
}
