// Package simulation runs engines on in-memory back ends in the virtual time of testing/synctest, injects faults
// drawn from a seed into their calls, and checks every move of every job against the invariants I1-I9 and I11.
// Hours pass in milliseconds. RELIABILITY.md has the results; `make prove KINDS=simulation` repeats them.
//
//	go test ./test/simulation -run TestSchedules -schedules 10000 -seed 42
//	go test ./test/simulation -run TestSchedules -schedules 1 -seed 1234 -count 20   # a failed seed again
//
// A schedule follows from its seed. The engine's own jitter and the order of goroutines at one moment do not: a
// seed makes a finding likely again, not certain.
package simulation
