package sabotage

// onGateway are the suites of xml tasks.
var onGateway = []Suite{{Package: "handlers/xml", Run: "^Test(KilledAtEachStep|SameBytes|KeptBlobRemoved|Forged)$"}}

// ofTheGateway are the sabotages of the rules that an answer of the gateway is paid for once, and that a forged value is
// found.
func ofTheGateway() []Sabotage {
	return []Sabotage{
		{
			Name: "two-jobs-ask", Breaks: []string{"gateway"}, Dir: functions, Func: "aw_gateway_claim",
			Old: "if h.id is not null then", New: "if false then",
			Suites: onPostgres, Tests: cases("answers of the gateway", "answers of the gateway at once"),
		},
		{
			Name: "claims-start-again", Breaks: []string{"gateway"}, Dir: functions, Func: "aw_gateway_claim",
			Old: "floor(extract(epoch from clock_timestamp()) * 1000)::bigint * 1000", New: "0",
			Suites: onPostgres, Tests: cases("answers that are not used any more"),
		},
		{
			Name: "answer-of-a-lost-claim", Breaks: []string{"gateway", "I4"}, Dir: functions, Func: "aw_gateway_keep",
			Old: "g.fence is distinct from (p ->> 'claim')::bigint or g.job_id is distinct from j.id",
			New: "false", Suites: onPostgres, Tests: cases("answers of the lost"),
		},
		{
			Name: "claim-outlives-its-job", Breaks: []string{"gateway"}, Dir: functions, Func: "aw_gateway_holder",
			Old: "and x.lease_expires_at > clock_timestamp()", New: "",
			Suites: onPostgres, Tests: cases("answers of the lost"),
		},
		{
			Name: "stored-answer-is-paid-again", Breaks: []string{"gateway"}, Dir: "handlers/xml", Func: "work.candidates",
			Old: "n >= max(gateway.FirstClaim(claim.Claim), claim.Claim-adoptable)", New: "n > claim.Claim",
			Suites: onGateway, Tests: tests("handlers/xml", "TestKilledAtEachStep"),
		},
		{
			Name: "forced-answer-is-paid-again", Breaks: []string{"gateway"}, Dir: "handlers/xml", Func: "work.remember",
			Old: "if q.step == string(Checked) || !w.ownOnly(claim) {", New: "if true {",
			Suites: onGateway, Tests: tests("handlers/xml", "TestKilledAtEachStep"),
		},
		{
			Name: "kept-answer-is-not-compared", Breaks: []string{"gateway"}, Dir: "handlers/xml", Func: "work.download",
			Old: `f.SHA256 != "" && f.SHA256 != hex.EncodeToString(sum.Sum(nil))`, New: "false",
			Suites: onGateway, Tests: tests("handlers/xml", "TestKeptBlobRemoved"),
		},
		{
			Name: "model-is-believed", Breaks: []string{"gateway"}, Dir: "handlers/xml", Func: "judge",
			Old: "wrong = wrong || hard", New: "_ = hard",
			Suites: onGateway, Tests: tests("handlers/xml", "TestForged"),
		},
		{
			Name: "not-probed-first", Breaks: []string{"gateway"}, Dir: engine, Func: "circuit.enter",
			Old: "c.probeFirst(ctx)", New: "",
			Suites: onEngine, Tests: tests("internal/engine", "TestProbedFirst"),
		},
	}
}
