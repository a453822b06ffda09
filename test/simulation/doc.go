// Package simulation puts engines on in-memory back ends into the virtual time of testing/synctest, draws faults
// from a seed and lays them before each call, and holds every move of every job against the invariants I1-I9.
// Hours pass in milliseconds: RELIABILITY.md says what it has shown, `make prove KINDS=simulation` shows it again.
//
//	go test ./test/simulation -run TestSchedules -schedules 10000 -seed 42
//	go test ./test/simulation -run TestSchedules -schedules 1 -seed 1234 -count 20   # the one that failed, again
//
// All that a schedule does follows from its seed. The engine's own jitter and the order in which goroutines of one
// moment run do not: a seed makes a finding likely again, not certain.
package simulation
