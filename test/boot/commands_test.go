package boot

import "strconv"

// commands runs what documents print on the installed package.
func commands(b *bed) {
	const done = "succeeded"
	for _, c := range []struct{ line, want string }{
		{"async-worker status --tenant southhaven", "southhaven  ready"},
		{"async-worker check-config --tenant southhaven", "The settings are fine."},
		{"async-worker jobs list --tenant southhaven", done},
		{"async-worker jobs get first-southhaven --tenant southhaven", done},
		{"async-worker dlq list --tenant southhaven", "TRIES"},
		{"async-worker documents list --tenant southhaven", "handbook.pdf"},
		{"async-worker webhooks list --state delivered --tenant southhaven", "first-southhaven"},
		{"async-worker search harbour --tenant southhaven", "handbook.pdf"},
		{"async-worker queue --tenant southhaven", "southhaven-tasks-deadletter"},
		{"async-worker enqueue --tenant east-bay --type ingest --filename first-east-bay.txt --document-set boot " +
			"--force --id again", "again"},
		{"async-worker jobs watch again --tenant east-bay", done},
		{"async-worker tenant list", "east-bay"},
	} {
		b.contains(c.line, b.m.run("/bin/sh", "-c", c.line+" 2>&1"), c.want)
	}
	for _, c := range []struct {
		line string
		code int
		want string
	}{
		{"async-worker jobs list", 2, "--tenant: east-bay, southhaven"},
		{"async-worker jobs list --tenant nowhere", 78, "tenant add nowhere"},
		{"runuser -u nobody -- async-worker jobs list --tenant southhaven", 77, "run it as root"},
		{"runuser -u nobody -- async-worker jobs list", 77, "run it as root"},
	} {
		output := b.m.run("/bin/sh", "-c", c.line+` 2>&1; echo "exit $?"`)
		b.contains(c.line, output, c.want)
		b.contains(c.line, output, "exit "+strconv.Itoa(c.code))
	}
	b.figure("%d commands of documents, manual pages and catalog: all of them reach their tenant", printed(b))
}
