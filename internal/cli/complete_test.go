package cli

import (
	"bytes"
	"os"
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
