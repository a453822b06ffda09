package sabotage

// atTheQueues are the sabotages of leases: a message that another worker holds may come back only through them.
func atTheQueues() []Sabotage {
	return []Sabotage{
		{
			Name: "stale-lease-acknowledges", Breaks: []string{"I1"}, Dir: "queue/nats", Func: "lease.settle",
			Old: "!time.Now().Before(l.Deadline())", New: "op == \"\"",
			Suites: onNATS, Tests: tests("queue/nats", "TestStaleAcknowledgement"),
		},
		{
			Name: "answers-in-a-common-inbox", Breaks: []string{"I10"}, Dir: "internal/natsconn", Func: "dial",
			Old: "o.InboxPrefix = inbox", New: `o.InboxPrefix = ""`,
			Suites: onTenants, Tests: tests("queue/nats", "TestPrintedRights"),
		},
		{
			Name: "stream-of-another-client", Breaks: []string{"I10"}, Dir: "queue/nats", Func: "natsQueue.checkStream",
			Old: `q.Owner != "" && c.Metadata[ownerKey] != q.Owner`, New: "false",
			Suites: onTenants, Tests: tests("queue/nats", "TestForeignStreams"),
		},
		{
			Name: "receipt-is-not-checked", Breaks: []string{"I1"}, Dir: functions, Func: "aw_queue_delete",
			Old: "and coalesce(m.receipt = (p ->> 'receipt')::uuid, false)", New: "",
			Suites: onQueuePostgres, Tests: tests("queue/postgres", "TestStaleWorker"),
		},
	}
}
