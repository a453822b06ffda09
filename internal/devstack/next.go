package devstack

import "context"

// printNext prints what to try with the running stack.
func (d *dev) printNext(ctx context.Context) error {
	program := d.home.rel(d.Worker)
	link, err := d.api.dashboard(ctx)
	if err != nil {
		return err
	}
	d.out.section("The dashboard: this link signs you in, once, within 10 minutes")
	d.out.line("  %s", link)
	d.out.section("It is up. Try next, in another terminal:")
	for _, command := range []string{
		"set -a; . " + d.home.rel(d.home.envPath()) + "; set +a",
		program + " enqueue --type ingest --upload README.md --document-set mine --webhook-url \"$DEV_WEBHOOK_URL\" " +
			"--watch",
		program + " search \"how much is a night in the marina\"",
		program + " enqueue --prompt \"How much is a night in the marina?\" --document-set harbour --watch",
		d.api.curl(),
		program + " jobs list",
		program + ` status --addr "${DEV_API_URL#http://}"`,
		program + " dlq list",
		"psql \"$DEV_DATABASE_URL\" -c 'select filename, active_version, pages from documents'",
		"tail -f " + d.home.rel(d.home.logPath("worker")),
	} {
		d.out.line("  %s", command)
	}
	if d.Backend != BackendSupabase {
		d.out.line("\nWebhooks are shown here as they come. Ctrl-C stops everything, and removes the data of the services.")
		return nil
	}
	d.out.line("\nWebhooks are shown here as they come. Ctrl-C stops everything; the data stays in %s for next time.",
		d.home.rel(d.home.data))
	return nil
}
