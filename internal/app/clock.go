package app

import (
	"log/slog"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/doctor"
)

// warnOfClock is how often a worker warns of a clock that is off.
const warnOfClock = time.Hour

// clockWatch warns of a machine whose clock differs from the database's: receivers refuse webhooks whose signature is
// minutes off, and Azure a signed address.
type clockWatch struct {
	log    *slog.Logger
	warned time.Time // zero: the clocks agreed
}

// see compares the database's time with this machine's in the middle of a call.
func (c *clockWatch) see(there, asked time.Time, took time.Duration) {
	skew := doctor.Skew(there, asked.Add(took/2), took)
	switch {
	case skew.Abs() < doctor.WarnSkew:
		if !c.warned.IsZero() {
			c.log.Info("this machine's clock agrees with the database's again")
		}
		c.warned = time.Time{}
	case c.warned.IsZero() || asked.Sub(c.warned) >= warnOfClock:
		c.warned = asked
		c.log.Warn("this machine's clock differs from the database's; webhooks may be refused",
			"ahead_by", skew.Round(time.Second), "hint", doctor.SetClock)
	}
}
