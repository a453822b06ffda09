package sabotage

// inTheAgent are the sabotages of what keeps an agent from paying twice, and from reading what it may not.
func inTheAgent() []Sabotage {
	return []Sabotage{
		{
			Name: "step-is-not-saved", Breaks: []string{"agent"}, File: "handlers/agent/run.go",
			Old: "\tr.progress(a)\n\treturn r.call.Progress.Save(ctx)\n", New: "\tr.progress(a)\n\treturn nil\n",
			Suites: onAgent, Tests: tests("handlers/agent", "TestKilledAfterEachStep"),
		},
		{
			Name: "passages-of-another-set", Breaks: []string{"agent"}, File: functions + "87_passages.sql",
			Old: "where d.client_id = v_client and d.id = any (v_ids) and (v_set is null or d.document_set = " +
				"v_set)), '[]')",
			New:    "where d.client_id = v_client and d.id = any (v_ids)), '[]')",
			Suites: onPostgres, Tests: cases("passages of one set"),
		},
		{
			Name: "neighbours-of-another-set", Breaks: []string{"agent"}, File: functions + "87_passages.sql",
			Old: "where v_set is null or d.document_set = v_set\n          order by d.filename, d.document_set, " +
				"c.position limit v_limit",
			New:    "order by d.filename, d.document_set, c.position limit v_limit",
			Suites: onPostgres, Tests: cases("passages of one set"),
		},
	}
}
