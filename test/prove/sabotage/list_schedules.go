package sabotage

// onSchedules are the suites of schedules.
var onSchedules = []Suite{{Package: "internal/schedule", Run: "^Test(ClocksAreChanged|PlanOfMany|MillionsMissed)$"}}

// ofTheSchedules are the sabotages of the rules that each firing is one job, and that what was missed is made up as far
// as it is asked for.
func ofTheSchedules() []Sabotage {
	return []Sabotage{
		{
			Name: "two-workers-fire", Breaks: []string{"schedules"}, Dir: functions, Func: "aw_fire_schedule",
			Old: "s.next_at is distinct from (p ->> 'next_at')::timestamptz", New: "false",
			Suites: onPostgres, Tests: cases("firings"),
		},
		{
			Name: "made-up-twice", Breaks: []string{"schedules"}, Dir: functions, Func: "aw_fire_schedule",
			Old: "or s.owed is distinct from {{ .schema }}.aw_times(p -> 'seen_owed')", New: "",
			Suites: onPostgres, Tests: cases("firings that overlap"),
		},
		{
			Name: "paused-schedule-fires", Breaks: []string{"schedules"}, Dir: functions, Func: "aw_fire_schedule",
			Old: "not found or s.paused or", New: "not found or",
			Suites: onPostgres, Tests: cases("schedules that are stopped"),
		},
		{
			Name: "mended-schedule-is-stopped", Breaks: []string{"schedules"}, Dir: functions, Func: "aw_stop_schedule",
			Old: "and updated_at = (p ->> 'updated_at')::timestamptz", New: "",
			Suites: onPostgres, Tests: cases("schedules that are stopped"),
		},
		{
			Name: "firings-overlap", Breaks: []string{"schedules"}, Dir: functions, Func: "aw_free",
			Old: "s.overlap = 'allow' or not exists", New: "true or not exists",
			Suites: onPostgres, Tests: cases("firings that overlap"),
		},
		{
			Name: "made-up-firing-is-skipped", Breaks: []string{"schedules", "I1"}, Dir: functions, Func: "aw_fire_schedule",
			Old: "not v_free and coalesce((p ->> 'late')::boolean, false)", New: "false",
			Suites: onPostgres, Tests: cases("firings that overlap"),
		},
		{
			Name: "everything-is-made-up", Breaks: []string{"schedules"}, Dir: "internal/schedule", Func: "planOf",
			Old: "len(p.owed) > catchUp", New: "len(p.owed) > MaxCatchUp",
			Suites: onSchedules, Tests: tests("internal/schedule", "TestPlanOfMany"),
		},
		{
			Name: "late-firing-is-on-time", Breaks: []string{"schedules"}, Dir: "internal/schedule", Func: "planOf",
			Old: "<= allowed", New: "<= lookBack",
			Suites: onSchedules, Tests: tests("internal/schedule", "TestPlanOfMany"),
		},
		{
			Name: "clocks-put-back-fire-twice", Breaks: []string{"schedules"}, Dir: "internal/schedule", Func: "Calendar.Next",
			Old: "c.fixed && p.again(next)", New: "false",
			Suites: onSchedules, Tests: tests("internal/schedule", "TestClocksAreChanged"),
		},
		{
			Name: "submitter-fires", Breaks: []string{"schedules", "api"}, Dir: "internal/api", Func: "API.allowed",
			Old: "schedule.IsFiring(t.ID)", New: "schedule.IsFiring(\"\")",
			Suites: onAPI, Tests: tests("internal/api", "TestSubmitCannotFire"),
		},
	}
}
