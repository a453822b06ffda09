package sabotage

// inTheRights are the sabotages of privileges in the database, by functions and without them.
func inTheRights() []Sabotage {
	attacks := []Suite{
		{
			Package: "internal/store/postgres",
			Run:     "^(TestOverloads|TestReader|TestPlansAreNotSent|TestWebhooksAreNotForged)$",
		},
	}
	return []Sabotage{
		{
			Name: "others-names-are-found", Breaks: []string{"I10"}, Dir: "internal/store/schema", Func: "path",
			Old: `"pg_catalog, pg_temp"`, New: `"pg_catalog, public, pg_temp"`,
			Suites: onSchema, Tests: tests("internal/store/schema", "TestEveryTable"),
		},
		{
			Name: "planted-effect-runs", Breaks: []string{"I10"}, Dir: functions, Func: "aw_effect",
			Old:    "select from pg_proc where pg_get_userbyid(proowner) = current_user and oid",
			New:    "select from pg_proc where oid",
			Suites: attacks, Tests: tests("internal/store/postgres", "TestOverloads"),
		},
		{
			Name: "tenants-select-from-tables", Breaks: []string{"I10"}, Dir: functions, Func: "95_rights",
			Old:    "execute format('grant %s on {{ .schema }}.%I to aw_owner', t.privileges, t.name);",
			New:    "execute format('grant %s on {{ .schema }}.%I to aw_owner, async_worker', t.privileges, t.name);",
			Suites: append(onSchema, onTenancy...), Tests: with(tests("internal/store/postgres", "TestTenancy"),
				tests("internal/store/schema", "TestEveryTable")...),
		},
		{
			Name: "plans-are-sent", Breaks: []string{"I10"}, Dir: functions, Func: "95_rights",
			Old: "security definer set client_min_messages = notice", New: "security definer",
			Suites: attacks, Tests: tests("internal/store/postgres", "TestPlansAreNotSent"),
		},
		{
			Name: "readers-call-all", Breaks: []string{"I10"}, Dir: functions, Func: "95_rights",
			Old: "if f.name = any ({{ .reads }}) then", New: "if f.entry then",
			Suites: attacks, Tests: tests("internal/store/postgres", "TestReader"),
		},
		{
			Name: "readers-login-may-be-another", Breaks: []string{"I10"}, Dir: functions, Func: "aw_bound",
			Old: "when session_user::text like 'async\\_worker\\_reader\\_%' then", New: "when false then",
			Suites: attacks, Tests: tests("internal/store/postgres", "TestReader"),
		},
		{
			Name: "any-unbound-key-names-a-tenant", Breaks: []string{"I10"}, Dir: functions, Func: "aw_tenant",
			Old: "if not {{ .schema }}.aw_unbound() then", New: "if false then",
			Suites: []Suite{
				{Package: "internal/store/supabase", Run: "^TestCheck$"},
			}, Tests: tests("internal/store/supabase", "TestCheck"),
		},
		{
			Name: "a-bound-key-sees-all-processing-jobs", Breaks: []string{"I10"}, Dir: functions, Func: "aw_processing_jobs",
			Old: "if {{ .schema }}.aw_unbound() then", New: "if true then",
			Suites: []Suite{{Package: "queue/postgres", Run: "^TestProcessingJobs"}},
			Tests:  tests("queue/postgres", "TestProcessingJobsByRole"),
		},
		{
			Name: "readers-see-webhooks", Breaks: []string{"I10"}, Dir: functions, Func: "aw_sees_webhooks",
			Old: "pg_has_role({{ .schema }}.aw_caller()::name, 'async_worker', 'member')", New: "true",
			Suites: []Suite{{Package: "internal/store/postgres", Run: "^(TestReader|TestOwnViews)$"}},
			Tests:  tests("internal/store/postgres", "TestReader", "TestOwnViews"),
		},
		{
			Name: "any-id-is-signed", Breaks: []string{"webhooks"}, Dir: "webhook", Func: "Sender.send",
			Old: "if !signable(d.ID) {", New: "if false {",
			Suites: onHooks, Tests: tests("webhook", "TestSendRefused"),
		},
		{
			Name: "any-id-is-claimed", Breaks: []string{"webhooks"}, Dir: functions, Func: "aw_due_deliveries",
			Old: "and length(w.id) <= 128 and w.id ~ '^[A-Za-z0-9_-]+$'", New: "",
			Suites: attacks, Tests: tests("internal/store/postgres", "TestWebhooksAreNotForged"),
		},
	}
}
