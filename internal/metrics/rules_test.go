package metrics_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/metrics"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

const (
	rulesFile     = "../../packaging/prometheus/async-worker.rules.yml"
	ruleTests     = "../../packaging/prometheus/async-worker.rules.test.yml"
	dashboardFile = "../../packaging/grafana/async-worker.json"
	runbooks      = "../../docs/runbooks.md"
)

// alert is a rule of the file.
type alert struct {
	Alert       string
	Expr        string
	Labels      map[string]string
	Annotations map[string]string
}

func alerts(t *testing.T) []alert {
	t.Helper()
	var file struct{ Groups []struct{ Rules []alert } }
	if err := yaml.Unmarshal([]byte(read(t, rulesFile)), &file); err != nil {
		t.Fatal(err)
	}
	var all []alert
	for _, g := range file.Groups {
		all = append(all, g.Rules...)
	}
	if len(all) == 0 {
		t.Fatal("there are no rules")
	}
	return all
}

func read(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// Each alert has a severity, a summary, a test and a runbook under its name; every runbook belongs to an alert.
func TestEveryAlertHasARunbook(t *testing.T) {
	t.Parallel()
	heading := regexp.MustCompile(`(?m)^## (AsyncWorker\w+)$`)
	var pages []string
	for _, m := range heading.FindAllStringSubmatch(read(t, runbooks), -1) {
		pages = append(pages, m[1])
	}
	tests := read(t, ruleTests)
	for _, a := range alerts(t) {
		if !slices.Contains(pages, a.Alert) {
			t.Errorf("docs/runbooks.md has no heading %s", a.Alert)
		}
		pages = slices.DeleteFunc(pages, func(p string) bool { return p == a.Alert })
		if want := "/docs/runbooks.md#" + strings.ToLower(a.Alert); !strings.HasSuffix(a.Annotations["runbook_url"],
			want) {
			t.Errorf("%s: the runbook is %q, want …%s", a.Alert, a.Annotations["runbook_url"], want)
		}
		if s := a.Labels["severity"]; s != "page" && s != "ticket" || a.Annotations["summary"] == "" {
			t.Errorf("%s: severity %q, summary %q", a.Alert, s, a.Annotations["summary"])
		}
		if !strings.Contains(tests, "alertname: "+a.Alert) {
			t.Errorf("%s has no test", a.Alert)
		}
	}
	if len(pages) > 0 {
		t.Errorf("runbooks of no alert: %v", pages)
	}
}

// dashboard is what Grafana shows.
type dashboard struct {
	Panels []struct {
		Title   string
		Targets []struct{ Expr string }
	}
	Templating struct{ List []struct{ Definition string } }
}

func readDashboard(t *testing.T) (d dashboard) {
	t.Helper()
	if err := json.Unmarshal([]byte(read(t, dashboardFile)), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// All workers of a tenant sample the same values: rules and dashboard take one of them. A sum counts each dead letter as
// often as there are workers, and an alert without an aggregation is sent by each.
func TestSampledValuesAreNotSummed(t *testing.T) {
	t.Parallel()
	var sampled []string
	for _, d := range metrics.Definitions() {
		if strings.HasSuffix(d.Help, "; sampled") {
			sampled = append(sampled, d.Name)
		}
	}
	name := regexp.MustCompile(`\b(?:` + strings.Join(sampled, "|") + `)\b`)
	one := regexp.MustCompile(`\b(?:max|min) by \([^)]*\) \((?:(?:max|min)_over_time\()?$`)
	found := 0
	check := func(of, expr string) {
		for _, at := range name.FindAllStringIndex(expr, -1) {
			if found++; !one.MatchString(expr[:at[0]]) {
				t.Errorf("%s: %s is not the max or min of the workers", of, expr[at[0]:at[1]])
			}
		}
	}
	for _, a := range alerts(t) {
		check(a.Alert, a.Expr)
	}
	for _, p := range readDashboard(t).Panels {
		for _, target := range p.Targets {
			check(p.Title, target.Expr)
		}
	}
	if len(sampled) < 8 || found < 10 {
		t.Errorf("%d uses of %d sampled metrics", found, len(sampled))
	}
}

// Rules and dashboard refer only to exported metrics, labels and label values.
func TestRulesAndDashboardNameWhatThereIs(t *testing.T) {
	t.Parallel()
	known := exported(t)
	for _, a := range alerts(t) {
		checkExpr(t, known, a.Alert, a.Expr)
	}
	queries, shown := 0, readDashboard(t)
	for _, p := range shown.Panels {
		for _, target := range p.Targets {
			queries++
			checkExpr(t, known, p.Title, target.Expr)
		}
	}
	if queries < 20 {
		t.Errorf("only %d queries", queries)
	}
	for _, v := range shown.Templating.List {
		if inner, ok := strings.CutPrefix(v.Definition, "label_values("); ok {
			name, label, _ := strings.Cut(strings.TrimSuffix(inner, ")"), ", ")
			if !slices.Contains(known[name], label) {
				t.Errorf("variable: %s has no label %s", name, label)
			}
		}
	}
}

// exported returns the series that a scrape may have, with their labels; a histogram has several.
func exported(t *testing.T) map[string][]string {
	t.Helper()
	target := []string{"client_id", "instance", "job"} // the last two are Prometheus' own
	known := map[string][]string{"up": target}
	for _, d := range metrics.Definitions() {
		labels := append(slices.Clone(d.Labels), target...)
		if d.Kind != metrics.Histogram {
			known[d.Name] = labels
			continue
		}
		known[d.Name+"_bucket"] = append(labels, "le")
		known[d.Name+"_sum"], known[d.Name+"_count"] = labels, labels
	}
	for name := range scrape(t, fresh()) { // the Go client's
		if _, ours := known[name]; !ours {
			known[name] = target
		}
	}
	return known
}

var (
	quoted    = regexp.MustCompile(`"[^"]*"`)
	selector  = regexp.MustCompile(`([a-zA-Z_:][a-zA-Z0-9_:]*)\s*\{([^}]*)\}`)
	matcher   = regexp.MustCompile(`([a-z_]+)\s*(?:=~|!~|!=|=)\s*"([^"]*)"`)
	grouping  = regexp.MustCompile(`\b(?:by|on|without|ignoring|group_left|group_right)\s*\(([^)]*)\)`)
	ranges    = regexp.MustCompile(`\[[^\]]*\]|\boffset \w+`)
	word      = regexp.MustCompile(`[a-zA-Z_:][a-zA-Z0-9_:]*\s*\(?`)
	operators = []string{"and", "or", "unless", "bool"}
)

// checkExpr checks a query without parsing it: after removing strings, ranges, groupings and functions, only names are
// left.
func checkExpr(t *testing.T, known map[string][]string, of, expr string) {
	t.Helper()
	for _, s := range selector.FindAllStringSubmatch(expr, -1) {
		for _, m := range matcher.FindAllStringSubmatch(s[2], -1) {
			if !slices.Contains(known[s[1]], m[1]) {
				t.Errorf("%s: %s has no label %s", of, s[1], m[1])
			}
			for value := range strings.SplitSeq(m[2], "|") {
				if !occurs(m[1], value) {
					t.Errorf("%s: %s is never %q", of, m[1], value)
				}
			}
		}
	}
	bare := selector.ReplaceAllString(quoted.ReplaceAllString(expr, ""), "$1")
	bare = ranges.ReplaceAllString(bare, "")
	for _, g := range grouping.FindAllStringSubmatch(bare, -1) {
		for label := range strings.FieldsFuncSeq(g[1], func(r rune) bool { return r == ',' || r == ' ' }) {
			if !slices.ContainsFunc(slices.Collect(mapValues(known)),
				func(labels []string) bool { return slices.Contains(labels, label) }) {
				t.Errorf("%s: nothing has the label %s", of, label)
			}
		}
	}
	names := 0
	for _, w := range word.FindAllString(grouping.ReplaceAllString(bare, ""), -1) {
		if strings.HasSuffix(w, "(") || slices.Contains(operators, strings.TrimSpace(w)) {
			continue
		}
		// whose grouping stood before the bracket
		if slices.Contains([]string{"sum", "max", "min"}, strings.TrimSpace(w)) {
			continue
		}
		names++
		if known[strings.TrimSpace(w)] == nil {
			t.Errorf("%s: nothing exports %s", of, w)
		}
	}
	if names == 0 {
		t.Errorf("%s: no metric in %s", of, expr)
	}
}

func mapValues(m map[string][]string) func(func([]string) bool) {
	return func(yield func([]string) bool) {
		for _, v := range m {
			if !yield(v) {
				return
			}
		}
	}
}

// occurs reports whether a label can have a value, as far as tables define it.
func occurs(label, value string) bool {
	switch label {
	case "error_class":
		_, ok := taskerr.Classes[taskerr.Class(value)]
		return ok
	case "queue":
		return slices.Contains([]string{"high", "normal", "low", "deadletter"}, value)
	case "result":
		return slices.Contains([]string{
			"ok", "lost", "failed", "refused", "throttled", "uncertain", "reused", "missed", "stopped",
		}, value)
	case "outcome":
		return job.State(value).Terminal()
	case "state":
		return slices.Contains([]string{"closed", "open", "half-open", "due", "scheduled"}, value)
	default:
		return true
	}
}

// Alerts on failures, and the query of the service level, leave out what the sender or the document is to blame for.
func TestUserErrorsAreNoServiceFault(t *testing.T) {
	t.Parallel()
	var users []string
	for c, i := range taskerr.Classes {
		if i.Coarse == "validation" || c == taskerr.CorruptionDetected || c == taskerr.QuotaExceeded {
			users = append(users, string(c))
		}
	}
	slices.Sort(users)
	check := func(where, expr string) {
		t.Helper()
		_, rest, _ := strings.Cut(expr, `error_class!~"`)
		classes, _, _ := strings.Cut(rest, `"`)
		left := strings.Split(strings.ReplaceAll(classes, `\|`, "|"), "|")
		if slices.Sort(left); !slices.Equal(left, users) {
			t.Errorf("%s leaves out %v, want %v", where, left, users)
		}
	}
	for _, a := range alerts(t) {
		if a.Alert == "AsyncWorkerFailures" || a.Alert == "AsyncWorkerServiceLevel" {
			check(a.Alert, a.Expr)
		}
	}
	check("docs/observability.md", read(t, "../../docs/observability.md"))
}

// Prometheus' own tool checks the rules and tests them.
func TestPromtool(t *testing.T) {
	t.Parallel()
	promtool, err := exec.LookPath("promtool")
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip("promtool is not installed; to check the alert rules with it: apt-get install prometheus")
	}
	for _, args := range [][]string{
		{"check", "rules", filepath.Base(rulesFile)},
		{"test", "rules", filepath.Base(ruleTests)},
	} {
		cmd := exec.CommandContext(t.Context(), promtool, args...)
		cmd.Dir = filepath.Dir(rulesFile)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}
