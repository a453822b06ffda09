package boot

import (
	"fmt"
	"strings"
	"time"
)

// wrongSettings: every mistake is in the journal at once, and nothing is restarted.
func wrongSettings(b *bed) {
	b.spoil("broken", map[string]string{"WORKER_CONCURRENCY": "many", "POLL_MAX_MS": "-1", "SUPABASE_URL": "somewhere"})
	if out, err := b.m.try("systemctl", "start", unit("broken")); err == nil {
		b.Errorf("it was started: %s", out)
	}
	if got := strings.Join([]string{b.show("broken", "ActiveState"), b.show("broken",
		"ExecMainStatus"), b.show("broken", "NRestarts")}, " "); got != "failed 78 0" {
		b.Errorf("state, exit and restarts are %s, want failed 78 0", got)
	}
	output := b.journal("broken")
	b.contains("the journal", output, "WORKER_CONCURRENCY", "POLL_MAX_MS", "SUPABASE_URL")

	// The instance's name decides whose tasks these are.
	b.add("confused", nil)
	b.spoil("confused", map[string]string{"CLIENT_ID": south})
	if out, err := b.m.try("systemctl", "start", unit("confused")); err == nil {
		b.Errorf("it was started: %s", out)
	}
	if got := b.show("confused", "ExecMainStatus"); got != "78" {
		b.Errorf("with another tenant's CLIENT_ID the exit is %s, want 78", got)
	}
	b.contains("the journal", b.journal("confused"), "CLIENT_ID")

	// A tenant that nobody added, such as a mistyped name.
	if out, err := b.m.try("systemctl", "start", unit("nobody")); err == nil {
		b.Errorf("it was started: %s", out)
	}
	if got := b.show("nobody", "ExecMainStatus"); got != "78" {
		b.Errorf("without settings the exit is %s, want 78\n%s", got, b.journal("nobody"))
	}
	b.figure("wrong settings: exit 78, 3 of 3 in the journal, no restart; so with another tenant's CLIENT_ID, and " +
		"for a tenant that nobody added")
	for _, client := range []string{"broken", "confused", "nobody"} {
		b.m.run("systemctl", "reset-failed", unit(client))
	}
}

// reload: wrong settings are refused and change nothing, valid ones are in force without a restart.
func reload(b *bed) {
	pid := b.pid(south)
	b.spoil(south, map[string]string{"WORKER_CONCURRENCY": "many"})
	if out, err := b.m.try("systemctl", "reload", unit(south)); err == nil {
		b.Errorf("wrong settings were accepted: %s", out)
	}
	b.contains("the journal", b.journal(south), "WORKER_CONCURRENCY\n  problem: ")
	b.slots("refused", 4)

	b.add(south, map[string]string{"WORKER_CONCURRENCY": "2"})
	if out, err := b.m.try("systemctl", "reload", unit(south)); err != nil {
		b.Fatalf("valid settings were refused: %s\n%s", out, tail(b.journal(south), 20))
	}
	b.contains("the journal", b.journal(south), "in force now: WORKER_CONCURRENCY")
	b.slots("taken", 2)
	if now := b.pid(south); now != pid {
		b.Errorf("the reload made another process: %d, was %d", now, pid)
	}
	b.figure("reload: wrong settings are refused and change nothing; valid ones are in force in the same process")
}

// slots runs a task, and checks meanwhile how many could run.
func (b *bed) slots(id string, want int) {
	b.Helper()
	asked := b.h.hold(6 * time.Second)
	b.h.send(south, id, "ingest", id+".txt", []byte("A captain who hears: "+id))
	b.h.await(asked, "the model is called")
	b.eventually(fmt.Sprintf("the status line of %d slots", want), func() (string, bool) {
		status := b.show(south, "StatusText")
		return status, strings.Contains(status, fmt.Sprintf("working on 1 of %d", want))
	})
	b.h.once(south, id, 1)
}
