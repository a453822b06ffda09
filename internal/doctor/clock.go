package doctor

import (
	"context"
	"fmt"
	"time"
)

// Limits of the difference between this machine's clock and a service's. Azure rejects signatures that are 15 minutes
// off.
const (
	warnSkew = 30 * time.Second
	failSkew = 5 * time.Minute
)

const setClock = "switch time synchronization on: timedatectl set-ntp true"

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

// skewed compares a service's clock with this machine's. The precision is half the time that the response took, and a
// second, since a Date has whole seconds.
func skewed(check, whose string, there, here time.Time, took time.Duration) Result {
	skew := here.Sub(there).Abs()
	skew = max(0, skew-took/2-time.Second)
	way := "behind"
	if here.After(there) {
		way = "ahead of"
	}
	seen := fmt.Sprintf("this machine's clock is %s %s %s", skew.Round(time.Second), way, whose)
	switch {
	case skew >= failSkew:
		return Result{Check: check, State: Fail, Class: Config, Seen: seen, Remedy: setClock}
	case skew >= warnSkew:
		return Result{Check: check, State: Warn, Seen: seen, Remedy: setClock}
	}
	return ok(check, "this machine's clock agrees with %s", whose)
}
