package sabotage

// inTheEngine are the sabotages of the way of one task.
func inTheEngine() []Sabotage {
	const engine = "internal/engine/"
	by := func(names ...string) []Test { return tests("internal/engine", names...) }
	return []Sabotage{
		{
			Name: "deleted-before-the-commit", Breaks: []string{"I1"}, File: engine + "outcome.go",
			Old: "\t\treturn e.deps.Store.Complete(ctx, store.Completion{", New: "\t\ta.acknowledge(ctx)\n\t\treturn e.deps.Store.Complete(ctx, store.Completion{",
			Suites: onEngine, Tests: by("TestEveryCallFails", "TestStaleFence"),
		},
		{
			Name: "deleted-without-a-commit", Breaks: []string{"I1"}, File: engine + "outcome.go",
			Old: "\t\ta.putBack(ctx, e.cfg.Lease)\n\t}\n\treturn Lost, \"\"", New: "\t\ta.acknowledge(ctx)\n\t}\n\treturn Lost, \"\"",
			Suites: onEngine, Tests: by("TestEveryCallFails"),
		},
		{
			Name: "stumbled-is-dropped", Breaks: []string{"I1"}, File: engine + "intake.go",
			Old: "\twait := e.store.stumbled(", New: "\td.acknowledge(ctx)\n\twait := e.store.stumbled(",
			Suites: onEngine, Tests: by("TestEveryCallFails", "TestStoreOutage"),
		},
		{
			Name: "sweep-marks-and-sends-nothing", Breaks: []string{"I1"}, File: engine + "sweep.go",
			Old: "\t_, err := q.Send(ctx, text, queue.SendOptions{})\n\tif errors.Is", New: "\tvar err error\n\tif errors.Is",
			Suites: onEngine, Tests: by("TestUnsentIsSent", "TestLostMessageIsSentAgain"),
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
			Old: "\t\tb.engine.obs.Renewed(\"job\", \"lost\")\n\t\tb.end(ErrLeaseLost)\n", New: "\t\tb.engine.obs.Renewed(\"job\", \"lost\")\n",
			Suites: onEngine, Tests: by("TestLostLeaseStopsTheHandler"),
		},
		{
			Name: "heartbeat-beside-the-commit", Breaks: []string{"I4"}, File: engine + "attempt.go",
			Old: "\thold.stop() // no renewal may race the settlement\n", New: "\tdefer hold.stop()\n",
			Suites: onEngine, Tests: by("TestHeartbeatEndsBeforeSettling"),
		},
		{
			Name: "retried-for-ever", Breaks: []string{"I6"}, File: engine + "attempt.go",
			Old: "case a.begun.Attempt >= a.begun.MaxAttempts:", New: "case a.begun.Attempt > a.begun.MaxAttempts:",
			Suites: onEngine, Tests: by("TestErrorsBySort"),
		},
		{
			Name: "permanent-is-retried", Breaks: []string{"I6"}, File: engine + "attempt.go",
			Old: "case !job.Classes[failure.Class].Retryable:\n\t\treturn e.fail(ctx, a, failure, \"permanent\")\n", New: "",
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
			Old: "if err := e.sendEnvelope(ctx, env); err != nil {", New: "if err := ctx.Err(); err != nil || env.ID == \"\" {",
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
			Old: "case errors.Is(cause, ErrDraining):\n\t\treturn e.release(ctx, a, 0, \"released for shutdown\")\n", New: "",
			Suites: onEngine, Tests: by("TestDrainReleasesWhatTakesTooLong"),
		},
		{
			Name: "outage-of-the-store-counts", Breaks: []string{"I9"}, File: engine + "transact.go",
			Old: "if failure.Dependency != job.Database {", New: "if true {",
			Suites: onEngine, Tests: by("TestDatabaseOutageCostsNoAttempt"),
		},
		{
			Name: "breaker-never-opens", Breaks: []string{"I9"}, File: engine + "breaker.go",
			Old: "return c.ConsecutiveFailures >= breakerTrips", New: "return false",
			Suites: onEngine, Tests: by("TestBreakerSparesAttempts"),
		},
		{
			Name: "half-open-lets-all-through", Breaks: []string{"I9"}, File: engine + "breaker.go",
			Old: "Name: string(d), Timeout:", New: "Name: string(d), MaxRequests: 1000, Timeout:",
			Suites: onEngine, Tests: by("TestBreakerProbesWithOne"),
		},
		{
			Name: "half-open-counts", Breaks: []string{"I9"}, File: engine + "breaker.go",
			Old: "return jittered(b.probing())", New: "return 0",
			Suites: onEngine, Tests: by("TestBreakerSparesTheOldOnes"),
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
