package config

import "time"

func worker() []Setting {
	return []Setting{
		{
			Name: "WORKER_CONCURRENCY", Default: "4", Unit: "tasks", Groups: Worker, Live: true,
			Help:  "how many tasks run at once, 1 to 256",
			parse: integer(func(c *Config) *int { return &c.Concurrency }, 1, 256),
		},
		{
			Name: "WORKER_LEASE_TTL_SEC", Default: "60", Unit: "s", Groups: Worker,
			Help:  "how long a worker that stopped renewing its leases keeps its tasks, 5 to 3600",
			parse: duration(func(c *Config) *time.Duration { return &c.LeaseTTL }, time.Second, 5, 3600),
		},
		{
			Name: "POLL_MIN_MS", Default: "100", Unit: "ms", Groups: Worker, Live: true,
			Help:  "the shortest wait between two polls of an empty queue, 10 to 600000",
			parse: duration(func(c *Config) *time.Duration { return &c.PollMin }, time.Millisecond, 10, 600_000),
		},
		{
			Name: "POLL_MAX_MS", Default: "10000", Unit: "ms", Groups: Worker, Live: true,
			Help:  "the longest wait between two polls of an empty queue, 10 to 600000",
			parse: duration(func(c *Config) *time.Duration { return &c.PollMax }, time.Millisecond, 10, 600_000),
		},
		{
			Name: "RETRY_MAX_ATTEMPTS", Default: "0", Groups: Worker | Queue, Live: true,
			Help:  "how many attempts a task has, the first included, 1 to 100; 0: the default of its type",
			parse: integer(func(c *Config) *int { return &c.Retry.MaxAttempts }, 0, 100),
		},
		{
			Name: "RETRY_BACKOFF_MS", Default: "0", Unit: "ms", Groups: Worker, Live: true,
			Help:  "the wait before the first retry, 1 to 600000; 0: the default of the task's type",
			parse: duration(func(c *Config) *time.Duration { return &c.Retry.Backoff }, time.Millisecond, 0, 600_000),
		},
		{
			Name: "WAIT_MAX_HOURS", Default: "72", Unit: "h", Groups: Worker, Live: true,
			Help: "how long a task waits for services that are down, with no attempt counted, before it fails with " +
				"wait_exceeded, 1 to 8760; a task's hints.max_wait_seconds overrides it",
			parse: duration(func(c *Config) *time.Duration { return &c.WaitMax }, time.Hour, 1, 8760),
		},
		{
			Name: "WAIT_MAX_RELEASES", Default: "1000", Groups: Worker, Live: true,
			Help: "how many attempts of a task may go uncounted because a service was down, before it fails with " +
				"wait_exceeded, 1 to 100000",
			parse: integer(func(c *Config) *int { return &c.WaitMaxReleases }, 1, 100_000),
		},
		{
			Name: "TASK_TIMEOUT_SEC", Default: "1800", Unit: "s", Groups: Worker, Live: true,
			Help:  "how long a whole task may take unless its hints set another timeout, 1 to 86400",
			parse: duration(func(c *Config) *time.Duration { return &c.TaskTimeout }, time.Second, 1, 86_400),
		},
		{
			Name: "STEP_TIMEOUT_SEC", Default: "30", Unit: "s", Groups: Worker | Models | Extract, Live: true,
			Help:  "how long one page of OCR, without its waits for memory and rate limits, or one model request may take, 1 to 3600",
			parse: duration(func(c *Config) *time.Duration { return &c.StepTimeout }, time.Second, 1, 3600),
		},
		{
			Name: "DRAIN_MAX_SEC", Default: "300", Unit: "s", Groups: Worker, Live: true,
			Help:  "how long running tasks may take to finish on SIGTERM, 0 to 3600; 0: they are released at once",
			parse: duration(func(c *Config) *time.Duration { return &c.DrainMax }, time.Second, 0, 3600),
		},
		{
			Name: "START_MAX_SEC", Default: "240", Unit: "s", Groups: Worker,
			Help: "how long a start waits for a database or a storage account that does not answer, 0 to 3600; 0: " +
				"it fails at once",
			parse: duration(func(c *Config) *time.Duration { return &c.StartMax }, time.Second, 0, 3600),
		},
		{
			Name: "VERSION_KEEP_DAYS", Default: "30", Unit: "days", Groups: Worker,
			Help: "how long the record of a replaced version of a document is kept, 0 to 3650; its chunks are " +
				"deleted at once, those of a long one soon after",
			parse: duration(func(c *Config) *time.Duration { return &c.VersionKeep }, day, 0, 3650),
		},
		{
			Name: "JOBS_KEEP_DAYS", Default: "90", Unit: "days", Groups: Worker,
			Help: "how long the row of a job is kept after its end, 14 to 3650; what still needs it keeps it longer " +
				"(docs/database.md)",
			parse: duration(func(c *Config) *time.Duration { return &c.JobsKeep }, day, 14, 3650),
		},
		{
			Name: "DELIVERIES_KEEP_DAYS", Default: "30", Unit: "days", Groups: Worker,
			Help:  "how long a webhook is kept after it was delivered or given up, 1 to 3650",
			parse: duration(func(c *Config) *time.Duration { return &c.DeliveriesKeep }, day, 1, 3650),
		},
	}
}

// checkStepTimeout warns of a step that may take as long as its task: a model that hangs then ends the task with the
// class timeout, which has no retry, and not with network_timeout.
func (l *loader) checkStepTimeout() {
	if l.fine("STEP_TIMEOUT_SEC", "TASK_TIMEOUT_SEC") && l.cfg.StepTimeout >= l.cfg.TaskTimeout {
		l.warn("STEP_TIMEOUT_SEC", "it is not less than TASK_TIMEOUT_SEC: a model request that hangs ends its task for good",
			"lower it, or raise TASK_TIMEOUT_SEC")
	}
}
