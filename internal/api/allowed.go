package api

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/apitoken"
	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/schedule"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// allowed refuses a task that its caller may not submit: one that needs the scope operate.
func (a *API) allowed(by Principal, t task.Task) error {
	refused := ""
	switch {
	case by.Scope >= apitoken.Operate:
	case removes(t):
		refused = "a job that removes a document needs the scope operate"
	case schedule.IsFiring(t.ID): // its schedule would take it for its own, and not fire
		refused = "ids that begin with " + schedule.JobPrefix + " are those of schedules, and need the scope operate"
	case a.readsMessages(t):
		refused = "the blobs of " + blob.MessageFolder + " are messages of other jobs; to read them needs the scope operate"
	}
	if refused == "" {
		return nil
	}
	return problem(http.StatusForbidden, "FORBIDDEN", refused)
}

// removes reports whether a task takes documents out of the index.
func removes(t task.Task) bool {
	if t.Type != task.Ingest {
		return false
	}
	payload := members(t)
	for _, name := range []string{"delete", "delete_missing"} {
		if value, ok := payload[name]; ok && string(value) != "false" {
			return true
		}
	}
	return false
}

// readsMessages reports whether a task names blobs that are messages. They hold what is hidden from its caller elsewhere:
// whole webhook URLs.
func (a *API) readsMessages(t task.Task) bool {
	payload := members(t)
	named := false
	for _, member := range []string{"blob", "source_uri", "prefix", "template", "filename"} {
		var name string
		if json.Unmarshal(payload[member], &name) != nil || member == "filename" && named {
			continue
		}
		if name != "" && (member == "source_uri" || member == "blob" && t.Type != task.XML) { // which ignores a blob
			named = true // filename is not where the document is
		}
		if member == "source_uri" {
			name = a.blobAt(name)
		}
		if strings.HasPrefix(strings.ToLower(name), blob.MessageFolder) {
			return true
		}
	}
	return false
}

// blobAt is the name of the blob that a source_uri stands for; empty: it is none of the tenant's.
func (a *API) blobAt(uri string) string {
	if name, ok := strings.CutPrefix(uri, "blob:"); ok {
		return name
	}
	l, ok := a.deps.Bucket.(blob.Locator)
	address, err := url.Parse(uri)
	if !ok || err != nil {
		return ""
	}
	name, found, err := l.Locate(address)
	if err != nil || !found { // the worker refuses it, or reads it as anybody does
		return ""
	}
	return name
}

// members are those of a task's payload. A struct would take a member of another case for one of its own.
func members(t task.Task) map[string]json.RawMessage {
	var payload map[string]json.RawMessage
	if json.Unmarshal(t.Payload, &payload) != nil {
		return nil // its handler refuses it
	}
	return payload
}
