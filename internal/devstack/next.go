package devstack

// printNext prints what to try with the running stack.
func (d *dev) printNext() {
	program := d.home.rel(d.Worker)
	d.out.section("It is up. Try next, in another terminal:")
	for _, command := range []string{
		"set -a; . " + d.home.rel(d.home.envPath()) + "; set +a",
		program + " enqueue --type ingest --upload README.md --document-set mine --webhook-url \"$DEV_WEBHOOK_URL\" " +
			"--watch",
		program + " search \"how much is a night in the marina\"",
		program + " enqueue --prompt \"How much is a night in the marina?\" --document-set harbour --watch",
		d.api.curl(),
		program + " jobs list",
		program + " dlq list",
		"psql \"$DEV_DATABASE_URL\" -c 'select filename, active_version, pages from documents'",
		"tail -f " + d.home.rel(d.home.logPath("worker")),
	} {
		d.out.line("  %s", command)
	}
	d.out.line("\nWebhooks are shown here as they come. Ctrl-C stops everything; the data stays in %s for next time.",
		d.home.rel(d.home.data))
}
