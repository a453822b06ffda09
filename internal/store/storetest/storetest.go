// Package storetest is the conformance suite that every store passes. A back end's test calls Run.
package storetest

import (
	"runtime/debug"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// Dimensions is the width of the suite's vectors. The database under test must be migrated with it.
const Dimensions = 8

// Open opens the store of a tenant. The stores that one Open opens share a database.
type Open func(t testing.TB, clientID string) store.Store

// jobTests are the tests that need only store.Jobs and the readers of its rows.
var jobTests = []suiteTest{
	{"begin", testBegin},
	{"begin decides by state", testDecisions},
	{"unanswered begin", testUnanswered},
	{"report of unanswered begins", testReleaseUnanswered},
	{"conflict", testConflict},
	{"worker lost", testWorkerLost},
	{"worker lost for good", testSpent},
	{"retry", testRetry},
	{"release", testRelease},
	{"releases are counted", testWaits},
	{"fail", testFail},
	{"complete", testComplete},
	{"cancel requests", testCancelRequests},
	{"canceling", testCanceling},
	{"events", testEvents},
	{"checkpoint", testCheckpoint},
	{"reject", testReject},
	{"reject a submitted job", testRejectSubmitted},
	{"submit", testSubmit},
	{"sweep", testSweep},
	{"sweep of unstarted jobs", testSweepUnstarted},
	{"sweeps at once", testSweepTogether},
	{"reject a taken id", testRejectTaken},
	{"canceled before its message", testTellCanceled},
	{"sent again after a failure", testDuplicate},
	{"sent again is reported once", testDuplicateOnce},
	{"sent again without a report", testDuplicateSilent},
	{"sent again and again", testDuplicateFlood},
	{"fields of failures", testFailureFields},
	{"clock of events", testClock},
	{"life of a job", testLife},
	{"readers", testReaders},
	{"force", testForce},
}

// otherTests need documents, the outbox or the database itself.
var otherTests = []suiteTest{
	{"stale fence", testFence},
	{"effects are one transaction", testEffectAtomicity},
	{"cancel", testCancel},
	{"hostile texts", testHostileTexts},
	{"outbox", testOutbox},
	{"webhooks of failures", testFailureBodies},
	{"webhook of a task that is sent again", testDuplicateBody},
	{"deliveries", testDeliveries},
	{"outbox state", testOutboxState},
	{"deliveries by host", testSkipHosts},
	{"deliveries for people", testListDeliveries},
	{"deliveries again", testResendDelivery},
	{"receivers that are down", testOutages},
	{"paths that are down", testOutageOfAPath},
	{"what speaks for others", testOutageOfSome},
	{"claims that are extended", testExtendedClaims},
	{"stage and activate", testActivate},
	{"activation refuses gaps", testActivateRefuses},
	{"staged work of the lost", testStagedLeftovers},
	{"busy document", testBusy},
	{"keep", testKeep},
	{"failure keeps the old version", testFailureKeepsOld},
	{"chunk reuse", testReuse},
	{"many chunks", testManyChunks},
	{"page results", testPageResults},
	{"page results of canceled jobs", testCanceledReadings},
	{"page log", testPageLog},
	{"partials", testPartials},
	{"partials of a forced job", testPartialsForced},
	{"summary", testSummary},
	{"derived contents", testDerived},
	{"derived contents at once", testDerivedTogether},
	{"keys of a version", testVersionKeys},
	{"reuse is counted", testReuseCounted},
	{"keep under other bytes", testKeepOtherBytes},
	{"delete", testDelete},
	{"delete what was made of a document", testDeleteMade},
	{"purge what was derived of a document", testPurgeDerived},
	{"collect superseded versions", testCollectSuperseded},
	{"collect staged leftovers", testCollectStaged},
	{"bulk", testBulk},
	{"search", testSearch},
	{"examine", testExamine},
	{"search within sets", testSearchFilters},
	{"search in order", testSearchOrder},
	{"search for anything", testSearchOddities},
	{"search without what is excluded", testSearchExcludes},
	{"search by what questions mean", testQuestions},
	{"search without a match", testSearchNeighbours},
	{"documents by name", testDocumentList},
	{"documents with details", testDocumentDetails},
	{"passages", testPassages},
	{"passages of one set", testPassageScope},
	{"outlines", testOutlines},
	{"agent runs", testAgentRuns},
	{"workers at once", testTogether},
	{"begins at once", testBeginsTogether},
	{"completions at once", testCompletionsTogether},
	{"replay", testReplay},
	{"ids of replays", testReplayIDs},
	{"replays at once", testReplayTogether},
	{"dead letters by filter", testLetterFilters},
	{"purge", testPurge},
	{"retry by hand", testRequeue},
	{"retry by hand beside others", testRequeueAfter},
	{"two tenants, one id", testTwoTenants},
	{"check", testCheck},
}

type suiteTest struct {
	name string
	test func(*testing.T, *bench)
}

// Run runs the suite.
func Run(t *testing.T, open Open) {
	RunJobs(t, open)
	runAll(t, open, otherTests)
}

// RunJobs runs the part of the suite that is about jobs. It calls only the methods of store.Jobs, the readers of its
// rows and ClaimDeliveries.
func RunJobs(t *testing.T, open Open) { runAll(t, open, jobTests) }

func runAll(t *testing.T, open Open, tests []suiteTest) {
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			defer func() { // a panic fails one test, not all after it
				if p := recover(); p != nil {
					t.Errorf("panic: %v\n%s", p, debug.Stack())
				}
			}()
			c.test(t, newBench(t, open))
		})
	}
}
