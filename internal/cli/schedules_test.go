package cli

import (
	"encoding/json"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/app"
)

// TestSchedules: what an operator does with schedules, on a real database.
func TestSchedules(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.command("schedules", "list").want(t, exitOK, "ID CRON ZONE NEXT FIRED LAST", "no schedules", "schedules add")
	const payload = `{"filename":"a.pdf","document_set":"s"}`
	d.command("schedules", "add", "nightly", "--cron", "30 2 * * *", "--time-zone", "Europe/Berlin", "--type", "ingest",
		"--payload", payload, "--catch-up", "2").want(t, exitOK)
	d.command("schedules", "add", "nightly", "--cron", "@daily", "--type", "ingest", "--payload", payload).
		want(t, exitFailed, "choose another ID")
	for wrong, says := range map[string][]string{
		"no task":   {"--cron", "@daily"},
		"bad cron":  {"--cron", "61 * * * *", "--type", "ingest", "--payload", payload},
		"bad zone":  {"--cron", "@daily", "--time-zone", "Nowhere", "--type", "ingest", "--payload", payload},
		"bad task":  {"--cron", "@daily", "--type", "ingest", "--payload", `{}`},
		"both":      {"--cron", "@daily", "--type", "ingest", "--task", "x.json"},
		"not JSON":  {"--cron", "@daily", "--type", "ingest", "--payload", `{`},
		"two lists": {"--cron", "@daily", "--overlap", "sometimes", "--type", "ingest", "--payload", payload},
	} {
		if r := d.command(append([]string{"schedules", "add", "other"}, says...)...); r.code != exitUsage {
			t.Errorf("%s: exit %d: %s", wrong, r.code, r.errOut)
		}
	}
	d.command("schedules", "add", "other", "--cron", "@daily", "--type", "ingest", "--payload", "{").
		want(t, exitUsage, "--payload is not a JSON object", "write it like --payload '{")
	d.command("schedules", "pause", "nightly").want(t, exitOK, "nightly is paused")
	d.command("schedules", "list").want(t, exitOK, "nightly", "paused")
	d.command("schedules", "resume", "nightly").want(t, exitOK, "nightly fires again, next at ", " CE")
	var found []listedSchedule
	if err := json.Unmarshal([]byte(d.command("schedules", "list", "-o", "json").out), &found); err != nil ||
		len(found) != 1 || len(found[0].Upcoming) != 5 || found[0].CatchUp != 2 || found[0].Paused {
		t.Errorf("listed %+v, %v", found, err)
	}
	d.command("schedules", "pause", "none").want(t, exitFailed, "schedules list")
	d.command("schedules", "remove", "nightly").want(t, exitOK, "nightly is removed")
	d.command("schedules", "remove", "nightly").want(t, exitFailed, "schedules list")
}

// TestScheduleOfAnUnknownType is refused with the types that there are, as a task is.
func TestScheduleOfAnUnknownType(t *testing.T) {
	t.Parallel()
	invoke(t, app.Tenant{Store: &rows{}}, testEnv(), "", "schedules", "add", "other", "--cron", "@daily", "--type", "translate").
		want(t, exitUsage, `unknown task_type "translate"; use one of agent, ai, convert`)
}
