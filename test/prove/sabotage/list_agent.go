package sabotage

// inTheAgent are the sabotages of the rules that an agent pays once, and reads only what it may.
func inTheAgent() []Sabotage {
	return []Sabotage{
		{
			Name: "step-is-not-saved", Breaks: []string{"agent"}, Dir: "handlers/agent", Func: "run.ask",
			Old: "r.progress(a); return r.call.Progress.Save(ctx)", New: "r.progress(a); return nil",
			Suites: onAgent, Tests: tests("handlers/agent", "TestKilledAfterEachStep"),
		},
		{
			Name: "passages-of-another-set", Breaks: []string{"agent"}, Dir: functions, Func: "aw_document_passages",
			Old: "where d.client_id = v_client and d.id = any (v_ids) and (v_set is null or d.document_set = " +
				"v_set) order by c.position limit v_limit",
			New:    "where d.client_id = v_client and d.id = any (v_ids) order by c.position limit v_limit",
			Suites: onPostgres, Tests: cases("passages of one set"),
		},
		{
			Name: "neighbours-of-another-set", Breaks: []string{"agent"}, Dir: functions, Func: "aw_passages",
			Old: "where v_set is null or d.document_set = v_set order by d.filename, d.document_set, c.position " +
				"limit v_limit",
			New:    "order by d.filename, d.document_set, c.position limit v_limit",
			Suites: onPostgres, Tests: cases("passages of one set"),
		},
	}
}
