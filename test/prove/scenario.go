package main

import (
	"path/filepath"
	"strconv"
)

// scenario is a task that is run once for each point, with a death at that point.
type scenario struct {
	name   string
	states []string // of which the task ends in one
	env    func(dir string) []string
	text   func(t *tenant) string
	submit bool                              // the submitter's process dies, not the worker
	paid   bool                              // it asks the gateway
	files  func() (map[string]string, error) // further blobs, by name; nil: none
}

const taskID = "task-1"

// document is small, and has more than one chunk.
const document = "# Lamp\n\nThe lamp of the pier is lit at dusk.\n\n# Pump\n\nThe pump is tried on Mondays.\n"

func scenarios() []scenario {
	none := func(string) []string { return nil }
	plain := func(t *tenant) string { return t.ingest(taskID, "doc.md", t.hooks.URL, nil) }
	fails := func(n int, more ...string) func(string) []string {
		return func(dir string) []string {
			return append([]string{
				"PROVE_MODEL_FAILS=" + strconv.Itoa(n), "PROVE_MODEL_FILE=" + filepath.Join(dir, "failed"),
			}, more...)
		}
	}
	return []scenario{
		{name: "ingest", states: []string{"succeeded"}, text: plain, env: func(string) []string {
			return []string{"PROVE_MODEL_WAIT=1500ms"} // both leases are renewed after 1 s
		}},
		{name: "retried", states: []string{"succeeded"}, env: fails(1), text: plain},
		{name: "dead-lettered", states: []string{"failed"}, env: none, text: func(t *tenant) string {
			return t.ingest(taskID, "missing.md", t.hooks.URL, nil)
		}},
		{name: "exhausted", states: []string{"failed"}, env: fails(-1, "RETRY_MAX_ATTEMPTS=2"), text: plain},
		{name: "rejected", states: []string{"failed"}, env: none, text: func(t *tenant) string {
			return t.ingest(taskID, "doc.md", t.hooks.URL, map[string]any{"document_set": nil})
		}},
		{
			name: "canceled", states: []string{"canceled"},
			env: func(string) []string { return []string{"PROVE_CANCEL=" + taskID} }, text: plain,
		},
		{name: "xml", states: []string{"succeeded"}, env: none, text: func(t *tenant) string {
			return t.taskMessage(taskID, "xml", t.hooks.URL, map[string]any{"filename": invoiceBlob})
		}, paid: true},
		{name: "convert", states: []string{"succeeded"}, env: none, files: talk, text: func(t *tenant) string {
			return t.taskOf("convert", map[string]any{"filename": "talk.pptx"})
		}},
		{
			name: "convert-canceled", states: []string{"canceled"}, files: talk,
			env: func(string) []string { return []string{"PROVE_CANCEL_PUT=" + taskID} },
			text: func(t *tenant) string {
				return t.taskOf("convert", map[string]any{"filename": "talk.pptx"})
			},
		},
		{
			name: "export", states: []string{"succeeded"}, files: talk,
			env: func(string) []string { return []string{"EXPORT_URL_HOURS=0"} }, // the counted container signs nothing
			text: func(t *tenant) string {
				return t.taskOf("export", map[string]any{"blob": "talk.json", "format": "pptx"})
			},
		},
		{name: "submitted", states: []string{"succeeded"}, env: none, text: plain, submit: true},
	}
}

func scenarioNamed(name string) scenario {
	for _, s := range scenarios() {
		if s.name == name {
			return s
		}
	}
	panic("no scenario " + name) // the names are constants
}
