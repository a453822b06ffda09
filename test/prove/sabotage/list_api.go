package sabotage

// ofTheAPI are the sabotages of what is promised to callers over HTTP.
func ofTheAPI() []Sabotage {
	const api, pages, front = "internal/api", "internal/dashboard", "internal/front"
	return []Sabotage{
		{
			Name: "key-answers-another-request", Breaks: []string{"api"}, Dir: functions, Func: "aw_submit_once",
			Old: "if k.fingerprint <> p #>> '{idempotency,fingerprint}' then", New: "if false then",
			Suites: onPostgres, Tests: cases("submit once"),
		},
		{
			Name: "feed-passes-open-transactions", Breaks: []string{"api"}, Dir: functions, Func: "aw_feed",
			Old: "e.tx is not null and e.tx < v_end", New: "e.tx is not null",
			Suites: onFeed, Tests: tests("internal/store/postgres", "TestFeedWaitsForOpenTransactions"),
		},
		{
			Name: "ticket-is-used-twice", Breaks: []string{"api"}, Dir: api, Func: "tickets.redeem",
			Old: "delete(t.issued, text)", New: "",
			Suites: onAPI, Tests: tests(api, "TestTickets"),
		},
		{
			Name: "scope-is-not-asked-for", Breaks: []string{"api"}, Dir: api, Func: "Principal.may",
			Old: "p.Scope < need || need == 0", New: "need == 0",
			Suites: onAPI, Tests: tests(api, "TestWhoMay", "TestSubmitCannotRemove", "TestTickets"),
		},
		{
			Name: "submitter-reads-messages", Breaks: []string{"api"}, Dir: api, Func: "API.allowed",
			Old: "case a.readsMessages(t):", New: "case false:",
			Suites: onAPI, Tests: tests(api, "TestSubmitCannotReadMessages"),
		},
		{
			Name: "token-of-another-tenant-is-good", Breaks: []string{"api"}, Dir: api, Func: "verifier.verify",
			Old: "if client != v.client {", New: "if false {",
			Suites: onAPI, Tests: tests(api, "TestJWTs"),
		},
		{
			Name: "page-for-any-scope", Breaks: []string{"api"}, Dir: pages, Func: "Dashboard.serve",
			Old: "p.by.Require(to.scope)", New: "p.by.Require(apitoken.Read)",
			Suites: onPages, Tests: tests(pages, "TestScopes"),
		},
		{
			Name: "another-site-asks-for-a-change", Breaks: []string{"api"}, Dir: pages, Func: "protect",
			Old: "http.NewCrossOriginProtection().Handler(next)", New: "next",
			Suites: onPages, Tests: tests(pages, "TestCrossSite"),
		},
		{
			Name: "link-signs-in-twice", Breaks: []string{"api"}, Dir: pages, Func: "links.redeem",
			Old: "delete(l.issued, code)", New: "",
			Suites: onPages, Tests: tests(pages, "TestLinks"),
		},
		{
			Name: "session-of-another-tenant", Breaks: []string{"I10"}, Dir: front, Func: "tenant.rewrite",
			Old: "p.In.CookiesNamed(sessionOf(t.name))", New: "p.In.Cookies()",
			Suites: onFront, Tests: tests(front, "TestForwards"),
		},
		{
			Name: "script-of-a-tenant", Breaks: []string{"I10"}, Dir: front, Func: "tenant.policy",
			Old: "scripts = host + t.files", New: `scripts = "'self'"`,
			Suites: onFront, Tests: tests(front, "TestConfined"),
		},
		{
			Name: "redirect-to-another-tenant", Breaks: []string{"I10"}, Dir: front, Func: "tenant.own",
			Old: "!ok || name != t.name", New: `!ok || name == ""`,
			Suites: onFront, Tests: tests(front, "TestRedirects"),
		},
	}
}
