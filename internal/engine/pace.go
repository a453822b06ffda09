package engine

import "time"

// gatherTime is how long freed slots are gathered at most before the next receive, counted from the first
// one. It bounds what a slot beside long tasks loses, and is less than a receive from a distant queue takes.
const gatherTime = 20 * time.Millisecond

// enough is how many slots must be free for a receive: a quarter of them, or what came free within
// gatherTime, while there is a backlog. Short tasks end one by one, and would each cost a receive. Without a
// backlog every free slot is worth asking for at once.
func (p *poller) enough() int {
	if !p.backlog {
		return 1
	}
	return max(1, p.tuning().Concurrency/4)
}

// pace is the adaptive wait between polls: none after a full batch, the least after a part batch,
// then doubling with jitter to the most.
type pace struct {
	least, most time.Duration
	wait        time.Duration
}

func (p *pace) next(free, got int, err error) time.Duration {
	switch {
	case err != nil && got == 0:
		p.wait = min(max(2*p.wait, p.least, time.Second), max(p.most, time.Second))
	case got == free:
		p.wait = 0
		return 0
	case got > 0 || p.wait == 0:
		p.wait = p.least
	default:
		p.wait = min(2*p.wait, p.most)
	}
	return jittered(p.wait)
}
