package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// What Tab offers: values of flags, and the ids of jobs with which a command can do something.
func TestCompletion(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"jobs list --status ":   "pending running succeeded failed canceled",
		"jobs list --type ":     "agent ai convert export ingest ocr summarize xml",
		"run --log-level ":      "debug info warn error",
		"enqueue --priority ":   "high normal low",
		"jobs get ":             "good bad busy",
		"jobs cancel ":          "busy",
		"jobs cancel busy ":     "",
		"jobs retry ":           "bad",
		"jobs list --frobnicat": "",

		"jobs list --parent ":                 "good bad busy",
		"dlq list --job ":                     "good bad busy",
		"dlq list --reason ":                  strings.Join(reasons(), " "),
		"dlq replay --reason ":                strings.Join(reasons(), " "),
		"dlq purge --reason ":                 strings.Join(reasons(), " "),
		"run --llm-provider ":                 "openai offline",
		"check-config --queue-backend ":       "azure nats postgres pgmq",
		"run --ocr-engine ":                   "tesseract openai docling",
		"run --log-format ":                   "auto journal text json syslog",
		"tenant add southhaven --pii-mode ":   "off tag redact",
		"token remove --root /nonexistent ":   "",
		"token remove --root /nonexistent a ": "",

		"documents delete ":            "a.pdf b.pdf b.pdf",
		"documents delete --set two b": "b.pdf",
		"documents delete b.pdf ":      "",
		"documents list --set ":        "one two",
		"search --set ":                "one two",
		"ask --set ":                   "one two",
		"enqueue --document-set ":      "one two",
		"token sign --role ":           "reader worker",
		"webhooks list --state ":       "pending delivered failed refused",
		"webhooks resend ":             "msg_f",
		"webhooks resend msg_f ":       "",
		"dlq show ":                    "dl-1 dl-2",
		"dlq replay dl-1 ":             "dl-2",
		"dlq purge ":                   "dl-1 dl-2",
		"schedules pause ":             "nightly hourly",
		"schedules remove nightly ":    "hourly",
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			words := append([]string{"__complete"}, strings.Split(args, " ")...)
			s := someRows()
			s.documents, s.outbox = someDocuments(), someDeliveries()
			s.letters = []store.DeadLetter{{ID: "dl-1", TaskType: "ingest"}, {ID: "dl-2", TaskType: "ocr"}}
			s.schedules = []store.Schedule{{ID: "nightly", Cron: "@daily"}, {ID: "hourly", Cron: "@hourly"}}
			r := invoke(t, app.Tenant{Store: s}, testEnv(), "", words...)
			var got []string
			for line := range strings.Lines(r.out) {
				if value, _, _ := strings.Cut(strings.TrimSpace(line), "\t"); value != "" &&
					!strings.HasPrefix(value, ":") {
					got = append(got, value)
				}
			}
			if strings.Join(got, " ") != want {
				t.Errorf("offers %q, want %q\n%s", got, want, r.errOut)
			}
		})
	}
	root := t.TempDir()
	putTenant(t, root, "southhaven", "127.0.0.1:1")
	if r := invoke(t, app.Tenant{}, nil, "", "token", "add", "web", "--scope", "read", "--root", root); r.code != 0 {
		t.Fatal(r.errOut)
	}
	for _, tenant := range []string{"", "southhaven"} {
		r := invoke(t, app.Tenant{}, nil, "", "__complete", "token", "remove", "--root", root, "--tenant", tenant, "")
		if !strings.HasPrefix(r.out, "web\tread\n") {
			t.Errorf("token remove of tenant %q: %s%s", tenant, r.out, r.errOut)
		}
	}
	r := invoke(t, app.Tenant{Store: someRows()}, nil, "", "__complete", "jobs", "get", "")
	if strings.Contains(r.out, "good") || strings.Contains(r.errOut, "SUPABASE_URL") {
		t.Errorf("without settings: %s%s", r.out, r.errOut)
	}
}

// TestCompletionThatCantBeWritten is not a wrong command line.
func TestCompletionThatCantBeWritten(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("needs /dev/full: ", err)
	}
	defer full.Close()
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		var said bytes.Buffer
		p := &program{stdout: full, stderr: &said, stdin: strings.NewReader("")}
		code := p.run(t.Context(), []string{"completion", shell})
		if code != exitFailed || !strings.Contains(said.String(), "no space left") || !strings.Contains(said.String(), nextFull) {
			t.Errorf("%s: exit %d: %s", shell, code, said.String())
		}
	}
}

// Each reason that the engine gives is offered.
func TestReasons(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../engine/*.go")
	if err != nil {
		t.Fatal(err)
	}
	given := regexp.MustCompile(`(?:\.fail\(.*, |rejection\([a-z.]+, |reason := )"([a-z_]+)"`)
	found := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range given.FindAllStringSubmatch(string(text), -1) {
			if found[m[1]] = true; !slices.Contains(reasons(), m[1]) && !strings.HasSuffix(file, "_test.go") {
				t.Errorf("%s: %s is not offered", file, m[1])
			}
		}
	}
	if len(found) < 6 {
		t.Errorf("found only %v", found)
	}
}
