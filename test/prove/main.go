// Command prove breaks the worker's services and processes and checks from outside that nothing is lost and nothing
// is done twice: `make prove` runs it. Each kind starts real servers and real worker processes, prints what it did
// and its seed, and ends with the invariants I1-I9 checked by SQL. RELIABILITY.md describes the kinds.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// options are those of the command line.
type options struct {
	kinds    []string
	seed     uint64
	parallel int            // runs at once, of kinds with many small ones
	only     *regexp.Regexp // of runs by name; nil: all
	stores   []string
	queues   []string

	scenarios []string // of the crash; nil: all

	duration time.Duration // of the kill loop
	tasks    int           // of the kill loop
	tries    int           // of the zombie
	runs     int           // of each class of the network
	checks   int           // sequences of the model
	fuzzTime time.Duration // of each fuzz target
	outage   time.Duration // how long a service is down
	poison   time.Duration // how long healthy tasks are sent between the poison
	cancels  int
	mutants  int

	schedules int // of the simulation

	short   bool
	untimed bool // times are printed but not checked
	out     io.Writer
	built   *programs
	shared  *servers // of several kinds; nil: each has its own
}

// kind is one way of breaking things.
type kind struct {
	name  string
	about string
	run   func(ctx context.Context, o options, r *report) error
}

// kinds are listed in the order of RELIABILITY.md.
func kinds() []kind {
	return []kind{
		{"model", "random sequences against a reference, on every caller of the store", proveModel},
		{
			"simulation", "seeded faults before each call, hours of virtual time: engines on in-memory back ends",
			simulation,
		},
		{"crash", "the process dies before and after every call of a back end", crash},
		{"kill", "kill -9 of three workers; Azurite, Postgres and nats-server crash in the middle", kill},
		{"zombie", "a stopped worker resumes after another one has finished its task", zombie},
		{"network", "requests are carried out, their answers dropped", network},
		{"events", "a publisher of lifecycle events dies, its sink is slow and down", proveEvents},
		{"cognee", "a worker that sends to Cognee dies, Cognee fails", proveCognee},
		{"conformance", "one suite for all queues, one for all stores, one for all buckets", proveConformance},
		{"mutation", "the lines that hold the invariants are removed, one at a time", mutation},
		{"fuzz", "random input to every decoder, extractor and parser", proveFuzz},
		{"mutants", "damaged documents of every format, read by supervised processes", proveMutants},
		{"race", "the race detector and goleak on every package with goroutines, shuffled, twice", proveRace},
		{"outage", "the database, and the model's service, down in the middle of the work", proveOutage},
		{
			"poison", "tasks at which their service fails or dies each time, among healthy ones",
			provePoison,
		},
		{"cancel", "cancels at random moments of a task's life", proveCancel},
	}
}

func listKinds() string {
	var b strings.Builder
	for _, k := range kinds() {
		fmt.Fprintf(&b, "  %-12s %s\n", k.name, k.about)
	}
	return b.String()
}

func kindNames() (names []string) {
	for _, k := range kinds() {
		names = append(names, k.name)
	}
	return names
}

func scenarioNames() (names []string) {
	for _, s := range scenarios() {
		names = append(names, s.name)
	}
	return names
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run returns 0 if every invariant held, 1 if one was violated or a kind could not be run, and 2 for a wrong
// command line.
func run(ctx context.Context, args []string, out, errs io.Writer) int {
	o, err := parse(args, errs)
	if err != nil {
		fmt.Fprintln(errs, "prove:", err)
		return 2
	}
	o.out, o.built = out, &programs{}
	code := prove(ctx, o)
	if err := o.built.remove(); err != nil {
		fmt.Fprintln(errs, "prove:", err)
		return 1
	}
	return code
}

func prove(ctx context.Context, o options) int {
	fmt.Fprintf(o.out, "prove: seed %d (make prove SEED=%d repeats it)\n", o.seed, o.seed)
	var reports []*report
	for _, k := range kinds() {
		if !slices.Contains(o.kinds, k.name) || ctx.Err() != nil && len(reports) > 0 {
			continue
		}
		r := newReport(ctx, k.name, o.seed, o.out)
		fmt.Fprintf(o.out, "\n== %s: %s\n", k.name, k.about)
		if err := k.run(ctx, o, r); err != nil {
			r.cantRun(err)
		}
		r.finish()
		reports = append(reports, r)
	}
	return summarize(o.out, reports)
}

func parse(args []string, errs io.Writer) (options, error) {
	fs := flag.NewFlagSet("prove", flag.ContinueOnError)
	fs.SetOutput(errs)
	names := fs.String("kind", "all", "all, or some of "+strings.Join(kindNames(), ","))
	seed := fs.Uint64("seed", 0, "seed of all choices; 0: a new one")
	parallel := fs.Int("parallel", 8, "runs at once (crash, zombie, network, outage)")
	only := fs.String("run", "", "only runs whose name matches this expression (not kill, zombie, cancel)")
	stores := fs.String("stores", "postgres,supabase", "callers of the store (crash, zombie, network)")
	queues := fs.String("queues", strings.Join(queueNames(), ","),
		"what tasks come by (crash, kill, zombie, network, outage, poison, cancel)")
	scenarios := fs.String("scenarios", "", "scenarios, separated by commas; empty: all (crash)")
	duration := fs.Duration("duration", 3*time.Minute, "how long workers are killed (kill)")
	tasks := fs.Int("tasks", 2000, "tasks of the kill loop (kill)")
	tries := fs.Int("tries", 20, "zombies (zombie)")
	runs := fs.Int("runs", 200, "runs of each class of requests (network)")
	schedules := fs.Int("schedules", 10_000, "schedules of virtual hours (simulation)")
	checks := fs.Int("checks", 1000, "sequences on Postgres; others in proportion (model)")
	fuzzTime := fs.Duration("fuzztime", 10*time.Second, "for each target (fuzz)")
	outage := fs.Duration("outage", time.Minute, "how long a service is down (outage)")
	poison := fs.Duration("poison", 150*time.Second, "how long healthy tasks are sent between the poison (poison)")
	cancels := fs.Int("cancels", 100, "tasks that are canceled (cancel)")
	mutants := fs.Int("mutants", 200_000, "damaged documents (mutants)")
	untimed := fs.Bool("untimed", false,
		"print times without checking them: for a busy machine")
	short := fs.Bool("short", false, "a small part of every kind, in about three minutes")
	if err := fs.Parse(args); err != nil {
		return options{}, err
	}
	o := options{
		kinds: strings.Split(*names, ","), seed: *seed, parallel: *parallel, stores: strings.Split(*stores, ","),
		queues:   strings.Split(*queues, ","),
		duration: *duration, tasks: *tasks, tries: *tries, runs: *runs, schedules: *schedules,
		checks: *checks, fuzzTime: *fuzzTime, outage: *outage, poison: *poison, cancels: *cancels, mutants: *mutants,
		untimed: *untimed, short: *short,
	}
	if *short {
		o.duration, o.tasks, o.tries, o.runs, o.schedules = 20*time.Second, 150, 3, 3, 300
		o.checks, o.fuzzTime, o.outage, o.poison, o.cancels, o.mutants = 25, 2*time.Second, 6*time.Second,
			20*time.Second, 12, 1000
		*only = cmp.Or(*only, shortRuns)
	}
	if *scenarios != "" {
		o.scenarios = strings.Split(*scenarios, ",")
	}
	for o.seed == 0 {
		o.seed = rand.Uint64() >> 32 // short enough to type
	}
	return o, o.check(*only)
}

// shortRuns are the crashes around each commit, a few mutations, and all of the other kinds.
const shortRuns = `^crash/azure/postgres/.*/store\.(Begin|Complete|Fail|Retry|Canceled|Reject)#1:` +
	`|^crash/(postgres|nats)/postgres/ingest/(store\.(Begin|Complete)|lease\.Delete\[normal\])#1:|^(model|network|conformance|fuzz|mutants|race|outage|events|cognee)/` +
	`|^poison/(azure/|[a-z]+/(model/500|database/))` +
	`|^mutation/(stale-fence-passes|deleted-before-the-commit|webhook-unsigned)$`

func (o *options) check(only string) (err error) {
	known := kindNames()
	if slices.Equal(o.kinds, []string{"all"}) {
		o.kinds = known
	}
	for _, k := range o.kinds {
		if !slices.Contains(known, k) {
			return fmt.Errorf("-kind %q: want all, or some of these, separated by commas:\n%s", k,
				strings.TrimRight(listKinds(), "\n"))
		}
	}
	for _, s := range o.stores {
		if s != postgresStore && s != supabaseStore {
			return fmt.Errorf("-stores %q: want %s, %s or both", s, postgresStore, supabaseStore)
		}
	}
	for i, q := range o.queues {
		if !slices.Contains(queueNames(), q) || slices.Contains(o.queues[:i], q) {
			return fmt.Errorf("-queues %q: want some of %s, separated by commas, each once", strings.Join(o.queues, ","),
				strings.Join(queueNames(), ", "))
		}
	}
	for _, name := range o.scenarios {
		if !slices.Contains(scenarioNames(), name) {
			return fmt.Errorf("-scenarios %q: want some of %s, separated by commas", name,
				strings.Join(scenarioNames(), ", "))
		}
	}
	if only != "" {
		if o.only, err = regexp.Compile(only); err != nil {
			return fmt.Errorf("-run: %w", err)
		}
	}
	return nil
}

// patience is how long to wait for what has a limit of its own; with -untimed the context ends what hangs.
func (o options) patience(limit time.Duration) time.Duration {
	if o.untimed {
		return time.Hour
	}
	return limit
}

// wants reports whether a run is selected.
func (o options) wants(name string) bool { return o.only == nil || o.only.MatchString(name) }
