package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/internal/task"
)

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
	if path != "" && m.filename == "" && payload["filename"] == nil {
		payload["filename"] = filepath.Base(path)
	}
	for key, value := range map[string]string{
		"filename": m.filename, "blob": m.blob, "document_set": m.set,
		"prompt": m.prompt,
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
	if err := checkPayload(m.kind, payload); err != nil {
		return submission{}, err
	}
	raw, err := json.Marshal(payload)
	if err != nil {
		return submission{}, fmt.Errorf("write the payload: %w", err)
	}
	t := task.Task{
		ID: m.id, Type: task.Type(m.kind), Payload: raw, WebhookURL: m.webhook, Priority: task.Priority(m.priority),
		RequestedBy: m.requestedBy,
		Hints:       task.Hints{Force: m.force, Timeout: m.timeout, TimeoutSec: m.timeout.Seconds()},
	}
	if t.ID == "" {
		t.ID = uuid.NewString()
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

func (m *message) payloadObject() (map[string]any, error) {
	payload := map[string]any{}
	if m.payload == "" {
		return payload, nil
	}
	d := json.NewDecoder(strings.NewReader(m.payload))
	d.UseNumber() // keeps long numbers exact
	err := d.Decode(&payload)
	if _, more := d.Token(); err != nil || payload == nil || more != io.EOF {
		return nil, badUsage(`write it like --payload '{"filename": "report.pdf"}'`, "--payload is not a JSON object%s",
			jsonPosition(err))
	}
	return payload, nil
}
