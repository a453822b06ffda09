package sabotage

// ofTheAPI are the sabotages of what is promised to callers over HTTP.
func ofTheAPI() []Sabotage {
	const api = "internal/api"
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
			Name: "scope-is-not-asked-for", Breaks: []string{"api"}, Dir: api, Func: "API.authorize",
			Old: "p.Scope < need || need == 0", New: "need == 0",
			Suites: onAPI, Tests: tests(api, "TestWhoMay", "TestSubmitCannotRemove", "TestTickets"),
		},
		{
			Name: "token-of-another-tenant-is-good", Breaks: []string{"api"}, Dir: api, Func: "verifier.verify",
			Old: "if client != v.client {", New: "if false {",
			Suites: onAPI, Tests: tests(api, "TestJWTs"),
		},
	}
}
