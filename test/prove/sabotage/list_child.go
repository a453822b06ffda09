package sabotage

// aroundParsers are the sabotages of the sandbox of external programs.
func aroundParsers() []Sabotage {
	return []Sabotage{
		{
			Name: "parser-without-landlock", Breaks: []string{"parsers"}, Dir: child, Func: "sandbox.enter",
			Old: "if err := enforce(b.ruleset); err != nil {", New: "if err := error(nil); err != nil {",
			Suites: onChild, Tests: tests(child, "TestThief"),
		},
		{
			Name: "parser-with-sockets", Breaks: []string{"parsers"}, Dir: child, Func: "sandbox.enter",
			Old: "if err := b.filter.install(); err != nil {", New: "if err := error(nil); err != nil {",
			Suites: onChild, Tests: tests(child, "TestThief"),
		},
		{
			Name: "parser-changes-rights-of-files", Breaks: []string{"parsers"}, Dir: child, Func: "newFilter",
			Old: "slices.Concat(denied, byPath)", New: "slices.Concat(denied[:len(denied)-15], byPath[:0])",
			Suites: onChild, Tests: tests(child, "TestThief"),
		},
		{
			Name: "parser-has-the-worker-signalled", Breaks: []string{"parsers"}, Dir: child, Func: "newFilter",
			Old: "1, unix.F_SETOWN, unix.F_SETOWN_EX, unix.F_SETSIG)", New: "1, unix.F_SETSIG)",
			Suites: onChild, Tests: tests(child, "TestThief"),
		},
		{
			Name: "parser-with-the-workers-descriptors", Breaks: []string{"parsers"},
			Dir: child, Func: "sandbox.enter",
			Old: "_ = unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC)", New: "_ = math.MaxInt32",
			Suites: onChild, Tests: tests(child, "TestThief"),
		},
		{
			Name: "worker-confined-with-its-parser", Breaks: []string{"parsers"}, Dir: child, Func: "thread.run",
			Old: "<-t.over", New: "<-t.over; runtime.UnlockOSThread()",
			Suites: onChild, Tests: tests(child, "TestWorkerStaysFree"),
		},
		{
			Name: "worker-whose-memory-can-be-read", Breaks: []string{"parsers"}, Dir: child, Func: "Protect",
			Old: "unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)", New: "unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0)",
			Suites: onChild, Tests: tests(child, "TestProtect"),
		},
		{
			Name: "memory-without-a-part-for-steps", Breaks: []string{"parsers"}, Dir: child, Func: "Pool.fits",
			Old: "return p.used[Stream]+n <= p.total-p.steps", New: "return true",
			Suites: onPool, Tests: tests(child, "TestPoolEndsAll"),
		},
		{
			Name: "memory-that-streams-wait-for-in-vain", Breaks: []string{"parsers"}, Dir: child, Func: "Pool.fits",
			Old: "return len(p.waiting[Stream]) == 0 || p.used[Step]+n <= p.steps", New: "return true",
			Suites: onPool, Tests: tests(child, "TestPoolIsFair"),
		},
		{
			Name: "image-decoded-whatever-it-takes", Breaks: []string{"parsers"},
			Dir: "internal/extract/pageimage", Func: "file.checkCost",
			Old: "if need > most {", New: "if need < 0 {",
			Suites: onPictures, Tests: tests("internal/extract/pageimage", "TestCostlyPicturesAreRefused"),
		},
		{
			Name: "layout-that-looks-at-a-table-for-each-word", Breaks: []string{"parsers"},
			Dir: "internal/extract/native/pdf", Func: "cutter.bandsAt",
			Old:    "if run := c.runs.of[i]; run >= 0 && c.across[run] {",
			New:    "if run := c.runs.of[i]; run >= 0 && c.across[run] && c.runs.across(nil, x, c.effort)[run] {",
			Suites: onLayout, Tests: tests("internal/extract/native/pdf", "TestEffortGrowsWithThePage"),
		},
		{
			Name: "layout-without-an-end", Breaks: []string{"parsers"},
			Dir: "internal/extract/native/pdf", Func: "columns",
			Old: "if !e.spend(len(segs)) {", New: "if e.spend(len(segs)) && false {",
			Suites: onLayout, Tests: tests("internal/extract/native/pdf", "TestNoColumnsBeyondTheEffort"),
		},
		{
			Name: "layout-for-a-task-that-has-ended", Breaks: []string{"parsers"},
			Dir: "internal/extract/native/pdf", Func: "ended",
			Old: "if ctx.Err() != nil {", New: "if ctx == nil {",
			Suites: onLayout, Tests: tests("internal/extract/native/pdf", "TestCancelEndsALayout",
				"TestLayoutEndsWithTheTask"),
		},
		{
			Name: "fonts-without-a-bound", Breaks: []string{"parsers"},
			Dir: "internal/extract/native/pdf/content", Func: "interpreter.fontOf",
			Old: "|| in.widths > maxAllWidths {", New: "{",
			Suites: []Suite{{Package: "internal/extract/native/pdf/content"}},
			Tests:  tests("internal/extract/native/pdf/content", "TestFontsOfAPage"),
		},
	}
}
