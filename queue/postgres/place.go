package postgres

import "time"

const (
	// lookBack is how often a receive looks at all visible messages, see aw_queue_receive.
	lookBack = 30 * time.Second
	// aftermath is how long after a failed request no message is taken that another worker held: when the database comes
	// back, who still has the outcome of such a task writes it first, and the outage costs no attempt. A worker may have
	// received nothing meanwhile, because its slots were full or its tasks wait for the database. So each request counts.
	aftermath = 10 * time.Second
	// spareMost is after how many outages in a row that ends, on a database that fails every few seconds: a dead worker's
	// messages are taken all the same. When a database comes back, the last requests to time out are one outage, or few.
	spareMost   = 5
	outageLeast = 2 * time.Second // between the ends of two
)

// cursor is where a receive begins to look, see aw_queue_receive; empty: at the front.
type cursor struct {
	After     string `json:"after,omitempty"`      // among the messages that nobody has received
	HeldAfter string `json:"held_after,omitempty"` // among those that somebody held
}

// nothingHeld leaves out all messages that somebody held.
const nothingHeld = "infinity"

// place is where the next receive begins to look.
type place struct {
	from   cursor
	looked time.Time // when a receive last began at the front
	good   time.Time // when one last succeeded
	ended  time.Time // when an outage was last seen to have ended
	spared int       // outages that ended since a receive last took what others held
}

// begin returns where a receive begins. failed is when a request last failed.
func (p *place) begin(now, failed time.Time) cursor {
	if now.Sub(failed) < aftermath && p.spared < spareMost {
		p.looked = time.Time{} // the next other one begins at the front
		return cursor{After: p.from.After, HeldAfter: nothingHeld}
	}
	if now.Sub(p.looked) >= lookBack {
		p.looked, p.from = now, cursor{}
	}
	return p.from
}

// end notes how a receive that began at a cursor ended, and where it says that the next one is to begin.
func (p *place) end(now, failed time.Time, began, next cursor, err error) {
	p.from = next
	if err != nil {
		return
	}
	switch {
	case began.HeldAfter != nothingHeld:
		p.spared = 0
	case failed.After(p.good) && now.Sub(p.ended) >= outageLeast:
		p.ended = now
		p.spared++
	}
	p.good = now
}
