package task

import "encoding/json"

// NameInvoice returns the payload of an xml task, in which filename is uploads/<id>.pdf if the payload names no document.
// A task that is done again under another id still reads that one. What is not a payload is returned as it is.
func NameInvoice(payload json.RawMessage, id string) json.RawMessage {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(payload, &fields); err != nil || fields == nil {
		return payload
	}
	for _, name := range []string{"filename", "source_uri"} {
		var given *string
		if value, there := fields[name]; there && (json.Unmarshal(value, &given) != nil || given != nil && *given != "") {
			return payload
		}
	}
	name, err := json.Marshal("uploads/" + id + ".pdf")
	if err != nil {
		return payload
	}
	fields["filename"] = name
	named, err := json.Marshal(fields)
	if err != nil {
		return payload
	}
	return named
}
