package sabotage

// inTheEngine are the sabotages of the way of one task.
func inTheEngine() []Sabotage {
	const engine = "internal/engine/"
	by := func(names ...string) []Test { return tests("internal/engine", names...) }
	return []Sabotage{
		{
			Name: "deleted-before-the-commit", Breaks: []string{"I1"}, File: engine + "outcome.go",
			Old:    "\t\treturn e.deps.Store.Complete(ctx, store.Completion{",
			New:    "\t\ta.acknowledge(ctx)\n\t\treturn e.deps.Store.Complete(ctx, store.Completion{",
			Suites: onEngine, Tests: by("TestEveryCallFails", "TestStaleFence"),
		},
		{
			Name: "deleted-without-a-commit", Breaks: []string{"I1"}, File: engine + "outcome.go",
			Old:    "\t\ta.putBack(ctx, e.cfg.Lease)\n\t}\n\treturn Lost, \"\"",
			New:    "\t\ta.acknowledge(ctx)\n\t}\n\treturn Lost, \"\"",
			Suites: onEngine, Tests: by("TestEveryCallFails"),
		},
		{
			Name: "stumbled-is-dropped", Breaks: []string{"I1"}, File: engine + "intake.go",
			Old: "\twait := e.throttle.store.failed(", New: "\td.acknowledge(ctx)\n\twait := e.throttle.store.failed(",
			Suites: onEngine, Tests: by("TestEveryCallFails", "TestStoreOutage"),
		},
		{
			Name: "sweep-marks-and-sends-nothing", Breaks: []string{"I1"}, File: engine + "sweep.go",
			Old: "if err := sendEnsured(ctx, q, text); err != nil {", New: "if err := ctx.Err(); err != nil {",
			Suites: onEngine, Tests: by("TestUnsentIsSent", "TestLostMessageIsSentAgain"),
		},
		{
			Name: "moved-copy-is-another-message", Breaks: []string{"I2"}, File: engine + "delivery.go",
			Old: "if d.origin != (task.Origin{}) {", New: "if d.origin != (task.Origin{}) && d.queue == nil {",
			Suites: onEngine, Tests: by("TestEveryCallFails", "TestMovedByPriority"),
		},
		{
			Name: "message-not-kept-hidden", Breaks: []string{"I2"}, File: engine + "heartbeat.go",
			Old: "\t\t\tb.renewMessage(ctx)\n\t\t\tb.renewJob(ctx)\n", New: "\t\t\tb.renewJob(ctx)\n",
			Suites: onEngine, Tests: by("TestHeartbeatKeepsLeases"),
		},
		{
			Name: "job-lease-not-extended", Breaks: []string{"I2"}, File: engine + "heartbeat.go",
			Old: "\t\t\tb.renewMessage(ctx)\n\t\t\tb.renewJob(ctx)\n", New: "\t\t\tb.renewMessage(ctx)\n",
			Suites: onEngine, Tests: by("TestHeartbeatKeepsLeases"),
		},
		{
			Name: "stale-holder-works-on", Breaks: []string{"I4"}, File: engine + "heartbeat.go",
			Old:    "\t\tb.engine.obs.Renewed(\"job\", \"lost\")\n\t\tb.end(ErrLeaseLost)\n",
			New:    "\t\tb.engine.obs.Renewed(\"job\", \"lost\")\n",
			Suites: onEngine, Tests: by("TestLostLeaseStopsTheHandler"),
		},
		{
			Name: "heartbeat-beside-the-commit", Breaks: []string{"I4"}, File: engine + "attempt.go",
			Old: "\thold.stop() // no renewal may race the settlement\n", New: "\tdefer hold.stop()\n",
			Suites: onEngine, Tests: by("TestHeartbeatEndsBeforeSettling"),
		},
		{
			Name: "retried-for-ever", Breaks: []string{"I6"}, File: engine + "attempt.go",
			Old: "if a.begun.Attempt >= a.begun.MaxAttempts {", New: "if a.begun.Attempt > a.begun.MaxAttempts {",
			Suites: onEngine, Tests: by("TestErrorsBySort"),
		},
		{
			Name: "permanent-is-retried", Breaks: []string{"I6"}, File: engine + "attempt.go",
			Old: "case !taskerr.Classes[failure.Class].Retryable:\n\t\treturn e.fail(ctx, a, failure, " +
				"\"permanent\")\n",
			New:    "",
			Suites: onEngine, Tests: by("TestErrorsBySort"),
		},
		{
			Name: "letter-copied-each-time", Breaks: []string{"I6"}, File: engine + "deadletter.go",
			Old: "if ref == nil || ref.Sent {", New: "if ref == nil {",
			Suites: onEngine, Tests: by("TestDeadLetterIsCopiedOnce"),
		},
		{
			Name: "second-letter-is-forgotten", Breaks: []string{"I6"}, File: engine + "deadletter.go",
			Old: "a.putBack(ctx, 0)", New: "a.acknowledge(ctx)",
			Suites: onEngine, Tests: by("TestBothDeadLettersAreCopied"),
		},
		{
			Name: "letter-not-copied", Breaks: []string{"I6"}, File: engine + "deadletter.go",
			Old:    "if err := e.sendEnvelope(ctx, env); err != nil {",
			New:    "if err := ctx.Err(); err != nil || env.ID == \"\" {",
			Suites: onEngine, Tests: by("TestErrorsBySort", "TestBadMessagesAreDeadLettered"),
		},
		{
			Name: "cancel-is-not-asked-for", Breaks: []string{"I7"}, File: engine + "cancels.go",
			Old: "\t\tt.end(ErrCanceled)\n", New: "\t\t_ = t\n",
			Suites: onEngine, Tests: by("TestCancelIsHeardSoon", "TestCancelInADrain"),
		},
		{
			Name: "heartbeat-ignores-a-cancel", Breaks: []string{"I7"}, File: engine + "heartbeat.go",
			Old: "\t\t\tb.end(ErrCanceled)\n", New: "\t\t\t_ = ErrCanceled\n",
			Suites: onEngine, Tests: by("TestCancelQuestionsBackOff"),
		},
		{
			Name: "failed-heartbeat-forgets-events", Breaks: []string{"I8"}, File: engine + "heartbeat.go",
			Old: "\tb.journal.untake(told)\n", New: "",
			Suites: onEngine, Tests: by("TestFailedHeartbeatKeepsTheStory"),
		},
		{
			Name: "more-than-free-slots", Breaks: []string{"I9"}, File: engine + "slots.go",
			Old: "n := s.total - s.used", New: "n := 2*s.total - s.used",
			Suites: onEngine, Tests: by("TestConcurrencyIsTheLimit", "TestPriorities"),
		},
		{
			Name: "unstarted-stays-hidden", Breaks: []string{"I9"}, File: engine + "poll.go",
			Old: "if err := m.Lease.Release(ctx, 0); err != nil {", New: "if err := ctx.Err(); err != nil {",
			Suites: onEngine, Tests: by("TestDrainReleasesTheUnstarted"),
		},
		{
			Name: "drain-fails-the-running", Breaks: []string{"I9"}, File: engine + "attempt.go",
			Old:    "case errors.Is(cause, ErrDraining):\n\t\treturn e.release(ctx, a, 0, \"released for shutdown\")\n",
			New:    "",
			Suites: onEngine, Tests: by("TestDrainReleasesWhatTakesTooLong"),
		},
		{
			Name: "outage-of-the-store-counts", Breaks: []string{"I9"}, File: engine + "transact.go",
			Old: "if failure.Dependency != taskerr.Database || a.verdict == blamed {", New: "if true {",
			Suites: onEngine, Tests: by("TestOutageFoundByTheCommit"),
		},
		{
			Name: "breaker-never-opens", Breaks: []string{"I9"}, File: engine + "circuit.go",
			Old: "down = mine || len(c.failed) >= breakerTrips", New: "down = mine",
			Suites: onEngine, Tests: by("TestBreakerSparesAttempts"),
		},
		{
			Name: "probe-is-not-asked", Breaks: []string{"I9"}, File: engine + "circuit.go",
			Old: "\tcase !c.runProbe(ctx, now):\n", New: "\tcase false:\n",
			Suites: onEngine, Tests: by("TestOutageIsProbed"),
		},
		{
			Name: "probe-is-believed-for-ever", Breaks: []string{"I9"}, File: engine + "circuit.go",
			Old: "case len(c.failed) >= breakerDoubts:", New: "case false:",
			Suites: onEngine, Tests: by("TestProbeThatLies"),
		},
		{
			Name: "one-job-opens-the-breaker", Breaks: []string{"I11"}, File: engine + "circuit.go",
			Old: "\tc.failed[id] = true\n", New: "\tc.failed[time.Now().String()] = true\n",
			Suites: onEngine, Tests: by("TestPoisonWithoutAProbeEnds"),
		},
		{
			Name: "probe-is-not-believed", Breaks: []string{"I11"}, File: engine + "circuit.go",
			Old: "return c.probe() != nil && !c.doubted", New: "return false",
			Suites: onEngine, Tests: by("TestPoisonEndsAndHoldsUpNobody", "TestOutageIsProbed"),
		},
		{
			Name: "pauses-don't-grow", Breaks: []string{"I11"}, File: engine + "circuit.go",
			Old: "\tif c.probeDecides() {\n\t\treturn c.most\n", New: "\tif true {\n\t\treturn c.most\n",
			Suites: onEngine, Tests: by("TestCrasherWithoutAProbe"),
		},
		{
			Name: "crashers-are-spared-for-ever", Breaks: []string{"I11"}, File: engine + "suspects.go",
			Old: "if s.times >= suspectAfter && c.up.After(s.at) {", New: "if s.times < 0 {",
			Suites: onEngine, Tests: by("TestCrashersEnd", "TestDatabaseCrashersEnd"),
		},
		{
			Name: "failure-is-judged-before-the-engines-calls", Breaks: []string{"I9"}, File: engine + "outages.go",
			Old: "for _, ended := range calls {", New: "for _, ended := range calls[:0] {",
			Suites: onEngine, Tests: by("TestFailureIsJudgedAfterTheEnginesCalls"),
		},
		{
			Name: "suspicion-outlives-its-series", Breaks: []string{"I9"}, File: engine + "waits.go",
			Old: "return a.begun.Releases >= suspectAfter", New: "return true",
			Suites: onEngine, Tests: by("TestSuspicionEndsWithTheJob"),
		},
		{
			Name: "waits-are-not-bounded", Breaks: []string{"I11"}, File: engine + "waits.go",
			Old: "if a.begun.Waited < t.WaitMax && ", New: "if ",
			Suites: onEngine, Tests: by("TestWaitsHaveAnEnd"),
		},
		{
			Name: "turned-away-for-ever", Breaks: []string{"I11"}, File: engine + "intake.go",
			Old: "deferred.down != \"\" && e.outdated(d)", New: "false",
			Suites: onEngine, Tests: by("TestWaitsHaveAnEnd"),
		},
		{
			Name: "releases-are-not-bounded", Breaks: []string{"I11"}, File: engine + "waits.go",
			Old: "(!tried || a.begun.Releases < t.MaxReleases)", New: "true",
			Suites: onEngine, Tests: by("TestReleasesHaveAnEnd"),
		},
		{
			Name: "commit-is-tried-for-ever", Breaks: []string{"I11"}, File: engine + "transact.go",
			Old: "if failed >= commitTries {", New: "if false {",
			Suites: onEngine, Tests: by("TestDatabaseCrashersEnd", "TestLoneDatabaseCrasherEnds"),
		},
		{
			Name: "outcome-in-hand-is-begun-again", Breaks: []string{"I9"}, File: engine + "intake.go",
			Old: "if e.uncommittedJobs.contains(t.ID) {", New: "if false {",
			Suites: onEngine, Tests: by("TestOutcomeInHandIsNotBegunAgain"),
		},
		{
			Name: "database-without-writes-counts", Breaks: []string{"I9"}, File: engine + "transact.go",
			Old: "if err != nil {\n\t\treturn false //", New: "if err != nil && false {\n\t\treturn false //",
			Suites: onEngine, Tests: by("TestOutcomeOutlivesAReadOnlyDatabase"),
		},
		{
			Name: "releases-are-not-kept", Breaks: []string{"I11"}, File: functions + "40_attempts.sql",
			Old: "if coalesce((p ->> 'waits')::boolean, false) then", New: "if false then",
			Suites: onPostgres, Tests: cases("releases are kept"),
		},
		{
			Name: "crowd-comes-back-at-once", Breaks: []string{"I11"}, File: engine + "circuit.go",
			Old: "if crowd := len(c.waiting) - crowdSize; crowd > 0 {", New: "if crowd := 0; crowd > 0 {",
			Suites: onEngine, Tests: by("TestOthersRunWhileManyWait"),
		},
		{
			Name: "half-open-lets-all-through", Breaks: []string{"I9"}, File: engine + "circuit.go",
			Old: "case c.state == halfOpen && (c.trial != \"\" || c.yields(id)):", New: "case false:",
			Suites: onEngine, Tests: by("TestBreakerProbesWithOne"),
		},
		{
			Name: "late-failure-counts", Breaks: []string{"I9"}, File: engine + "waits.go",
			Old: "known || c.downAfter(a.started)", New: "known",
			Suites: onEngine, Tests: by("TestLateFailureIsSpared"),
		},
		{
			Name: "unanswered-begin-counts", Breaks: []string{"I9"}, File: engine + "begins.go",
			Old: "e.begins.lost(a.task.ID, asking.ID)", New: "_ = asking",
			Suites: onEngine, Tests: by("TestUnansweredBeginCostsNoAttempt"),
		},
		{
			Name: "made-attempt-is-not-counted", Breaks: []string{"I4", "I6"}, File: functions + "30_begin.sql",
			Old: "coalesce(p -> 'unanswered' ? j.begin_id, false);", New: "jsonb_array_length(p -> 'unanswered') > 0;",
			Suites: onPostgres, Tests: cases("unanswered begin"),
		},
		{
			Name: "outbox-is-not-woken", Breaks: []string{"webhooks"}, File: engine + "outcome.go",
			Old: "if s.Deliveries > 0 {", New: "if s.Deliveries > 1 {",
			Suites: onEngine, Tests: by("TestCommitWakesTheOutbox"),
		},
	}
}
