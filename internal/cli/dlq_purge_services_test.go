package cli

import (
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/task"
)

func TestPurge(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	first, second := d.fail("a", report), d.fail("b", report)
	third := d.fail("c", report, func(t *task.Task) { t.Type = task.Summarize })
	d.command("dlq", "purge", "--all").want(t, exitUsage, "standard input is not a terminal", "--dry-run")
	d.command("dlq", "purge").want(t, exitUsage, "no dead letters are selected")
	d.command("dlq", "purge", "--type", "ingest", "--dry-run").want(t, exitOK, first, second, "2 would be removed")
	if d.depth(d.Queues.DeadLetter) != 3 {
		t.Error("a dry run removed a copy")
	}
	var r purgeReport
	purged := d.command("dlq", "purge", "--type", "ingest", "--limit", "1", "--yes", "-o", "json")
	if err := json.Unmarshal([]byte(purged.out), &r); err != nil || len(r.Purged) != 1 || r.Purged[0] != first ||
		r.Copies.Removed != 1 {
		t.Errorf("%v: %+v", err, purged)
	}
	d.command("dlq", "purge", second, "--yes", "--rows-only").want(t, exitOK, second, "1 of 1 removed")
	d.command("dlq", "show", second).want(t, exitFailed, "not found")
	if n := d.depth(d.Queues.DeadLetter); n != 2 {
		t.Errorf("%d copies", n)
	}
	d.command("dlq", "purge", "--newer-than", "1h", "--older-than", "30m", "--yes").want(t, exitOK, "0 of 0 removed")
	d.command("dlq", "show", third).want(t, exitOK, "summarize")
	d.command("jobs", "get", "a").want(t, exitOK, "failed") // the jobs stay
}

func TestConfirm(t *testing.T) {
	t.Parallel()
	for answer, ok := range map[string]bool{
		"purge 12\n": true, " purge 12 ": true, "purge 1\n": false, "y\n": false,
		"": false, "\n": false,
	} {
		if err := confirm(strings.NewReader(answer), io.Discard, "12 dead letters go.", "purge 12",
			"nothing was removed"); (err == nil) != ok {
			t.Errorf("%q: %v", answer, err)
		}
	}
}

func TestPace(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{
		"10/s": 10, "30/m": 0.5, "3600/h": 1, "2.5": 2.5, "x": 0, "10/": 0,
		"/s": 0, "NaN/s": 0, "-1/s": 0, "1/d": 0, "Inf/s": 0,
	} {
		var r rateFlag
		if err := r.Set(text); r.perSecond != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %v, %v; want %v", text, r.perSecond, err, want)
		}
	}
}
