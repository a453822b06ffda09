// Package doctor tries each permission and service that the worker needs, and reports what is missing and how to fix
// it. It works on the live services of a tenant and takes no task from a worker: Checks says what each check touches
// and costs. Independent checks run in parallel; a failed check stops no other.
package doctor

import (
	"context"
	"slices"
	"sync"
	"time"
)

// State is the outcome of a check.
type State string

// The states.
const (
	OK      State = "ok"
	Warn    State = "warn" // the worker runs, but somebody should look at it
	Fail    State = "fail" // the worker, or some of its tasks, would fail
	Skipped State = "skipped"
)

// Class is the kind of a failure; it decides the exit code.
type Class string

// The classes, the gravest last: a wrong setting may cause a rejection, and a rejection shows that the service is up.
const (
	None        Class = ""
	Unavailable Class = "unavailable"   // a service is down
	Permission  Class = "permission"    // a right is missing
	Config      Class = "configuration" // a setting, the schema or this machine is wrong
)

// Result is the result of a check.
type Result struct {
	Check  string `json:"check"`
	State  State  `json:"state"`
	Class  Class  `json:"class,omitempty"` // of Fail
	Seen   string `json:"seen"`
	Remedy string `json:"mend,omitempty"` // of Warn and Fail: what to do, with the command
}

// Report is the results in the order of Checks.
type Report struct {
	ClientID string   `json:"client_id"`
	Results  []Result `json:"checks"`
}

// Worst returns the gravest class of the failed checks.
func (r Report) Worst() Class {
	worst := None
	for _, result := range r.Results {
		if result.State == Fail && slices.Index(classes(), result.Class) > slices.Index(classes(), worst) {
			worst = result.Class
		}
	}
	return worst
}

func classes() []Class { return []Class{None, Unavailable, Permission, Config} }

// silence is how long the checks may take before Worker.Waiting is called.
const silence = 3 * time.Second

// Examine runs the checks. Each request has the worker's timeout.
func Examine(ctx context.Context, w Worker) Report {
	report := Report{ClientID: w.ClientID}
	var mu sync.Mutex
	var wg sync.WaitGroup
	under := Groups()
	for _, part := range parts() {
		wg.Go(func() {
			results := w.run(ctx, part)
			mu.Lock()
			defer mu.Unlock()
			report.Results = append(report.Results, results...)
			under = slices.DeleteFunc(under, func(g Group) bool { return g == part.group })
		})
	}
	if w.Waiting != nil {
		long := time.AfterFunc(silence, func() {
			mu.Lock()
			defer mu.Unlock()
			if len(under) > 0 {
				w.Waiting(under, w.timeout())
			}
		})
		defer long.Stop()
	}
	wg.Wait()
	order := Checks()
	slices.SortStableFunc(report.Results,
		func(a, b Result) int { return place(order, a.Check) - place(order, b.Check) })
	return report
}

func place(order []Check, name string) int {
	return slices.IndexFunc(order, func(c Check) bool { return c.Name == name })
}

// part is a group of checks that share what they open and run one after the other.
type part struct {
	group Group
	run   func(context.Context, *Worker) []Result
}

func parts() []part {
	return []part{
		{Settings, settings},
		{Queues, queues},
		{Container, container},
		{Store, storeChecks},
		{Models, models},
		{Privacy, privacyCheck},
		{Docling, doclingCheck},
		{Gateway, gatewayCheck},
		{Webhooks, webhooks},
		{Events, eventsCheck},
		{Cognee, cogneeChecks},
		{Clock, clock},
		{Machine, machine},
		{Unit, unit},
	}
}

// run runs a part unless it is skipped.
func (w *Worker) run(ctx context.Context, part part) []Result {
	why, skip := w.Skip[part.group]
	if !skip {
		return part.run(ctx, w)
	}
	return skipped(part.group, why)
}

// skipped returns the results of a group that is skipped.
func skipped(g Group, why string) (results []Result) {
	for _, c := range Checks() {
		if c.Group == g {
			results = append(results, Result{Check: c.Name, State: Skipped, Seen: why})
		}
	}
	return results
}

// within runs one step of a check with its timeout.
func (w *Worker) within(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, w.timeout())
	defer cancel()
	return do(ctx)
}

func (w *Worker) timeout() time.Duration {
	if w.Timeout > 0 {
		return w.Timeout
	}
	return DefaultTimeout
}

// DefaultTimeout is how long one step of a check may take.
const DefaultTimeout = 15 * time.Second
