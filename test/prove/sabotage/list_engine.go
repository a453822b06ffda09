package sabotage

// inTheEngine are the sabotages of the engine.
func inTheEngine() []Sabotage {
	by := func(names ...string) []Test { return tests(engine, names...) }
	return []Sabotage{
		{
			Name: "deleted-before-the-commit", Breaks: []string{"I1"}, Dir: engine, Func: "Engine.succeed",
			Old:    "return e.deps.Store.Complete(ctx, store.Completion{",
			New:    "a.acknowledge(ctx); return e.deps.Store.Complete(ctx, store.Completion{",
			Suites: onEngine, Tests: by("TestEveryCallFails", "TestStaleFence"),
		},
		{
			Name: "deleted-without-a-commit", Breaks: []string{"I1"}, Dir: engine, Func: "Engine.uncommitted",
			Old: `a.putBack(ctx, e.cfg.Lease); }; return Lost, ""`, New: `a.acknowledge(ctx); }; return Lost, ""`,
			Suites: onEngine, Tests: by("TestEveryCallFails"),
		},
		{
			Name: "stumbled-is-dropped", Breaks: []string{"I1"}, Dir: engine, Func: "Engine.postpone",
			Old: "wait := e.throttle.store.failed(", New: "d.acknowledge(ctx); wait := e.throttle.store.failed(",
			Suites: onEngine, Tests: by("TestEveryCallFails", "TestStoreOutage"),
		},
		{
			Name: "sweep-marks-and-sends-nothing", Breaks: []string{"I1"}, Dir: engine, Func: "Engine.sendRecorded",
			Old: "if err := queue.SendEnsured(ctx, q, text, queue.SendOptions{}); err != nil {", New: "if err := ctx.Err(); err != nil {",
			Suites: onEngine, Tests: by("TestUnsentIsSent", "TestLostMessageIsSentAgain"),
		},
		{
			Name: "moved-copy-is-another-message", Breaks: []string{"I2"}, Dir: engine, Func: "delivery.source",
			Old: "if d.origin != (task.Origin{}) {", New: "if d.origin != (task.Origin{}) && d.queue == nil {",
			Suites: onEngine, Tests: by("TestEveryCallFails", "TestMovedByPriority"),
		},
		{
			Name: "message-not-kept-hidden", Breaks: []string{"I2"}, Dir: engine, Func: "beat.loop",
			Old: "b.renewMessage(ctx); if b.renewJob(ctx) {", New: "if b.renewJob(ctx) {",
			Suites: onEngine, Tests: by("TestHeartbeatKeepsLeases"),
		},
		{
			Name: "job-lease-not-extended", Breaks: []string{"I2"}, Dir: engine, Func: "beat.loop",
			Old: "b.renewMessage(ctx); if b.renewJob(ctx) {", New: "b.renewMessage(ctx); if true {",
			Suites: onEngine, Tests: by("TestHeartbeatKeepsLeases"),
		},
		{
			Name: "stale-holder-works-on", Breaks: []string{"I4"}, Dir: engine, Func: "beat.write",
			Old:    `b.engine.obs.Renewed("job", "lost"); b.end(ErrLeaseLost)`,
			New:    `b.engine.obs.Renewed("job", "lost")`,
			Suites: onEngine, Tests: by("TestLostLeaseStopsTheHandler"),
		},
		{
			Name: "heartbeat-beside-the-commit", Breaks: []string{"I4"}, Dir: engine, Func: "Engine.run",
			Old: "hold.stop()", New: "defer hold.stop()",
			Suites: onEngine, Tests: by("TestHeartbeatEndsBeforeSettling"),
		},
		{
			Name: "retried-forever", Breaks: []string{"I6"}, Dir: engine, Func: "Engine.retryOrFail",
			Old: "if a.begun.Attempt >= a.begun.MaxAttempts {", New: "if a.begun.Attempt > a.begun.MaxAttempts {",
			Suites: onEngine, Tests: by("TestErrorsBySort"),
		},
		{
			Name: "permanent-is-retried", Breaks: []string{"I6"}, Dir: engine, Func: "Engine.commit",
			Old:    `case !taskerr.Classes[failure.Class].Retryable: return e.fail(ctx, a, failure, "permanent")`,
			New:    "",
			Suites: onEngine, Tests: by("TestErrorsBySort"),
		},
		{
			Name: "dead-letter-copied-each-time", Breaks: []string{"I6"}, Dir: engine, Func: "Engine.buryAgain",
			Old: "if ref == nil || ref.Sent {", New: "if ref == nil {",
			Suites: onEngine, Tests: by("TestDeadLetterIsCopiedOnce"),
		},
		{
			Name: "second-dead-letter-is-lost", Breaks: []string{"I6"}, Dir: engine, Func: "Engine.buryAgain",
			Old: "a.putBack(ctx, 0)", New: "a.acknowledge(ctx)",
			Suites: onEngine, Tests: by("TestBothDeadLettersAreCopied"),
		},
		{
			Name: "dead-letter-not-copied", Breaks: []string{"I6"}, Dir: engine, Func: "Engine.copyLetter",
			Old:    "if err := e.sendEnvelope(ctx, env); err != nil {",
			New:    "if err := ctx.Err(); err != nil || env.ID == \"\" {",
			Suites: onEngine, Tests: by("TestErrorsBySort", "TestBadMessagesAreDeadLettered"),
		},
		{
			Name: "cancel-is-not-asked-for", Breaks: []string{"I7"}, Dir: engine, Func: "watch.cancel",
			Old: "t.end(ErrCanceled)", New: "_ = t",
			Suites: onEngine, Tests: by("TestCancelIsHeardSoon", "TestCancelInADrain"),
		},
		{
			Name: "heartbeat-ignores-a-cancel", Breaks: []string{"I7"}, Dir: engine, Func: "beat.write",
			Old: "b.end(ErrCanceled)", New: "_ = ErrCanceled",
			Suites: onEngine, Tests: by("TestCancelQuestionsBackOff"),
		},
		{
			Name: "failed-heartbeat-forgets-events", Breaks: []string{"I8"}, Dir: engine, Func: "beat.write",
			Old: "b.journal.untake(taken)", New: "",
			Suites: onEngine, Tests: by("TestFailedHeartbeatKeepsEvents"),
		},
		{
			Name: "more-than-free-slots", Breaks: []string{"I9"}, Dir: engine, Func: "slots.tryTake",
			Old: "n := s.total - s.used", New: "n := 2*s.total - s.used",
			Suites: onEngine, Tests: by("TestConcurrencyIsTheLimit", "TestPriorities"),
		},
		{
			Name: "unstarted-stays-hidden", Breaks: []string{"I9"}, Dir: engine, Func: "Engine.releaseUnstarted",
			Old: "if err := m.Lease.Release(ctx, 0); err != nil {", New: "if err := ctx.Err(); err != nil {",
			Suites: onEngine, Tests: by("TestDrainReleasesTheUnstarted"),
		},
		{
			Name: "drain-fails-the-running", Breaks: []string{"I9"}, Dir: engine, Func: "Engine.commit",
			Old: `case errors.Is(cause, ErrDraining): return e.release(ctx, a, 0, "released for shutdown")`, New: "",
			Suites: onEngine, Tests: by("TestDrainReleasesWhatTakesTooLong"),
		},
		{
			Name: "outage-of-the-store-counts", Breaks: []string{"I9"}, Dir: engine, Func: "Engine.blame",
			Old: "if failure.Dependency != taskerr.Database || a.verdict == blamed {", New: "if true {",
			Suites: onEngine, Tests: by("TestOutageFoundByTheCommit"),
		},
		{
			Name: "breaker-never-opens", Breaks: []string{"I9"}, Dir: engine, Func: "circuit.fails",
			Old: "down = mine || len(c.failed) >= breakerTrips", New: "down = mine",
			Suites: onEngine, Tests: by("TestBreakerSparesAttempts"),
		},
		{
			Name: "probe-is-not-asked", Breaks: []string{"I9"}, Dir: engine, Func: "circuit.fails",
			Old: "case !c.runProbe(ctx, now):", New: "case false:",
			Suites: onEngine, Tests: by("TestOutageIsProbed"),
		},
		{
			Name: "probe-is-believed-forever", Breaks: []string{"I9"}, Dir: engine, Func: "circuit.fails",
			Old: "case len(c.failed) >= breakerDoubts:", New: "case false:",
			Suites: onEngine, Tests: by("TestProbeThatLies"),
		},
		{
			Name: "one-job-opens-the-breaker", Breaks: []string{"I11"}, Dir: engine, Func: "circuit.fails",
			Old: "c.failed[id] = true", New: "c.failed[time.Now().String()] = true",
			Suites: onEngine, Tests: by("TestPoisonWithoutAProbeEnds"),
		},
		{
			Name: "probe-is-not-believed", Breaks: []string{"I11"}, Dir: engine, Func: "circuit.probeDecides",
			Old: "return c.probe() != nil && !c.doubted", New: "return false",
			Suites: onEngine, Tests: by("TestPoisonEndsAndBlocksNoOther", "TestOutageIsProbed"),
		},
		{
			Name: "pauses-don't-grow", Breaks: []string{"I11"}, Dir: engine, Func: "circuit.longest",
			Old: "if c.probeDecides() { return c.most", New: "if true { return c.most",
			Suites: onEngine, Tests: by("TestCrasherWithoutAProbe"),
		},
		{
			Name: "crashers-are-spared-forever", Breaks: []string{"I11"}, Dir: engine, Func: "circuit.spare",
			Old: "if s.times >= suspectAfter && c.up.After(s.at) {", New: "if s.times < 0 {",
			Suites: onEngine, Tests: by("TestCrashersEnd", "TestDatabaseCrashersEnd"),
		},
		{
			Name: "failure-is-judged-before-the-engines-calls", Breaks: []string{"I9"},
			Dir: engine, Func: "outages.happenedSince",
			Old: "calls := maps.Clone(a.calls)", New: "calls := map[chan struct{}]time.Time{}",
			Suites: onEngine, Tests: by("TestFailureIsJudgedAfterTheEnginesCalls"),
		},
		{
			Name: "call-that-was-held-up-is-fine", Breaks: []string{"I9"}, Dir: engine, Func: "outages.start",
			Old: "if now.Sub(began) >= heldUp {", New: "if false {",
			Suites: onEngine, Tests: by("TestFailureIsJudgedAfterTheEnginesCalls"),
		},
		{
			Name: "cut-off-connection-is-the-tasks-fault", Breaks: []string{"I9"}, Dir: engine, Func: "Engine.judge",
			Old: "held || errors.Is(failure, store.ErrCutOff)", New: "held",
			Suites: onEngine, Tests: by("TestCutOffIsSpared"),
		},
		{
			Name: "database-without-connections-costs-attempts", Breaks: []string{"I9"}, Dir: engine, Func: "Engine.judge",
			Old: "if errors.Is(failure, store.ErrNotServing) {", New: "if false {",
			Suites: onEngine, Tests: by("TestTurnedAwayCostsNoAttempt"),
		},
		{
			Name: "doubt-excuses-forever", Breaks: []string{"I11"}, Dir: engine, Func: "attempt.excused",
			Old: "if a.suspicious() {", New: "if false {",
			Suites: onEngine, Tests: by("TestDoubtEndsOverRestarts", "TestDoubtEndsOverWorkers"),
		},
		{
			Name: "suspicion-outlives-its-series", Breaks: []string{"I9"}, Dir: engine, Func: "attempt.suspicious",
			Old: "return a.begun.Releases >= suspectAfter", New: "return true",
			Suites: onEngine, Tests: by("TestSuspicionEndsWithTheJob"),
		},
		{
			Name: "waits-are-not-bounded", Breaks: []string{"I11"}, Dir: engine, Func: "Engine.giveBackAtMost",
			Old: "if b.waited < b.most &&", New: "if",
			Suites: onEngine, Tests: by("TestWaitsHaveAnEnd"),
		},
		{
			Name: "held-back-forever", Breaks: []string{"I11"}, Dir: engine, Func: "Engine.putOff",
			Old: "if left <= 0 {", New: "if false {",
			Suites: onEngine, Tests: by("TestWaitsHaveAnEnd"),
		},
		{
			Name: "releases-are-not-bounded", Breaks: []string{"I11"}, Dir: engine, Func: "Engine.giveBackAtMost",
			Old: "(!b.tried || a.begun.Releases < e.tuning().MaxReleases)", New: "true",
			Suites: onEngine, Tests: by("TestReleasesHaveAnEnd"),
		},
		{
			Name: "commit-is-tried-forever", Breaks: []string{"I11"}, Dir: engine, Func: "Engine.transact",
			Old: "if failed >= commitTries {", New: "if false {",
			Suites: onEngine, Tests: by("TestDatabaseCrashersEnd", "TestLoneDatabaseCrasherEnds"),
		},
		{
			Name: "outcome-in-hand-is-begun-again", Breaks: []string{"I9"}, Dir: engine, Func: "Engine.handle",
			Old: "if e.uncommittedJobs.contains(t.ID) {", New: "if false {",
			Suites: onEngine, Tests: by("TestOutcomeInHandIsNotBegunAgain"),
		},
		{
			Name: "database-without-writes-counts", Breaks: []string{"I9"}, Dir: engine, Func: "Engine.stayHeld",
			Old: "if err != nil { return false", New: "if err != nil && false { return false",
			Suites: onEngine, Tests: by("TestOutcomeOutlivesAReadOnlyDatabase"),
		},
		{
			Name: "releases-are-not-kept", Breaks: []string{"I11"}, Dir: functions, Func: "aw_release",
			Old: "if coalesce((p ->> 'waits')::boolean, false) then", New: "if false then",
			Suites: onPostgres, Tests: cases("releases are counted"),
		},
		{
			Name: "released-tasks-return-at-once", Breaks: []string{"I11"}, Dir: engine, Func: "circuit.refuse",
			Old: "if crowd := len(c.waiting) - crowdSize; crowd > 0 {", New: "if crowd := 0; crowd > 0 {",
			Suites: onEngine, Tests: by("TestOthersRunWhileManyWait"),
		},
		{
			Name: "half-open-lets-all-through", Breaks: []string{"I9"}, Dir: engine, Func: "circuit.enter",
			Old: "case c.state == halfOpen && (c.trials.full(suspect) || c.yields(id)), suspect && c.alone != \"\":", New: "case suspect && c.alone != \"\":",
			Suites: onEngine, Tests: by("TestBreakerProbesWithOne"),
		},
		{
			Name: "late-failure-counts", Breaks: []string{"I9"}, Dir: engine, Func: "circuit.fails",
			Old: "known = known || c.downAfter(began)", New: "",
			Suites: onEngine, Tests: by("TestLateFailureIsSpared"),
		},
		{
			Name: "failure-before-another-probe-counts", Breaks: []string{"I9"}, Dir: engine, Func: "circuit.fails",
			Old: "case c.downAfter(began):", New: "case false:",
			Suites: onEngine, Tests: by("TestBreakerSparesWhoFailedBeforeTheProbe"),
		},
		{
			Name: "unanswered-begin-counts", Breaks: []string{"I9"}, Dir: engine, Func: "Engine.callBegin",
			Old: "e.begins.lost(a.task.ID, asking.ID)", New: "_ = asking",
			Suites: onEngine, Tests: by("TestUnansweredBeginCostsNoAttempt"),
		},
		{
			Name: "lease-that-ended-in-an-outage-is-lost", Breaks: []string{"I9"}, Dir: engine, Func: "Engine.callBegin",
			Old: "asking.Away = away + carriedOutLate", New: "_ = carriedOutLate",
			Suites: onEngine, Tests: by("TestHoldersAreFirstAfterAnOutage"),
		},
		{
			Name: "answered-queries-end-an-outage-of-writes", Breaks: []string{"I9"}, Dir: engine, Func: "outages.query",
			Old: "return a.start(func(time.Time, time.Time, bool) {})", New: "return a.call()",
			Suites: onEngine, Tests: by("TestAway"),
		},
		{
			Name: "late-failure-begins-another-outage", Breaks: []string{"I9"}, Dir: engine, Func: "absence.ended",
			Old: " && began.After(w.until):", New: ":", Suites: onEngine, Tests: by("TestAway"),
		},
		{
			Name: "refused-commit-ends-an-outage-of-writes", Breaks: []string{"I9"}, Dir: engine, Func: "outages.start",
			Old: "end(began, now, failed || refused)", New: "end(began, now, failed)", Suites: onEngine, Tests: by("TestAway"),
		},
		{
			Name: "renewal-after-an-outage-takes-its-time", Breaks: []string{"I9"}, Dir: engine, Func: "beat.loop",
			Old: "renew.Reset(jittered(b.engine.commitPause()))", New: "renew.Reset(jittered(lease / 3))",
			Suites: onEngine, Tests: by("TestRenewsSoonAfterAnOutage"),
		},
		{
			Name: "holders-whose-calls-hang-are-late", Breaks: []string{"I9"}, Dir: engine, Func: "outages.away",
			Old: "if a.writes.hung {", New: "if false {",
			Suites: onEngine, Tests: by("TestAway"),
		},
		{
			Name: "outage-ends-leases", Breaks: []string{"I9"}, Dir: functions, Func: "aw_begin",
			Old: "and not v_orphan and j.cancel_requested_at is null then -- I9: the holder",
			New: "and false then -- the holder", Suites: onPostgres, Tests: cases("lease that ended in an outage"),
		},
		{
			Name: "unanswered-begin-is-not-reported", Breaks: []string{"I9"}, Dir: engine, Func: "Engine.reportUnanswered",
			Old: "due := e.begins.unreported(now, e.cfg.Lease)", New: "var due []store.UnansweredBegins",
			Suites: onEngine, Tests: by("TestUnansweredBeginOfAnotherWorker"),
		},
		{
			Name: "unanswered-begin-is-reported-once", Breaks: []string{"I9"}, Dir: engine, Func: "begins.unreported",
			Old: "s.reported.IsZero() || now.Sub(s.reported) <= lease", New: "s.reported.IsZero()",
			Suites: onEngine, Tests: by("TestUnansweredBeginOfAnotherWorker"),
		},
		{
			Name: "report-takes-a-live-attempt", Breaks: []string{"I4", "I9"}, Dir: functions,
			Func: "aw_is_unanswered", Old: "and begin_ids ? j.begin_id", New: "",
			Suites: onPostgres, Tests: cases("report of unanswered begins"),
		},
		{
			Name: "refused-commit-is-dropped", Breaks: []string{"I9"}, Dir: engine, Func: "Engine.transact",
			Old: "if !transient(err) && !refused(err) ||", New: "if !transient(err) ||",
			Suites: onEngine, Tests: by("TestRefusedCommitIsKept"),
		},
		{
			Name: "made-attempt-is-not-counted", Breaks: []string{"I4", "I6"}, Dir: functions, Func: "aw_begin",
			Old: "coalesce(p -> 'unanswered' ? j.begin_id, false);", New: "jsonb_array_length(p -> 'unanswered') > 0;",
			Suites: onPostgres, Tests: cases("unanswered begin"),
		},
		{
			Name: "shared-loss-counts", Breaks: []string{"I9"}, Dir: functions, Func: "aw_loss_counts",
			Old: "elsif j.lost_fence = j.fence then", New: "elsif false then",
			Suites: onPostgres, Tests: cases("jobs lost together"),
		},
		{
			Name: "shared-losses-never-count", Breaks: []string{"I6"}, Dir: functions, Func: "aw_loss_counts",
			Old: "if cardinality(j.lost_before) >= 4 then", New: "if false then",
			Suites: onPostgres, Tests: cases("jobs lost together each time"),
		},
		{
			Name: "suspects-run-together", Breaks: []string{"I9"}, Dir: functions, Func: "aw_suspect_waits",
			Old: "or o.lease_expires_at <= v_dead and o.id < j.id and o.id <> all (v_locked)", New: "",
			Suites: onPostgres, Tests: cases("jobs lost together, begun at once"),
		},
		{
			Name: "outbox-is-not-woken", Breaks: []string{"webhooks"}, Dir: engine, Func: "Engine.after",
			Old: "if s.Deliveries > 0 {", New: "if s.Deliveries > 1 {",
			Suites: onEngine, Tests: by("TestCommitWakesTheOutbox"),
		},
	}
}
