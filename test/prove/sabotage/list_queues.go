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
		{
			Name: "any-name-is-a-clients-queue", Breaks: []string{"I10"}, Dir: functions, Func: "aw_queue_ensure",
			Old: "perform {{ .schema }}.aw_queue_check_name(v_client, p ->> 'queue');", New: "",
			Suites: []Suite{{Package: "queue/postgres", Run: "^TestNames$"}}, Tests: tests("queue/postgres", "TestNames"),
		},
		{
			Name: "receives-read-past-other-clients", Breaks: []string{"I10"}, Dir: migrations,
			Func: "aw_queue_messages_unreceived", Old: "(client_id, queue, visible_at)", New: "(queue, visible_at)",
			Suites: []Suite{{Package: "queue/postgres", Run: "^TestFilledByAnother$"}},
			Tests:  tests("queue/postgres", "TestFilledByAnother"),
		},
		{
			Name: "outage-is-what-a-receive-meets", Breaks: []string{"I9"}, Dir: "queue/postgres", Func: "service.call",
			Old: "if failing(err) {", New: `if failing(err) && op == "receive" {`,
			Suites: []Suite{{Package: "queue/postgres", Run: "^TestWhatFails$"}}, Tests: tests("queue/postgres", "TestWhatFails"),
		},
		{
			Name: "notifications-say-ids", Breaks: []string{"I10"}, Dir: functions, Func: "aw_wake",
			Old: "left(encode(sha256(convert_to(j, 'UTF8')), 'hex'), 2)", New: "j",
			Suites: []Suite{{Package: "internal/store/postgres", Run: "^TestWakeReachesTheTenantsListeners$"}},
			Tests:  tests("internal/store/postgres", "TestWakeReachesTheTenantsListeners"),
		},
	}
}
