package sabotage

// atTheEdges are the sabotages of input and output: messages, blobs' names, webhooks.
func atTheEdges() []Sabotage {
	return []Sabotage{
		{
			Name: "fingerprint-without-payload", Breaks: []string{"I5"}, Dir: "internal/task", Func: "Fingerprint",
			Old: "sum.Write(canonical)", New: "_ = canonical",
			Suites: onTasks, Tests: tests("internal/task", "TestFingerprint"),
		},
		{
			Name: "message-of-another-client", Breaks: []string{"I10"}, Dir: "internal/task", Func: "decoder.client",
			Old: "if client == \"\" || client == d.opts.ClientID {", New: "if client != \"\\x00\" {",
			Suites: onTasks, Tests: tests("internal/task", "TestDecodeInvalid"),
		},
		{
			Name: "queue-of-another-client", Breaks: []string{"I10"}, Dir: "internal/task", Func: "QueueNames",
			Old: `normal := client + "-tasks"`, New: `normal := client[:1] + "-tasks"`,
			Suites: onTasks, Tests: tests("internal/task", "TestQueueNames"),
		},
		{
			Name: "blob-out-of-the-container", Breaks: []string{"I10"}, Dir: "internal/task",
			Func: "BlobNameProblem",
			Old:  "case slices.Contains(segments, \"..\"):", New: "case slices.Contains(segments, \"...\"):",
			Suites: onBlobs, Tests: tests("internal/blob", "TestCheckName"),
		},
		{
			Name: "webhook-to-a-private-address", Breaks: []string{"webhooks"},
			Dir: "internal/guard", Func: "Guard.Transport",
			Old: "return check(target.Addr())", New: "_ = target; return nil",
			Suites: onHooks, Tests: tests("webhook", "TestSendRebinding", "TestSendRefused"),
		},
		{
			Name: "claims-are-not-extended", Breaks: []string{"webhooks"}, Dir: "webhook", Func: "round.extend",
			Old: "if r.extending || len(r.flying)+len(r.held) == 0 {", New: "if true {",
			Suites: onHooks, Tests: tests("webhook", "TestLoopExtendsItsClaims"),
		},
		{
			Name: "one-bad-delivery-is-an-outage", Breaks: []string{"webhooks"}, Dir: "webhook", Func: "health.judge",
			Old:    "f.paths[path][d.ID] = true",
			New:    "for _, n := range []string{\"\", \"x\", \"y\"} { f.paths[path][d.ID+n] = true }",
			Suites: onHooks, Tests: tests("webhook", "TestLoopBadURLDelaysNoOther"),
		},
		{
			Name: "row-tells-addresses", Breaks: []string{"webhooks"}, Dir: "webhook", Func: "ReachError.Error",
			Old:    "return \"the receiver can't be reached: \" + e.sort",
			New:    "return \"the receiver can't be reached: \" + e.cause.Error()",
			Suites: onHooks, Tests: tests("webhook", "TestRowsHaveNoAddress"),
		},
		{
			Name: "a-delivery-that-is-over-begins-again", Breaks: []string{"webhooks"},
			Dir: functions, Func: "aw_guard_delivery",
			Old:    "new.status = 'pending' and new.fence > old.fence and new.lease_expires_at is null",
			New:    "new.status = 'pending'",
			Suites: onSchema, Tests: tests("internal/store/schema", "TestGuards"),
		},
		{
			Name: "webhook-unsigned", Breaks: []string{"webhooks"}, Dir: "webhook", Func: "Signer.Sign",
			Old: "if len(signatures) > 0 {", New: "if len(signatures) > 1 {",
			Suites: onHooks, Tests: tests("webhook", "TestSendSigned", "TestSignerKnownAnswer"),
		},
		{
			Name: "signature-without-the-time", Breaks: []string{"webhooks"}, Dir: "webhook", Func: "Signer.Sign",
			Old:    "mac.Write([]byte(id + \".\" + timestamp + \".\" + body))",
			New:    "mac.Write([]byte(id + \".\" + body))",
			Suites: onHooks, Tests: tests("webhook", "TestSignerKnownAnswer", "TestSignerAgainstReference"),
		},
	}
}
