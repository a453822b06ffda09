package storetest

import (
	"runtime/debug"
	"slices"
	"testing"
)

// jobTests are the tests that need only store.Jobs and the readers of its rows.
var jobTests = []suiteTest{
	{"begin", testBegin},
	{"begin decides by state", testDecisions},
	{"unanswered begin", testUnanswered},
	{"report of unanswered begins", testReleaseUnanswered},
	{"conflict", testConflict},
	{"worker lost", testWorkerLost},
	{"lease that ended in an outage", testAway},
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
	{"sweep of some queues", testSkippedQueues},
	{"sweeps at once", testSweepTogether},
	{"reject a taken id", testRejectTaken},
	{"canceled before its message", testTellCanceled},
	{"sent again after a failure", testDuplicate},
	{"sent again is reported once", testDuplicateOnce},
	{"sent again without a report", testDuplicateSilent},
	{"sent again and again", testDuplicateFlood},
	{"fields of failures", testFailureFields},
	{"clock of events", testClock},
	{"feed", testFeed},
	{"feed of single jobs", testFeedOfJobs},
	{"feed from an unusable position", testFeedReset},
	{"life of a job", testLife},
	{"readers", testReaders},
	{"force", testForce},
	{"forced to run later", testForceLater},
	{"forced to run later and given back", testForceLaterReleased},
	{"forced to run later, found twice", testLaterSince},
	{"forced to run later at its failure", testForceLaterFailed},
	{"duplicate of a job that starts later", testDuplicateOfLater},
	{"another run while one waits", testRunWaits},
	{"another run recorded while it runs", testRunRecordedMeanwhile},
	{"forced to run after the last start", testForcedForLater},
	{"forced to run later before it has begun", testForceLaterUnbegun},
	{"message beside a forced run that starts later", testNowBesideLater},
	{"lost message beside a run that starts later", testStalledBesideLater},
	{"time of a run that was given up", testNoTimeIsLeft},
}

// otherTests need documents, the outbox or the database itself.
var otherTests = []suiteTest{
	{"stale fence", testFence},
	{"effects are one transaction", testEffectAtomicity},
	{"forced while a later run waits", testForcedWhileRunWaits},
	{"forced and only to be recognized", testForcedRepeated},
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
	{"deliveries sent again and again", testResentDeliveries},
	{"receivers that are down", testOutages},
	{"paths that are down", testOutageOfAPath},
	{"what speaks for others", testOutageOfSome},
	{"claims that are extended", testExtendedClaims},
	{"stage and activate", testActivate},
	{"activation refuses gaps", testActivateRefuses},
	{"staged work of the lost", testStagedLeftovers},
	{"busy document", testBusy},
	{"order of a document's jobs", testOrder},
	{"order beside a job that waits", testOrderWaits},
	{"order of removals", testOrderRemoval},
	{"order of a removal and an ingest of an address", testOrderAddress},
	{"order whatever the outbox does", testOrderOutbox},
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
	{"answers of the gateway", testAnswers},
	{"answers of the gateway at once", testAnswersTogether},
	{"answers of a forced job", testAnswersForced},
	{"answers of the lost", testAnswersFenced},
	{"answers that are not used any more", testExpireAnswers},
	{"checks by a model", testChecks},
	{"derived contents", testDerived},
	{"derived contents at once", testDerivedTogether},
	{"decks", testDecks},
	{"the right to work on a document", testHoldDocument},
	{"the right to work on a document, asked for at once", testHoldDocumentTogether},
	{"keys of a version", testVersionKeys},
	{"terms of a staged version", testStagedTerms},
	{"terms staged hide nothing", testStagedTermsHideNothing},
	{"terms staged by an earlier attempt", testStagedTermsAgain},
	{"terms staged in part", testStagedTermsInPart},
	{"contexts of chunks", testContexts},
	{"contexts of equal chunks", testContextsOfEqualChunks},
	{"vectors with a context", testContextVectors},
	{"reuse is counted", testReuseCounted},
	{"keep under other bytes", testKeepOtherBytes},
	{"delete", testDelete},
	{"delete what was made of a document", testDeleteMade},
	{"delete what was made of a former version", testDeleteMadeOfFormer},
	{"purge what was derived of a document", testPurgeDerived},
	{"delete the decks of a document", testDeleteDecks},
	{"delete what was read by address", testDeleteAddress},
	{"delete what was read by address of a named document", testDeleteAddressNamed},
	{"delete what was read by an address with another query", testDeleteAddressOfQueries},
	{"delete a document's outputs", testDeleteOutputs},
	{"collect superseded versions", testCollectSuperseded},
	{"collect staged leftovers", testCollectStaged},
	{"long version replaced", testLongReplaced},
	{"long version replaced before the old chunks are gone", testLongReplacedAgain},
	{"long document deleted", testLongDeleted},
	{"long version given up", testLongGivenUp},
	{"bulk", testBulk},
	{"search", testSearch},
	{"examine", testExamine},
	{"search within sets", testSearchFilters},
	{"search within documents", testSearchWithin},
	{"search narrowly", testSearchNarrowly},
	{"search explained", testSearchExplains},
	{"what a search marks", testSearchMarks},
	{"what a search marks in many hits", testSearchMarksEach},
	{"what a score of a model's vectors means", testSearchWorth},
	{"search in order", testSearchOrder},
	{"search for anything", testSearchOddities},
	{"search without what is excluded", testSearchExcludes},
	{"search by what questions mean", testQuestions},
	{"search with many operators", testSearchOperators},
	{"search in all scripts", testSearchScripts},
	{"search whatever the letters are made of", testSearchLetters},
	{"search for words of Turkish", testSearchTurkish},
	{"search without a match", testSearchNeighbours},
	{"search by BM25", testSearchBM25},
	{"search by what a question repeats", testSearchRepeats},
	{"rarity of words", testRarity},
	{"search by the leg that tells", testSearchExcess},
	{"search with a model, by the order of words", testSearchPairs},
	{"search behind the leg that tells", testSearchTail},
	{"search by what is known", testSearchKnown},
	{"search in each language", testSearchLanguages},
	{"search with stop words of another language", testSearchForeignStops},
	{"search in many languages", testSearchManyLanguages},
	{"search by parts and order of words", testSearchClosely},
	{"what a score means", testSearchScore},
	{"search by exact statistics", testSearchStatistics},
	{"documents by name", testDocumentList},
	{"documents with details", testDocumentDetails},
	{"passages", testPassages},
	{"passages of one set", testPassageScope},
	{"outlines", testOutlines},
	{"agent runs", testAgentRuns},
	{"workers at once", testTogether},
	{"begins at once", testBeginsTogether},
	{"completions at once", testCompletionsTogether},
	{"begins in a batch", testBeginsAsAlone},
	{"completions in a batch", testCompletionsAsAlone},
	{"batches in opposite order", testOppositeBatches},
	{"replay", testReplay},
	{"ids of replays", testReplayIDs},
	{"replays at once", testReplayTogether},
	{"dead letters by filter", testLetterFilters},
	{"purge", testPurge},
	{"retry by hand", testRequeue},
	{"retry by hand beside others", testRequeueAfter},
	{"submit once", testSubmitOnce},
	{"submit forced", testSubmitForced},
	{"submit once, all together", testSubmitTogether},
	{"submit for a busy document", testSubmitBusy},
	{"retry beside a later run", testRetryBesideLater},
	{"forced to run later is kept", testForceLaterIsKept},
	{"a job that starts later is not active", testLaterIsNotActive},
	{"submit for later", testRunAt},
	{"jobs by filter", testJobFilters},
	{"rows of results", testResults},
	{"outcomes", testOutcomes},
	{"overview", testOverview},
	{"find jobs", testFindJobs},
	{"find large jobs", testLargeJobs},
	{"context of a job", testJobContext},
	{"groups of dead letters", testLetterGroups},
	{"versions of a document", testDocumentVersions},
	{"what versions changed", testVersionChanges},
	{"webhooks of a task's course", testCourse},
	{"outgoing events", testOutgoing},
	{"outgoing events in pages", testOutgoingPages},
	{"outgoing results", testOutgoingResults},
	{"outgoing numbers", testOutgoingNumbers},
	{"publisher behind", testBehind},
	{"one publisher", testPublishers},
	{"expired events", testExpireEvents},
	{"schedules", testSchedules},
	{"concurrent changes of schedules", testConcurrentChanges},
	{"firings", testFiring},
	{"taken firing", testTakenFiring},
	{"changed firing", testChangedFiring},
	{"firings that overlap", testOverlap},
	{"schedules that are stopped", testStoppedSchedule},
	{"expired events in parts", testExpireEventsInParts},
	{"expired jobs", testExpireJobs},
	{"jobs that are needed", testNeededJobs},
	{"expired deliveries", testExpireDeliveries},
	{"children of a job", testChildren},
	{"blobs that failed", testFailedBlobs},
	{"children of other jobs", testPendingChildren},
	{"blobs of documents", testBlobsOfDocuments},
	{"no Cognee", testCogneeOff},
	{"versions for Cognee", testCogneeVersions},
	{"deletes for Cognee", testCogneeDeletes},
	{"deletes for Cognee after a pause", testCogneeDeletesAfterAPause},
	{"changes while Cognee fails", testCogneeChangesMeanwhile},
	{"fence for Cognee", testCogneeFence},
	{"refusals of Cognee", testCogneeRefusals},
	{"Cognee gives up", testCogneeGivesUp},
	{"outage of Cognee", testCogneeOutage},
	{"cognify", testCognify},
	{"reconcile Cognee", testCogneeReconcile},
	{"two tenants, one id", testTwoTenants},
	{"check", testCheck},
}

// costly are those of otherTests that RunAgain leaves out: thousands of rows, many at once, or the ranking of many
// questions. Each method and SQL function that they call is called by another test too.
var costly = []string{
	"long version replaced", "long version replaced before the old chunks are gone", "long version given up",
	"many chunks",
	"begins in a batch", "completions at once", "batches in opposite order",
	"search narrowly", "search for anything", "search in all scripts", "search in many languages",
	"search behind the leg that tells", "search by the leg that tells", "search within documents",
	"what a search marks in many hits", "search whatever the letters are made of", "search for words of Turkish",
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

// RunAgain runs the suite in another mode of a store that passes Run, e.g. with other keys: without the tests that take
// two thirds of the time and ask nothing of a mode that the others don't.
func RunAgain(t *testing.T, open Open) {
	RunJobs(t, open)
	runAll(t, open, slices.DeleteFunc(slices.Clone(otherTests), func(c suiteTest) bool {
		return slices.Contains(costly, c.name)
	}))
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
