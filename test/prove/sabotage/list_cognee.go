package sabotage

// ofCognee are the sabotages of the outbox for Cognee.
func ofCognee() []Sabotage {
	return []Sabotage{
		{
			Name: "cognee-not-told-of-versions", Breaks: []string{"cognee"}, Dir: functions,
			Func:   "aw_effect_activate_document",
			Old:    "perform {{ .schema }}.aw_cognee_changed(client, d.id, d.document_set, v.version);",
			New:    "",
			Suites: onPostgres, Tests: cases("versions for Cognee", "no Cognee"),
		},
		{
			Name: "cognee-not-told-of-deletes", Breaks: []string{"cognee"}, Dir: functions,
			Func: "aw_effect_delete_document",
			Old:  "if v_there then", New: "if false then",
			Suites: onPostgres, Tests: cases("deletes for Cognee"),
		},
		{
			Name: "two-send-a-document", Breaks: []string{"cognee"}, Dir: functions, Func: "aw_claim_cognee",
			Old:    "and (k.lease_expires_at is null or k.lease_expires_at <= v_now)",
			New:    "",
			Suites: onPostgres, Tests: cases("versions for Cognee"),
		},
		{
			Name: "stale-claim-settles", Breaks: []string{"cognee"}, Dir: functions, Func: "aw_settle_cognee",
			Old: "x.fence = v_fence", New: "true",
			Suites: onPostgres, Tests: cases("fence for Cognee"),
		},
		{
			Name: "newer-version-counts-as-sent", Breaks: []string{"cognee"}, Dir: functions, Func: "aw_settle_cognee",
			Old:    "k.status := case when k.wanted is not distinct from v_version then 'sent' else 'pending' end",
			New:    "k.status := 'sent'",
			Suites: onPostgres, Tests: cases("versions for Cognee", "deletes for Cognee"),
		},
		{
			Name: "outage-costs-attempts", Breaks: []string{"cognee"}, Dir: functions, Func: "aw_settle_cognee",
			Old: "and p ->> 'health' is distinct from 'down' then", New: "then",
			Suites: onPostgres, Tests: cases("outage of Cognee"),
		},
		{
			Name: "poison-in-an-outage-costs-nothing", Breaks: []string{"cognee"}, Dir: functions, Func: "aw_settle_cognee",
			Old:    "and p ->> 'health' is distinct from 'down' then",
			New:    "and not (v_health ->> 'down')::boolean then",
			Suites: onPostgres, Tests: cases("Cognee gives up several"),
		},
		{
			Name: "one-document-takes-cognee-down", Breaks: []string{"cognee"}, Dir: functions, Func: "aw_cognee_health",
			Old:    "case when subject = any (t.failing) then t.failing else t.failing || subject end",
			New:    "t.failing || subject",
			Suites: onPostgres, Tests: cases("Cognee gives up"),
		},
		{
			Name: "cognee-is-not-asked-first", Breaks: []string{"cognee"}, Dir: "internal/cognee", Func: "round.answers",
			Old: "attempts == 0 && !f.probe", New: "true",
			Suites: onCognee, Tests: tests("internal/cognee", "TestLoopOutageBehindProxy"),
		},
		{
			Name: "outage-behind-a-proxy-counts", Breaks: []string{"cognee"}, Dir: "internal/cognee", Func: "round.answers",
			Old: "outage(r.Client.Probe(f.ctx))", New: "r.Client.Probe(f.ctx)",
			Suites: onCognee, Tests: tests("internal/cognee", "TestLoopOutageBehindProxy"),
		},
		{
			Name: "replaced-text-is-sent", Breaks: []string{"cognee"}, Dir: "internal/cognee", Func: "round.text",
			Old: "case !page.Active:", New: "case false:",
			Suites: onCognee, Tests: tests("internal/cognee", "TestLoopReplaced"),
		},
		{
			Name: "request-outlives-its-claim", Breaks: []string{"cognee"}, Dir: "internal/cognee", Func: "round.keep",
			Old: "case !held:", New: "case !held && false:",
			Suites: onCognee, Tests: tests("internal/cognee", "TestLoopLosesItsClaim"),
		},
		{
			Name: "documents-share-a-row", Breaks: []string{"cognee"}, Dir: "internal/cognee", Func: "Document.text",
			Old: "doc.ID, doc.Filename", New: "doc.DocumentSet, doc.DocumentSet",
			Suites: onCognee, Tests: tests("internal/cognee", "TestLoop"),
		},
		{
			Name: "errors-quote-documents", Breaks: []string{"cognee"}, Dir: "internal/cognee", Func: "label",
			Old: "return m[1]", New: "return detail",
			Suites: onCognee, Tests: tests("internal/cognee", "TestProblems"),
		},
	}
}
