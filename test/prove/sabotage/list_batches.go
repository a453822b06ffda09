package sabotage

// inBatches are the sabotages of begins and completions that share a statement. What it does not answer is sent alone,
// so a batch that does too little breaks nothing.
func inBatches() []Sabotage {
	together := []Suite{{
		Package: "internal/store/postgres",
		Run:     "^TestConformance$/^prepared_statements$/_(at_once|in_a_batch|in_opposite_order)$",
	}}
	pending, all, end := "aw_begin_pending", "aw_complete_all", "aw_end_all"
	begins, completions := cases("begins in a batch"), cases("completions in a batch")
	return []Sabotage{
		{
			Name: "batch-begins-another-task", Breaks: []string{"I5"}, Dir: functions, Func: pending,
			Old: "and not {{ .schema }}.aw_is_other(j.row, r.m)", New: "", Suites: together, Tests: begins,
		},
		{
			Name: "batch-begins-the-canceled", Breaks: []string{"I7"}, Dir: functions, Func: pending,
			Old: "and (j.row).cancel_requested_at is null", New: "", Suites: together, Tests: begins,
		},
		{
			Name: "batch-keeps-the-fence", Breaks: []string{"I4"}, Dir: functions, Func: pending,
			Old: "fence = u.fence + 1,", New: "fence = u.fence,", Suites: together, Tests: begins,
		},
		{
			Name: "batch-ends-under-a-stale-fence", Breaks: []string{"I4"}, Dir: functions, Func: all,
			Old: "and j.fence = r.fence", New: "", Suites: together,
			Tests: with(completions, cases("completions at once")...),
		},
		{
			Name: "batch-ends-the-ended", Breaks: []string{"I2", "I3"}, Dir: functions, Func: all,
			Old: "where j.status = 'running' and j.lease_expires_at is not null and j.fence = r.fence",
			New: "where j.fence = r.fence", Suites: together, Tests: cases("batches in opposite order"),
		},
		{
			Name: "batch-numbers-with-gaps", Breaks: []string{"I8"}, Dir: functions, Func: end,
			Old: "(e.was).event_seq + row_number() over so_far,", New: "(e.was).event_seq + 2 * row_number() over so_far,",
			Suites: together, Tests: with(completions, cases("completions at once")...),
		},
		{
			Name: "batch-lets-progress-fall", Breaks: []string{"I8"}, Dir: functions, Func: end,
			Old:    "greatest((e.was).progress, max(least(greatest((f.event ->> 'progress')::int, 0), 100)) over so_far),",
			New:    "least(greatest((f.event ->> 'progress')::int, 0), 100),",
			Suites: together, Tests: completions,
		},
		{
			Name: "batch-lets-time-go-back", Breaks: []string{"I8"}, Dir: functions, Func: end,
			Old: "select v_client, f.job_id, (e.was).event_seq + row_number() over so_far, f.id, (e.was).series, greatest(e.at, " +
				"max(least(clock_timestamp(),",
			New: "select v_client, f.job_id, (e.was).event_seq + row_number() over so_far, f.id, (e.was).series, greatest(e.at, " +
				"min(least(clock_timestamp(),",
			Suites: together, Tests: completions,
		},
		{
			Name: "batch-sends-no-webhook", Breaks: []string{"webhooks"}, Dir: functions, Func: end,
			Old: "from ended e where e.webhook_url <> ''", New: "from ended e where false", Suites: together,
			Tests: with(completions, cases("completions at once")...),
		},
	}
}
