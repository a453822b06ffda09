package sabotage

import "slices"

// The suites that have to fail. They are narrow, since many sabotages run: the conformance suite with one way of
// sending queries, and the model only where it should find something.
var (
	onPostgres = []Suite{{Package: "internal/store/postgres", Run: "^TestConformance$/^prepared_statements$"}}
	onModel    = []Suite{{
		Package: "internal/store/postgres", Run: "^TestConformance$/^prepared_statements$|^TestModel$",
		Flags: []string{"-rapid.nofailfile", "-rapid.checks=50", "-rapid.shrinktime=1s"},
	}}
	onTenancy = []Suite{{Package: "internal/store/postgres", Run: "^TestTenancy$"}}
	onSchema  = []Suite{{Package: "internal/store/schema", Run: "^(TestTransitions|TestGuards|TestEveryTable)$"}}
	onEngine  = []Suite{{ // without slow tests of costs and fairness
		Package: "internal/engine",
		Flags: []string{
			"-skip=^Test(RandomFaults|EveryCallOfTheSweepFails|IdleTenant|Flood|HighIs|Backlog|SlowStore|FullOutbox|" +
				"WorkResumes)",
		},
	}}
	onTasks         = []Suite{{Package: "internal/task", Flags: []string{"-rapid.nofailfile"}}}
	onBlobs         = []Suite{{Package: "internal/blob"}}
	onHooks         = []Suite{{Package: "webhook"}}
	onChild         = []Suite{{Package: "internal/child", Run: "^Test(Thief|WorkerStaysFree|Protect)$"}}
	onChildren      = []Suite{{Package: "internal/children"}}
	onPool          = []Suite{{Package: "internal/child", Run: "^TestPool", Flags: []string{"-rapid.nofailfile"}}}
	onPictures      = []Suite{{Package: "internal/extract/pageimage"}}
	onLayout        = []Suite{{Package: "internal/extract/native/pdf"}}
	onAPI           = []Suite{{Package: "internal/api", Run: "^Test(WhoMay|JWTs|Tickets|SubmitCannot|KnownKey)"}}
	onFeed          = []Suite{{Package: "internal/store/postgres", Run: "^TestFeed"}}
	onCognee        = []Suite{{Package: "internal/cognee", Flags: []string{"-short"}}}
	onAgent         = []Suite{{Package: "handlers/agent", Run: "^Test(KilledAfterEachStep|HostileDocuments)$"}}
	onTenants       = []Suite{{Package: "queue/nats", Run: "^(TestPrintedRights|TestForeignStreams|TestTenantsOfOneAccount)$"}}
	onNATS          = []Suite{{Package: "queue/nats", Run: "^TestStaleAcknowledgement$"}}
	onQueuePostgres = []Suite{{Package: "queue/postgres", Run: "^TestStaleWorker$"}}
	onPages         = []Suite{{Package: "internal/dashboard", Run: "^Test(Scopes|CrossSite|Links)$"}}
	onFront         = []Suite{{Package: "internal/front", Run: "^Test(Forwards|Confined)$"}}
)

// Folders that many sabotages are about.
const (
	schema     = "internal/store/schema/"
	functions  = schema + "functions"
	migrations = schema + "migrations"
	engine     = "internal/engine"
	child      = "internal/child"
)

// Invariants are the promises in order, and further ones.
func Invariants() []Invariant {
	killed, every := Test{"test/e2e", "TestKilledInTheMiddle"}, Test{"internal/engine", "TestEveryCallFails"}
	together := Test{"internal/store/storetest", "workers at once"}
	drain := Test{"test/e2e", "TestDrain"}
	return []Invariant{
		{"I1", "no accepted task is lost", []Test{every, killed, drain, {"internal/cli", "TestReplayCrash"}}},
		{
			"I2", "at most one committed effect per task, whatever is redelivered",
			[]Test{model, together, every, killed},
		},
		{"I3", "only legal transitions; terminal states stay", []Test{model, {"internal/job", "TestTransitions"}}},
		{
			"I4", "the fence only rises; a stale holder commits nothing",
			[]Test{model, {"internal/engine", "TestZombie"}, {"handlers/ingest", "TestSecondAttempt"}},
		},
		{"I5", "same id and payload: the same job; same id, other payload: a conflict", []Test{model}},
		{
			"I6", "attempts ≤ max; what is exhausted or permanent is in the dead letters once",
			[]Test{model, together, every},
		},
		{"I7", "after a cancel is acknowledged nothing of the task is committed", []Test{model, every}},
		{"I8", "a job's events are gap-free, progress never falls, one terminal event ends them (but for duplicates " +
			"of what failed)", []Test{model, every, killed}},
		{"I9", "a shutdown, a released lease, a full queue or a loss that jobs share costs no attempt", []Test{model, every, drain}},
		{"I10", "a tenant's credentials reach that tenant's queues, container and rows", []Test{
			{"internal/store/postgres", "TestTenancy"},
			{"internal/store/supabase", "TestTenancy"},
			{"internal/store/storetest", "two tenants, one id"},
		}},
		{"I11", "every accepted task ends, whatever it does to the services it needs", []Test{
			every, {"internal/engine", "TestCrashersEnd"}, {"test/simulation", "TestSchedules"},
		}},
		{"webhooks", "each end is reported by a signed webhook, and to no private address", []Test{every, killed}},
		{
			"parsers", "a parser has access to its document and its folder, and to nothing else of the worker",
			[]Test{
				{"internal/child", "TestThief"},
				{"internal/child", "TestProtect"},
				{"internal/child", "TestPoolEndsAll"},
				{"internal/extract/pageimage", "TestCostlyPicturesAreRefused"},
			},
		},
		{"agent", "no step is paid twice, and no document widens what is read", []Test{
			{"handlers/agent", "TestKilledAfterEachStep"},
			{"handlers/agent", "TestHostileDocuments"},
			{"test/e2e", "TestAgentKilled"},
		}},
		{"sources", "a document is fetched from no private address, within bounds, and a changed one once", []Test{
			{"internal/source", "TestWebUnchanged"},
			{"internal/source", "TestWebCompressed"},
			{"handlers/ingest", "TestPrefixCrash"},
			{"handlers/ingest", "TestPrefixMemory"},
		}},
		{"gateway", "the same document is paid for once, and a value that it does not state is found", []Test{
			{"handlers/xml", "TestKilledAtEachStep"},
			{"handlers/xml", "TestForged"},
			{"test/gateway", "TestEqualJobs"},
			{"test/gateway", "TestDown"},
		}},
		{"schedules", "each firing is one job, and what was missed is made up as far as it is asked for", []Test{
			{"internal/schedule", "TestYear"},
			{"internal/schedule", "TestYearOfMinutes"},
			{"internal/schedule", "TestMillionsMissed"},
		}},
		{"api", "a repeated request makes one job, a stream misses no event, and a caller does what his token is for", []Test{
			{"internal/api", "TestIdempotencyAtOnce"},
			{"internal/api", "TestResumedStreams"},
			{"internal/feed", "TestNothingIsMissed"},
			{"test/e2e", "TestAPICrash"},
		}},
		{"cognee", "Cognee has each active version once, never an older one after a newer, and nothing that was deleted", []Test{
			{"internal/cognee", "TestKilledWorkers"},
			{"internal/cognee", "TestKilledWorkersBehind"},
			{"internal/cognee", "TestReconcile"},
		}},
	}
}

// All is the list, in the order of the invariants.
func All() []Sabotage {
	return slices.Concat(
		inTheStore(), inBatches(), inTheRights(), inTheEngine(), atTheQueues(), atTheEdges(), aroundParsers(), inTheAgent(),
		ofTheAPI(), ofTheSources(), ofCognee(), ofTheGateway(), ofTheSchedules(),
	)
}

// cases are cases of the conformance suite of stores.
func cases(names ...string) (tests []Test) {
	for _, n := range names {
		tests = append(tests, Test{"internal/store/storetest", n})
	}
	return tests
}

// model compares random sequences with the reference.
var model = Test{"internal/store/postgres", "TestModel"}

func with(list []Test, more ...Test) []Test { return slices.Concat(list, more) }

// tests are the test functions of a folder.
func tests(in string, names ...string) (tests []Test) {
	for _, n := range names {
		tests = append(tests, Test{in, n})
	}
	return tests
}
