package gateway_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/gateway/gatewaytest"
	"github.com/seed-7227ef26/async-worker/internal/job"
)

// course is what becomes of a job, as the table shows it.
type course struct {
	what     string
	fault    gatewaytest.Fault
	once     bool // the fault happens once; else at every call
	state    job.State
	code     string
	attempts int
	calls    int
}

func statuses(state job.State, code string, attempts int, of ...int) (all []course) {
	for _, status := range of {
		all = append(all, course{
			fmt.Sprintf("HTTP %d", status), gatewaytest.Status(status), false, state, code, attempts, attempts,
		})
	}
	return all
}

// TestOutcomes: what becomes of a job at each answer of the gateway: what is the gateway's fault has three attempts, 5 to
// 20 s apart, what it refuses has one.
func TestOutcomes(t *testing.T) { //nolint:paralleltest // it prints one table
	cases := statuses(job.Failed, "GW_4XX", 1, 400, 401, 403, 404, 405, 406, 408, 409, 413, 415, 422, 429)
	cases = append(cases, statuses(job.Failed, "GW_5XX", 3, 204, 301, 304, 500, 501, 502, 503, 504, 507, 599)...)
	const failed, done = job.Failed, job.Succeeded
	cases = append(
		cases,
		course{"HTTP 503 once", gatewaytest.Status(http.StatusServiceUnavailable), true, done, "", 2, 2},
		course{"slow: 150 s", gatewaytest.Fault{Delay: 150 * time.Second}, false, done, "", 1, 1},
		course{"slow: no answer", gatewaytest.NoAnswer, false, failed, "GW_TIMEOUT", 3, 3},
		course{"slow: no answer once", gatewaytest.NoAnswer, true, done, "", 2, 2},
		course{"cut off", gatewaytest.CutShort, false, failed, "GW_5XX", 3, 3},
		course{"cut off once", gatewaytest.CutShort, true, done, "", 2, 2},
		course{"connection closed", gatewaytest.Dropped, false, failed, "GW_5XX", 3, 3},
		course{"wrong content type", gatewaytest.WrongType, false, failed, "GW_5XX", 3, 3},
		course{"empty", gatewaytest.Empty, false, failed, "GW_5XX", 3, 3},
		course{"malformed XML", gatewaytest.Malformed, false, failed, "GW_5XX", 3, 3},
		course{"DOCTYPE, entities", gatewaytest.Entities, false, failed, "GW_5XX", 3, 3},
		course{"2 GB of XML", gatewaytest.Fault{Huge: 2 << 30}, false, failed, "GW_5XX", 1, 1},
		course{"the right answer", gatewaytest.Fault{}, false, done, "", 1, 1},
	)
	var table strings.Builder
	fmt.Fprintf(&table, "\n%-24s %-10s %-10s %8s %5s %9s\n", "the gateway", "outcome", "code", "attempts", "calls", "took")
	for _, c := range cases {
		inWorld(t, func(w *world) {
			if c.once {
				w.gateway.Script(c.fault)
			} else {
				w.gateway.Break(c.fault)
			}
			w.send("t1", "")
			r, took := w.ends("t1")
			calls := len(w.gateway.Calls())
			fmt.Fprintf(&table, "%-24s %-10s %-10s %8d %5d %9s\n", c.what, r.State, r.Error.Code, r.Attempts, calls,
				took.Round(100*time.Millisecond))
			if r.State != c.state || r.Error.Code != c.code || r.Attempts != c.attempts || calls != c.calls {
				w.Errorf("%s: %s %s after %d attempts and %d calls, want %s %s after %d and %d", c.what, r.State, r.Error.Code,
					r.Attempts, calls, c.state, c.code, c.attempts, c.calls)
			}
			if c.attempts == 3 && c.code == "GW_5XX" && (took < 10*time.Second || took > 45*time.Second) {
				w.Errorf("%s: two waits of 5 to 20 s took %v", c.what, took)
			}
		})
	}
	t.Log(table.String())
}

// TestDown: while the gateway is down for ten minutes nothing is dispatched and no attempt counts. A task that may wait
// for a minute fails; the others are done afterwards, each with one attempt.
func TestDown(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		if err := w.gateway.Stop(); err != nil {
			t.Fatal(err)
		}
		const tasks = 10
		for i := range tasks {
			w.send(fmt.Sprint("t", i), `"force":true`) // each asks for itself
		}
		w.send("hasty", `"max_wait_seconds":60`)
		hasty, waited := w.ends("hasty")
		time.Sleep(10*time.Minute - waited) // virtual
		begun := 0
		for i := range tasks {
			if _, there := w.store.Row(fmt.Sprint("t", i)); there {
				begun++
			}
		}
		if err := w.gateway.Start(); err != nil {
			t.Fatal(err)
		}
		up := time.Now()
		for i := range tasks {
			if r, _ := w.ends(fmt.Sprint("t", i)); r.State != job.Succeeded || r.Attempts != 1 {
				t.Errorf("t%d is %s after %d attempts (%s)", i, r.State, r.Attempts, r.Error.Message)
			}
		}
		t.Logf("down for 10 minutes: %d of %d jobs begun meanwhile; done %v after it was up, with %d calls; "+
			"max_wait_seconds 60: %s %s after %v", begun, tasks, time.Since(up).Round(time.Second), len(w.gateway.Calls()),
			hasty.State, hasty.Error.Code, waited.Round(time.Second))
		if begun != 0 || len(w.gateway.Calls()) != tasks || time.Since(up) > 2*time.Minute {
			t.Errorf("%d jobs were begun, %d calls", begun, len(w.gateway.Calls()))
		}
		if hasty.State != job.Failed || hasty.Error.Code != "GW_5XX" || waited < 59*time.Second || waited > 75*time.Second {
			t.Errorf("the hasty task is %s (%s) after %v", hasty.State, hasty.Error.Code, waited)
		}
	})
}
