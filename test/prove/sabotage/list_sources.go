package sabotage

// onWeb are the tests of what fetches documents.
var onWeb = []Suite{{Package: "internal/source", Run: "^TestWeb"}}

// ofTheSources are the sabotages of where documents come from, and of the end of old rows.
func ofTheSources() []Sabotage {
	return []Sabotage{
		{
			Name: "document-from-a-private-address", Breaks: []string{"sources"}, Dir: "internal/guard",
			Func: "Guard.Transport", Old: "return check(target.Addr())", New: "_ = target; return nil",
			Suites: onWeb, Tests: tests("internal/source", "TestWebRebinding", "TestWebRefused"),
		},
		{
			Name: "redirects-lead-anywhere", Breaks: []string{"sources"}, Dir: "internal/source", Func: "mayFollow",
			Old: `case u.Scheme != "https":`, New: "case false:",
			Suites: onWeb, Tests: tests("internal/source", "TestWebRedirects"),
		},
		{
			Name: "redirects-tell-the-query", Breaks: []string{"sources"}, Dir: "internal/source", Func: "Web.get",
			Old: `r.Header.Del("Referer")`, New: "_ = r",
			Suites: onWeb, Tests: tests("internal/source", "TestWebRedirects"),
		},
		{
			Name: "slow-servers-hold-a-task", Breaks: []string{"sources"}, Dir: "internal/source", Func: "paced.Read",
			Old: "if p.got += int64(n); p.got >= p.pace {", New: "if p.got += int64(n); n > 0 {",
			Suites: onWeb, Tests: tests("internal/source", "TestWebHolds"),
		},
		{
			Name: "lost-attempts-submit-jobs", Breaks: []string{"I4"}, Dir: functions, Func: "aw_submit_children",
			Old: "j {{ .schema }}.jobs := {{ .schema }}.aw_lock_for_staging(p);",
			New: "j {{ .schema }}.jobs := (select x from {{ .schema }}.jobs x where x.client_id = " +
				"{{ .schema }}.aw_tenant(p) and x.id = p ->> 'job_id');",
			Suites: onPostgres, Tests: cases("children of a job"),
		},
		{
			Name: "forced-jobs-submit-nothing", Breaks: []string{"I1"}, Dir: functions, Func: "aw_child_id_in",
			Old: "jsonb_build_array(id, series, thing, version)", New: "jsonb_build_array(id, thing, version)",
			Suites: onPostgres, Tests: cases("children of a job"),
		},
		{
			Name: "copies-of-a-child-are-other-messages", Breaks: []string{"I2"}, Dir: "internal/children", Func: "Submitter.send",
			Old: "message.Identified(u, u.Message)", New: "u.Message",
			Suites: onChildren, Tests: tests("internal/children", "TestSendAgain"),
		},
		{
			Name: "needed-jobs-are-removed", Breaks: []string{"I1", "webhooks"}, Dir: functions, Func: "aw_job_needed",
			Old: "d.client_id = j.client_id and d.job_id = j.id and d.status = 'pending'", New: "false",
			Suites: onPostgres, Tests: cases("jobs that are needed"),
		},
		{
			Name: "webhooks-are-removed-unsent", Breaks: []string{"webhooks"}, Dir: functions,
			Func: "aw_expire_deliveries", Old: "and d.status <> 'pending' and", New: "and",
			Suites: onPostgres, Tests: cases("expired deliveries"),
		},
		{
			Name: "submitters-delete-documents", Breaks: []string{"api"}, Dir: "internal/api", Func: "removes",
			Old: `[]string{"delete", "delete_missing"}`, New: `[]string{"delete"}`,
			Suites: onAPI, Tests: tests("internal/api", "TestSubmitCannotRemove"),
		},
	}
}
