package sabotage

// aroundParsers are the sabotages of what confines external programs.
func aroundParsers() []Sabotage {
	const file = "internal/child/sandbox.go"
	return []Sabotage{
		{
			Name: "parser-without-landlock", Breaks: []string{"parsers"}, File: file,
			Old: "if err := enforce(b.ruleset); err != nil {", New: "if err := error(nil); err != nil {",
			Suites: onChild, Tests: tests("internal/child", "TestThief"),
		},
		{
			Name: "parser-with-sockets", Breaks: []string{"parsers"}, File: file,
			Old: "if err := b.filter.install(); err != nil {", New: "if err := error(nil); err != nil {",
			Suites: onChild, Tests: tests("internal/child", "TestThief"),
		},
		{
			Name: "parser-with-the-workers-descriptors", Breaks: []string{"parsers"}, File: file,
			Old: "_ = unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC)", New: "_ = math.MaxInt32",
			Suites: onChild, Tests: tests("internal/child", "TestThief"),
		},
		{
			Name: "worker-confined-with-its-parser", Breaks: []string{"parsers"}, File: file,
			Old: "\t<-t.over\n", New: "\t<-t.over\n\truntime.UnlockOSThread()\n",
			Suites: onChild, Tests: tests("internal/child", "TestWorkerStaysFree"),
		},
		{
			Name: "worker-whose-memory-can-be-read", Breaks: []string{"parsers"}, File: file,
			Old: "unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)", New: "unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0)",
			Suites: onChild, Tests: tests("internal/child", "TestProtect"),
		},
	}
}
