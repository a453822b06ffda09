package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// message is a task as the flags of enqueue describe it.
type message struct {
	id, kind, payload              string
	prompt                         string
	filename, blob, set            string
	source, prefix                 string
	uploads                        []string
	webhook, priority, requestedBy string
	force, remove, purge, missing  bool
	apart                          bool // an upload gets a name of its own in the container, and so replaces nothing
	timeout                        time.Duration

	flagged func(name string) bool // whether a flag was given
}

// submission is a task to send, and a local file to upload first.
type submission struct {
	task   task.Task
	upload string // path; empty: none
	blob   string // name in the container

	file, text string // the message's file and its text; both are empty for a task from flags

	repeat string // the command that sends the same task again; empty: enqueue, with the same flags or file
}

func (m *message) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&m.kind, "type", string(task.Ingest), "the task's type: "+strings.Join(flagValues()["type"], ", "))
	f.StringVar(&m.id, "id", "", "the task's id, 1 to 128 of [A-Za-z0-9._:-] (default: a new UUID)")
	f.StringVar(&m.payload, "payload", "", "the payload, a JSON object; the flags below add to it")
	f.StringVar(&m.filename, "filename", "", "payload.filename (default with --upload: the file's name)")
	f.StringVar(&m.blob, "blob", "", "payload.blob, the document's name in the container (default: the filename)")
	f.StringVar(&m.source, "source-uri", "", "payload.source_uri: blob:NAME, or an https address of the document")
	f.StringVar(&m.prefix, "prefix", "", "payload.prefix: a job for each new or changed blob whose name begins so")
	f.BoolVar(&m.missing, "delete-missing", false,
		"payload.delete_missing: with --prefix, delete documents whose blob is gone")
	f.StringVar(&m.set, "document-set", "", "payload.document_set")
	f.StringVar(&m.prompt, "prompt", "", "payload.prompt: the question; without --type the task has the type agent")
	f.StringArrayVar(&m.uploads, "upload", nil,
		"a local document to upload first, in place of a blob of that name; may be repeated")
	f.StringVar(&m.webhook, "webhook-url", "", "the address that receives the outcome")
	f.StringVar(&m.priority, "priority", string(task.PriorityNormal), "high, normal or low")
	f.StringVar(&m.requestedBy, "requested-by", "", "the requester, for audit")
	f.BoolVar(&m.remove, "delete", false, "payload.delete: remove the document from the index")
	f.BoolVar(&m.purge, "purge", false, "payload.purge: with --delete, also remove the blobs derived from it")
	f.BoolVar(&m.force, "force", false, "repeat a finished task")
	f.DurationVar(&m.timeout, "timeout", 0, "the task's timeout, e.g. 90s (default: the worker's)")
}

// taskFlags describe a task, and so can't be combined with message files.
func taskFlags() []string {
	return []string{
		"type", "id", "payload", "filename", "blob", "source-uri", "prefix", "delete-missing", "document-set", "prompt", "upload", "webhook-url", "priority",
		"requested-by", "delete", "purge", "force", "timeout",
	}
}

// check refuses contradictory flags.
func (m *message) check(files []string) error {
	const help = "async-worker enqueue --help has examples"
	if len(files) > 0 {
		if i := slices.IndexFunc(taskFlags(), m.flagged); i >= 0 {
			return badUsage(help, "--%s can't be combined with message files: put it into the message", taskFlags()[i])
		}
		return nil
	}
	if !slices.ContainsFunc([]string{"type", "payload", "filename", "source-uri", "prefix", "prompt", "upload"}, m.flagged) {
		return badUsage(help, "nothing to enqueue: give message files, or flags such as --upload, --filename, "+
			"--source-uri, --prefix, --prompt or --payload")
	}
	if m.flagged("prompt") && !m.flagged("type") {
		m.kind = string(task.Agent)
	}
	if m.remove && len(m.uploads) > 0 {
		return badUsage("name the document with --filename",
			"--delete can't be combined with --upload: it takes a document out of the index")
	}
	if m.purge && !m.remove {
		return badUsage(help, "--purge needs --delete: it removes what was derived from a deleted document")
	}
	if len(m.uploads) > 0 && (m.flagged("source-uri") || m.flagged("prefix")) {
		return badUsage(help, "--upload can't be combined with --source-uri or --prefix: an uploaded document is a blob")
	}
	if m.missing && !m.flagged("prefix") {
		return badUsage(help, "--delete-missing needs --prefix: it deletes documents whose blobs are gone")
	}
	if len(m.uploads) > 1 && (m.id != "" || m.filename != "" || m.blob != "") {
		return badUsage(help, "--id, --filename and --blob can name only one document, not %d uploads", len(m.uploads))
	}
	for _, path := range m.uploads { // all of them before the first is sent
		info, err := os.Stat(path)
		if err != nil {
			return fileError("upload", path, err)
		}
		if !info.Mode().IsRegular() {
			return badUsage("--upload takes documents, one by one", "upload %s: it is not a regular file", path)
		}
	}
	return nil
}

// drafts makes the tasks from files or from the flags, and checks them before the client is known: a wrong argument is
// reported even when settings are missing.
func (m *message) drafts(files []string, stdin io.Reader) ([]submission, error) {
	if len(files) == 0 {
		return m.fromFlags()
	}
	var all []submission
	for _, name := range files {
		text, err := readMessage(name, stdin)
		if err != nil {
			return nil, err
		}
		l := submission{file: name, text: text}
		if l.task, err = decodeMessage(name, text, ""); err != nil && !namesClient(err) {
			return nil, err
		}
		all = append(all, l)
	}
	return all, nil
}

// submissions are the drafts of a client's tasks. A worker of the client would accept each as a message.
func submissions(drafts []submission, client string) ([]submission, error) {
	all := slices.Clone(drafts)
	for i, l := range all {
		if l.file == "" {
			all[i].task.ClientID = client
			continue
		}
		var err error
		if all[i].task, err = decodeMessage(l.file, l.text, client); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// namesClient reports whether a message is refused because it names a client, which can't be checked without settings.
func namesClient(err error) bool {
	invalid, ok := errors.AsType[*task.Invalid](err)
	return ok && invalid.Reason == task.WrongClient
}

func readMessage(name string, stdin io.Reader) (string, error) {
	source := stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return "", fileError("read the message", name, err)
		}
		defer f.Close()
		source = f
	}
	text, err := io.ReadAll(io.LimitReader(source, task.MaxBytes+1))
	if err != nil {
		return "", fileError("read the message", name, err)
	}
	return string(text), nil
}

func decodeMessage(name, text, client string) (task.Task, error) {
	decoded, err := task.Decode(text, task.Options{ClientID: client})
	switch {
	case err != nil:
		return task.Task{}, fmt.Errorf("message %s: %w", name, err)
	case decoded.ClaimCheck != "":
		return task.Task{}, badUsage("enqueue the task itself", "message %s is a claim check, not a task", name)
	}
	return decoded.Task, checkTask("message "+name, decoded.Task)
}

// checkTask refuses, before anything is sent, what the worker would refuse.
func checkTask(what string, t task.Task) error {
	if err := app.CheckTask(t); err != nil {
		return &failure{what, "fix it; docs/contract.md describes each task type", err}
	}
	return nil
}

func (m *message) fromFlags() ([]submission, error) {
	uploads := m.uploads
	if len(uploads) == 0 {
		uploads = []string{""}
	}
	var all []submission
	for _, path := range uploads {
		l, err := m.fromFlag(path)
		if err != nil {
			return nil, err
		}
		for _, other := range all {
			if other.blob == l.blob && other.upload != path {
				return nil, badUsage("enqueue them one by one, each with a --filename of its own, such as 2026/report.pdf",
					"%s and %s would be one blob: %s", other.upload, path, l.blob)
			}
		}
		all = append(all, l)
	}
	return all, nil
}

// fromFlag makes the task for an upload, or for none.
func (m *message) fromFlag(path string) (submission, error) {
	payload, err := m.payloadObject()
	if err != nil {
		return submission{}, err
	}
	id := cmp.Or(m.id, uuid.NewString())
	if path != "" && m.filename == "" && payload["filename"] == nil {
		payload["filename"] = filepath.Base(path)
	}
	if m.apart && path != "" {
		payload["blob"] = "uploads/" + id + "/" + filepath.Base(path) // as the API names uploads
	}
	for key, value := range map[string]string{
		"filename": m.filename, "blob": m.blob, "document_set": m.set,
		"prompt": m.prompt, "source_uri": m.source,
	} {
		if value != "" {
			payload[key] = value
		}
	}
	if m.remove {
		payload["delete"] = true
	}
	if m.purge {
		payload["purge"] = true
	}
	if m.flagged != nil && m.flagged("prefix") {
		payload["prefix"] = m.prefix
	}
	if m.missing {
		payload["delete_missing"] = true
	}
	if err := checkPayload(m.kind, payload); err != nil {
		return submission{}, err
	}
	raw, err := json.Marshal(payload)
	if err != nil {
		return submission{}, fmt.Errorf("write the payload: %w", err)
	}
	t := task.Task{
		ID: id, Type: task.Type(m.kind), Payload: raw, WebhookURL: m.webhook, Priority: task.Priority(m.priority),
		RequestedBy: m.requestedBy,
		Hints:       task.Hints{Force: m.force, Timeout: m.timeout, TimeoutSec: m.timeout.Seconds()},
	}
	if _, err := task.Encode(t); err != nil {
		if invalid, ok := errors.AsType[*task.Invalid](err); ok {
			// its id may be a new one, which nobody knows; and there is no message to fix, only a flag
			err = badUsage("correct the flag; async-worker enqueue --help describes each", "enqueue: %w", invalid)
		}
		return submission{}, err
	}
	if err := checkTask("enqueue", t); err != nil {
		return submission{}, err
	}
	l := submission{task: t, upload: path}
	if path != "" {
		l.blob = blobName(payload)
	}
	return l, nil
}
