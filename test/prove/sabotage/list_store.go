package sabotage

// inTheStore are the sabotages of the schema: its functions, and the guards of every write.
func inTheStore() []Sabotage {
	return []Sabotage{
		{
			Name: "unsent-is-never-swept", Breaks: []string{"I1"}, Dir: functions, Func: "aw_sweep",
			Old:    "sent_at is null and run_at is null",
			New:    "sent_at > now() and run_at is null",
			Suites: onPostgres, Tests: cases("submit", "sweep", "retry by hand"),
		},
		{
			Name: "another-message-ends-the-job", Breaks: []string{"I1"}, Dir: functions, Func: "aw_is_own_message",
			Old: "and coalesce(j.run_at <= clock_timestamp(), true)", New: "",
			Suites: onPostgres, Tests: cases("reject before its time"),
		},
		{
			Name: "message-of-another-requester-ends-the-job", Breaks: []string{"I1"}, Dir: functions, Func: "aw_is_own_message",
			Old: "or (j.webhook_url, j.requested_by)", New: "or true or (j.webhook_url, j.requested_by)",
			Suites: onPostgres, Tests: cases("reject a submitted job"),
		},
		{
			Name: "stalled-is-never-swept", Breaks: []string{"I1"}, Dir: functions, Func: "aw_sweep",
			Old: "j.status in ('pending', 'running') and {{ .schema }}.aw_stalled(j, p)", New: "false",
			Suites: onPostgres, Tests: cases("sweep", "sweep of unstarted jobs"),
		},
		{
			Name: "sweeps-send-twice", Breaks: []string{"I1"}, Dir: functions, Func: "aw_resend",
			Old:    "(p ->> 'fence')::bigint or not {{ .schema }}.aw_stalled(j, p) then",
			New:    "(p ->> 'fence')::bigint then",
			Suites: onPostgres, Tests: cases("sweeps at once"),
		},
		{
			Name: "recorded-counts-as-sent", Breaks: []string{"I1"}, Dir: functions, Func: "aw_submit",
			Old: "'sent', j.status <> 'pending' or", New: "'sent', true or",
			Suites: onPostgres, Tests: cases("submit"),
		},
		{
			Name: "another-run-ends-with-the-first", Breaks: []string{"I1"}, Dir: functions, Func: "aw_end",
			Old:    "message = case when j.status = 'running' and state <> 'canceled' and sent_at is null then message end",
			New:    "message = null",
			Suites: onPostgres, Tests: cases("forced to run later at its failure"),
		},
		{
			Name: "another-run-begins-with-the-first", Breaks: []string{"I1"}, Dir: functions, Func: "aw_start_attempt",
			Old:    "message = case when v_other then message end",
			New:    "message = null",
			Suites: onPostgres, Tests: cases("forced to run later", "another run recorded while it runs"),
		},
		{
			Name: "another-message-counts-as-sent", Breaks: []string{"I1"}, Dir: functions, Func: "aw_mark_sent",
			Old:    "where client_id = v_client and id = p ->> 'job_id' and (message is null or not",
			New:    "where client_id = v_client and id = p ->> 'job_id' and (true or not",
			Suites: onPostgres, Tests: cases("another run while one waits", "another run recorded while it runs"),
		},
		{
			Name: "another-run-is-displaced", Breaks: []string{"I1"}, Dir: functions, Func: "aw_expect_room",
			Old:    "if j.message is not null and",
			New:    "if false and",
			Suites: onPostgres, Tests: cases("another run while one waits", "forced while a later run waits"),
		},
		{
			Name: "first-run-is-displaced", Breaks: []string{"I1"}, Dir: functions, Func: "aw_expect_room",
			Old:    "or at is not null and j.status = 'pending' and",
			New:    "or false and",
			Suites: onPostgres, Tests: cases("forced to run later before it has begun"),
		},
		{
			Name: "done-runs-again", Breaks: []string{"I2"}, Dir: functions, Func: "aw_begin",
			Old: "if {{ .schema }}.aw_forces_new_series(j, p) then", New: "if true then",
			Suites: onModel, Tests: with(cases("begin decides by state"), model),
		},
		{
			Name: "queues-share-their-numbers", Breaks: []string{"I1"}, Dir: functions, Func: "aw_message_key",
			Old:    "concat('@', source ->> 'queue',",
			New:    "concat('@', '',",
			Suites: onPostgres, Tests: cases("messages of the same number"),
		},
		{
			Name: "force-redelivered-runs-again", Breaks: []string{"I2"}, Dir: functions, Func: "aw_forces_new_series",
			Old:    "or v_message_id is null or {{ .schema }}.aw_had_message(j, p) then",
			New:    "or v_message_id is null then",
			Suites: onPostgres, Tests: cases("force"),
		},
		{
			Name: "two-messages-of-a-job-begin", Breaks: []string{"I2"}, Dir: functions, Func: "aw_begin_new",
			Old: "select distinct on (m ->> 'job_id') m, n from", New: "select m, n from",
			Suites: onPostgres, Tests: cases("begins at once"),
		},
		{
			Name: "effects-fail-alone", Breaks: []string{"I2"}, Dir: functions, Func: "aw_complete",
			Old: "v_result := v_result || {{ .schema }}.aw_effect(j, v_effect);",
			New: "begin v_result := v_result || {{ .schema }}.aw_effect(j, v_effect); exception when others then " +
				"null; end;",
			Suites: onPostgres, Tests: cases("effects are one transaction"),
		},
		{
			Name: "refused-for-another", Breaks: []string{"I2"}, Dir: "internal/store/rpc", Func: "Batcher.send",
			Old: "answers, err = nil, nil", New: "answers = nil",
			Suites: onPostgres, Tests: cases("completions at once"),
		},
		{
			Name: "replayed-twice", Breaks: []string{"I2"}, Dir: functions, Func: "aw_replay",
			Old: "if v_plan ->> 'refusal' is not null", New: "if false",
			Suites: onPostgres, Tests: cases("replay", "replays at once"),
		},
		{
			Name: "other-task-is-reported-failed", Breaks: []string{"I5"}, Dir: functions, Func: "aw_rejection_state",
			Old: "else 'rejected' end;", New: "else 'failed' end;",
			Suites: onPostgres, Tests: cases("reject a taken id"),
		},
		{
			Name: "no-guard-of-jobs", Breaks: []string{"I3", "I4", "I8"}, Dir: migrations, Func: "jobs_guard",
			Old:    "create trigger jobs_guard before update on jobs for each row execute function aw_guard_job();",
			New:    "",
			Suites: onSchema, Tests: tests("internal/store/schema", "TestTransitions", "TestGuards"),
		},
		{
			Name: "any-transition-goes", Breaks: []string{"I3"}, Dir: functions, Func: "aw_guard_job",
			Old: "raise exception 'job % can not go from % to %', old.id, old.status, new.status using errcode = " +
				"'AW010';", New: "null;",
			Suites: onSchema, Tests: tests("internal/store/schema", "TestTransitions"),
		},
		{
			Name: "ended-jobs-are-held", Breaks: []string{"I3", "I7"}, Dir: functions, Func: "aw_holding",
			Old: "j.id is null or j.status <> 'running' or j.lease_expires_at is null", New: "j.id is null",
			Suites: onModel, Tests: with(cases("stale fence", "cancel", "complete"), model),
		},
		{
			Name: "stale-fence-passes", Breaks: []string{"I4"}, Dir: functions, Func: "aw_holding",
			Old: "or j.fence is distinct from (p ->> 'fence')::bigint then", New: "then",
			Suites: onModel, Tests: with(cases("stale fence"), model),
		},
		{
			Name: "fence-stays", Breaks: []string{"I4"}, Dir: functions, Func: "aw_start_attempt",
			Old:    "max_attempts = j.max_attempts, fence = j.fence + 1,",
			New:    "max_attempts = j.max_attempts, fence = j.fence,",
			Suites: onPostgres, Tests: cases("stale fence", "worker lost"),
		},
		{
			Name: "fence-may-fall", Breaks: []string{"I4"}, Dir: functions, Func: "aw_guard_job",
			Old: "if new.fence < old.fence then", New: "if false then",
			Suites: onSchema, Tests: tests("internal/store/schema", "TestGuards"),
		},
		{
			Name: "staging-unfenced", Breaks: []string{"I4"}, Dir: functions, Func: "aw_stage_document",
			Old:    "j {{ .schema }}.jobs := {{ .schema }}.aw_lock_for_staging(p); d {{ .schema }}.documents;",
			New:    "j {{ .schema }}.jobs; d {{ .schema }}.documents;",
			Suites: onPostgres, Tests: cases("stale fence"),
		},
		{
			Name: "conflict-begins", Breaks: []string{"I5"}, Dir: functions, Func: "aw_begin",
			Old: "elsif {{ .schema }}.aw_is_other(j, p) then", New: "elsif false then",
			Suites: onModel, Tests: with(cases("conflict", "force"), model),
		},
		{
			Name: "conflict-is-submitted", Breaks: []string{"I5"}, Dir: functions, Func: "aw_submit",
			Old: "elsif {{ .schema }}.aw_is_other(j, p) then", New: "elsif false then raise",
			Suites: onPostgres, Tests: cases("conflict", "submit"),
		},
		{
			Name: "retry-beyond-the-last", Breaks: []string{"I6"}, Dir: functions, Func: "aw_retry",
			Old: "if j.attempts >= j.max_attempts then", New: "if false then",
			Suites: onPostgres, Tests: cases("retry"),
		},
		{
			Name: "requeue-beyond-the-last", Breaks: []string{"I6"}, Dir: functions, Func: "aw_requeue",
			Old: "and j.fingerprint <> '' and j.attempts >= j.max_attempts then", New: "and false then",
			Suites: onPostgres, Tests: cases("retry by hand"),
		},
		{
			Name: "attempts-unchecked", Breaks: []string{"I6"}, Dir: migrations, Func: "jobs",
			Old: "check (attempts between 0 and max_attempts),", New: "",
			Suites: onSchema, Tests: tests("internal/store/schema", "TestGuards"),
		},
		{
			Name: "no-dead-letter", Breaks: []string{"I6"}, Dir: functions, Func: "aw_end",
			Old:    "if state = 'failed' then insert into {{ .schema }}.dead_letters",
			New:    "if false then insert into {{ .schema }}.dead_letters",
			Suites: onPostgres, Tests: cases("fail", "worker lost for good"),
		},
		{
			Name: "letters-outlive-their-job", Breaks: []string{"I6"}, Dir: functions, Func: "aw_expire_jobs",
			Old:    "update {{ .schema }}.dead_letters l set series = null",
			New:    "update {{ .schema }}.dead_letters l set series = l.series",
			Suites: onPostgres, Tests: cases("failures under the id of a removed job"),
		},
		{
			Name: "rejected-twice", Breaks: []string{"I6"}, Dir: functions, Func: "aw_reject",
			Old:    "nullif(p #>> '{source,queue}', ''), v_message, v_error",
			New:    "nullif(p #>> '{source,queue}', ''), null, v_error",
			Suites: onPostgres, Tests: cases("reject", "workers at once"),
		},
		{
			Name: "two-dead-letters-of-one-end", Breaks: []string{"I6"}, Dir: migrations, Func: "dead_letters_once_per_job",
			Old:    "create unique index dead_letters_once_per_job on",
			New:    "create index dead_letters_once_per_job on",
			Suites: onSchema, Tests: tests("internal/store/schema", "TestGuards"),
		},
		{
			Name: "canceled-begins", Breaks: []string{"I7"}, Dir: functions, Func: "aw_begin",
			Old:    "elsif j.status = 'pending' and j.cancel_requested_at is null then",
			New:    "elsif j.status = 'pending' then",
			Suites: onModel, Tests: with(cases("cancel requests"), model),
		},
		{
			Name: "canceled-is-released", Breaks: []string{"I7"}, Dir: functions, Func: "aw_release",
			Old: "if j.cancel_requested_at is not null then", New: "if false then",
			Suites: onModel, Tests: with(cases("canceled at the end of its attempt"), model),
		},
		{
			Name: "canceled-is-retried", Breaks: []string{"I7"}, Dir: functions, Func: "aw_retry",
			Old: "if j.cancel_requested_at is not null then", New: "if false then",
			Suites: onModel, Tests: with(cases("canceled at the end of its attempt"), model),
		},
		{
			Name: "canceled-before-it-came-begins", Breaks: []string{"I7"}, Dir: functions, Func: "aw_begin",
			Old: "if j.placeholder then", New: "if false then",
			Suites: onPostgres, Tests: cases("cancel requests"),
		},
		{
			Name: "cancel-is-not-reported", Breaks: []string{"I7"}, Dir: functions, Func: "aw_heartbeat",
			Old:    "jsonb_build_object('cancel', j.cancel_requested_at is not null,",
			New:    "jsonb_build_object('cancel', false,",
			Suites: onPostgres, Tests: cases("cancel"),
		},
		{
			Name: "events-with-gaps", Breaks: []string{"I8"}, Dir: functions, Func: "aw_append_events",
			Old: "seq := seq + 1;", New: "seq := seq + 2;",
			Suites: onModel, Tests: with(cases("events"), model),
		},
		{
			Name: "progress-falls", Breaks: []string{"I8"}, Dir: functions, Func: "aw_append_events",
			Old:    "v_progress := greatest(progress, least(greatest((e ->> 'progress')::int, 0), 100));",
			New:    "v_progress := least(greatest((e ->> 'progress')::int, 0), 100);",
			Suites: onPostgres, Tests: cases("events"),
		},
		{
			Name: "events-recorded-twice", Breaks: []string{"I8"}, Dir: functions, Func: "aw_append_events",
			Old: "aw_append_events.seq + 1, (e ->> 'id')::uuid,", New: "aw_append_events.seq + 1, gen_random_uuid(),",
			Suites: onPostgres, Tests: cases("events"),
		},
		{
			Name: "time-goes-back", Breaks: []string{"I8"}, Dir: functions, Func: "aw_append_events",
			Old: "v_last := v_at;", New: "",
			Suites: onPostgres, Tests: cases("clock of events"),
		},
		{
			Name: "release-costs-an-attempt", Breaks: []string{"I9"}, Dir: functions, Func: "aw_release",
			Old:    "return {{ .schema }}.aw_end_attempt(j, 'pending', j.attempts - 1,",
			New:    "return {{ .schema }}.aw_end_attempt(j, 'pending', j.attempts,",
			Suites: onModel, Tests: with(cases("release"), model),
		},
		{
			Name: "lease-not-extended", Breaks: []string{"I9"}, Dir: functions, Func: "aw_heartbeat",
			Old: "lease_expires_at = clock_timestamp() + {{ .schema }}.aw_interval(p -> 'lease_ms'),", New: "",
			Suites: onPostgres, Tests: cases("worker lost", "stale fence"),
		},
		{
			Name: "any-tenant-is-asked-for", Breaks: []string{"I10"}, Dir: functions, Func: "aw_tenant",
			Old: "if bound <> requested then", New: "if false then",
			Suites: onTenancy, Tests: tests("internal/store/postgres", "TestTenancy"),
		},
		{
			Name: "policy-lets-all-see", Breaks: []string{"I10"}, Dir: migrations, Func: "005_tenancy",
			Old:    "create policy tenant on %I using (client_id = (select aw_client()))",
			New:    "create policy tenant on %I using (true)",
			Suites: onTenancy, Tests: tests("internal/store/postgres", "TestTenancy"),
		},
		{
			Name: "search-words-of-all-tenants", Breaks: []string{"I10"}, Dir: functions, Func: "aw_matching_own",
			Old:    "from {{ .schema }}.aw_matching(coalesce({{ .schema }}.aw_client(), ''), all_words",
			New:    "from {{ .schema }}.aw_matching(null, all_words",
			Suites: onTenancy, Tests: tests("internal/store/postgres", "TestTenancy"),
		},
		{
			Name: "search-terms-of-all-tenants", Breaks: []string{"I10"}, Dir: functions, Func: "aw_ranked_own",
			Old:    "from {{ .schema }}.aw_ranked(coalesce({{ .schema }}.aw_client(), ''), words",
			New:    "from {{ .schema }}.aw_ranked(null, words",
			Suites: onTenancy, Tests: tests("internal/store/postgres", "TestTenancy"),
		},
		{
			Name: "search-marks-of-all-tenants", Breaks: []string{"I10"}, Dir: functions, Func: "aw_marks_own",
			Old:    "from {{ .schema }}.aw_marks(coalesce({{ .schema }}.aw_client(), '')",
			New:    "from {{ .schema }}.aw_marks((select c.client_id from {{ .schema }}.document_chunks c where c.id = ids[1])",
			Suites: onTenancy, Tests: tests("internal/store/postgres", "TestTenancy"),
		},
		{
			Name: "rarity-of-another-tenant", Breaks: []string{"I10"}, Dir: functions, Func: "aw_rarity_own",
			Old:    "coalesce({{ .schema }}.aw_client(), '')",
			New:    "(select t.client_id from {{ .schema }}.term_totals t where t.client_id <> {{ .schema }}.aw_client() limit 1)",
			Suites: onTenancy, Tests: tests("internal/store/postgres", "TestTenancy"),
		},
		{
			Name: "security-not-forced", Breaks: []string{"I10"}, Dir: migrations, Func: "005_tenancy",
			Old: "execute format('alter table %I force row level security', t.name);", New: "",
			Suites: onSchema, Tests: tests("internal/store/schema", "TestEveryTable"),
		},
		{
			Name: "login-may-be-another", Breaks: []string{"I10"}, Dir: functions, Func: "aw_bound",
			Old: "when session_user::text like 'async\\_worker\\_%' then", New: "when false then",
			Suites: onTenancy, Tests: tests("internal/store/postgres", "TestTenancy"),
		},
		{
			Name: "no-webhook-with-the-end", Breaks: []string{"webhooks"}, Dir: functions, Func: "aw_end",
			Old:    "{{ .schema }}.aw_webhook(j.client_id, j.id, j.type, j.webhook_url, state, j.attempts,",
			New:    "{{ .schema }}.aw_webhook(j.client_id, j.id, j.type, null, state, j.attempts,",
			Suites: onPostgres, Tests: cases("complete", "fail", "cancel"),
		},
		{
			Name: "cancel-reported-twice", Breaks: []string{"webhooks"}, Dir: functions, Func: "aw_report_canceled",
			Old: "and placeholder and webhook_url is null", New: "and placeholder",
			Suites: onPostgres, Tests: cases("canceled before its message"),
		},
		{
			Name: "redelivery-is-reported", Breaks: []string{"webhooks"}, Dir: functions, Func: "aw_sent_after_failure",
			Old: "return not {{ .schema }}.aw_had_message(j, p) and v_inserted", New: "return v_inserted",
			Suites: onModel, Tests: with(cases("sent again is reported once"), model),
		},
		{
			Name: "message-that-ended-the-job-is-reported", Breaks: []string{"webhooks"},
			Dir: functions, Func: "aw_sent_after_failure",
			Old: "and d.message_id = v_message_id);", New: "and false);",
			Suites: onModel, Tests: with(cases("sent again is reported once"), model),
		},
		{
			Name: "duplicates-are-reported-for-ever", Breaks: []string{"webhooks"},
			Dir: functions, Func: "aw_report_duplicate",
			Old: "if v_reported >= c_most then", New: "if false then",
			Suites: onPostgres, Tests: cases("sent again and again"),
		},
		{
			Name: "claimed-twice", Breaks: []string{"webhooks"}, Dir: functions, Func: "aw_claim_deliveries",
			Old:    "lease_expires_at = v_now + {{ .schema }}.aw_interval(p -> 'lease_ms'),",
			New:    "lease_expires_at = v_now,",
			Suites: onPostgres, Tests: cases("deliveries", "workers at once"),
		},
		{
			Name: "stale-claim-is-extended", Breaks: []string{"webhooks"},
			Dir: functions, Func: "aw_extend_deliveries",
			Old: "and w.id = c.id and w.fence = c.fence and w.status", New: "and w.id = c.id and w.status",
			Suites: onPostgres, Tests: cases("claims that are extended"),
		},
		{
			Name: "outage-holds-nothing", Breaks: []string{"webhooks"}, Dir: functions, Func: "aw_claim_deliveries",
			Old:    "v_down := exists (select from {{ .schema }}.webhook_outages o where o.client_id = v_client)",
			New:    "v_down := false",
			Suites: onPostgres, Tests: cases("receivers that are down", "paths that are down"),
		},
		{
			Name: "outage-ends-and-nothing-goes-out", Breaks: []string{"webhooks"},
			Dir: functions, Func: "aw_release_deliveries",
			Old: "next_attempt_at = greatest(now_at, d.scheduled_at)", New: "next_attempt_at = d.next_attempt_at",
			Suites: onPostgres, Tests: cases("receivers that are down"),
		},
		{
			Name: "end-of-an-outage-costs-attempts", Breaks: []string{"webhooks"},
			Dir: functions, Func: "aw_release_deliveries",
			Old: "next_attempt_at = greatest(now_at, d.scheduled_at)", New: "next_attempt_at = now_at",
			Suites: onPostgres, Tests: cases("receivers that are down"),
		},
		{
			Name: "what-is-not-sent-ends-an-outage", Breaks: []string{"webhooks"},
			Dir: functions, Func: "aw_settle_delivery",
			Old: "between 1 and 499;", New: "between 1 and 499 or v_status = 'refused';",
			Suites: onPostgres, Tests: cases("what speaks for others"),
		},
		{
			Name: "an-answer-starts-an-outage", Breaks: []string{"webhooks"},
			Dir: functions, Func: "aw_settle_delivery",
			Old: "interval '0'), make_interval(mins => 5));", New: "interval '0'), make_interval(hours => 24));",
			Suites: onPostgres, Tests: cases("what speaks for others"),
		},
		{
			Name: "probe-costs-an-attempt", Breaks: []string{"webhooks"}, Dir: functions, Func: "aw_settle_delivery",
			Old:    "case when w.waits_for is not null and v_down is not null or p -> 'uncounted' = 'true' then 0",
			New:    "case when p -> 'uncounted' = 'true' then 0",
			Suites: onPostgres, Tests: cases("receivers that are down"),
		},
		{
			Name: "stale-delivery-settles", Breaks: []string{"webhooks"}, Dir: functions, Func: "aw_settle_delivery",
			Old: "and id = p ->> 'id' and fence = (p ->> 'fence')::bigint", New: "and id = p ->> 'id'",
			Suites: onPostgres, Tests: cases("deliveries"),
		},
	}
}
