package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/task"
)

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

func jsonPosition(err error) string {
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Sprintf(" (at byte %d: %v)", e.Offset, e)
	}
	return ""
}

// checkPayload refuses what the worker's handler would refuse.
func checkPayload(kind string, payload map[string]any) error {
	type need struct{ key, flag string }
	needs := map[task.Type][]need{
		task.Ingest: {{"filename", "--filename, --upload or --source-uri"}, {"document_set", "--document-set"}},
		task.Agent:  {{"prompt", "--prompt"}},
		task.AI:     {{"prompt", "--prompt"}},
	}
	for _, n := range needs[task.Type(kind)] {
		if n.key == "filename" && (payload["source_uri"] != nil || payload["prefix"] != nil) {
			continue
		}
		if payload[n.key] == nil {
			return badUsage("give it with "+n.flag, "an %s task needs payload.%s", kind, n.key)
		}
	}
	return nil
}

// blobName is the document's blob: payload.blob, or payload.filename.
func blobName(payload map[string]any) string {
	for _, key := range []string{"blob", "filename"} {
		if s, ok := payload[key].(string); ok && s != "" {
			return s
		}
	}
	return ""
}
