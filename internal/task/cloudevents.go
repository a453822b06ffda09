package task

import "encoding/json"

// openEvent unwraps a task from a CloudEvents 1.0 envelope in structured mode (CloudEvents 1.0.2, JSON format 1.0.2).
// It checks the required attributes; even without them it returns the data, so that the sender can be notified. The
// data may be an object, a string that holds one, or data_base64.
//
// The CloudEvents SDK is not used here, only as the reference in tests: its reader stops at the first fault and drops
// the data.
func openEvent(envelope *fields) (message, error) {
	const remedy = "send a CloudEvents 1.0 envelope"
	if version := envelope.text("specversion", maxAttribute); version != "1.0" {
		envelope.bad("specversion", "is "+quote(version), remedy)
	}
	for _, name := range []string{"id", "source", "type"} {
		_, there := envelope.members[name]
		if value := envelope.text(name, maxAttribute); value == "" && (!there || envelope.err == nil) {
			envelope.bad(name, "is missing or empty", remedy+" with id, source and type")
		}
	}
	m := message{event: true, traceParent: envelope.traceParent()}
	if _, malformed := envelope.members["traceparent"]; malformed {
		m.ignored = []string{"traceparent"}
	}

	data, there := envelope.take("data")
	encoded, thereToo := envelope.take("data_base64")
	switch {
	case there && thereToo:
		envelope.bad("data_base64", "is given in addition to data", "send one of the two")
	case thereToo:
		data = encoded
	case !there:
		envelope.bad("data", "is missing", "send the task as an object in it")
		return message{}, envelope.err
	}
	inner, invalid := openData(data)
	if invalid != nil {
		return message{}, invalid
	}
	inner.place = "data."
	inner.spoiled = inner.spoiled || envelope.spoiled
	if envelope.err != nil {
		inner.err = envelope.err
	}
	m.fields = inner
	return m, nil
}

func openData(data json.RawMessage) (*fields, *Invalid) {
	const remedy = "send the task as an object in it"
	f := &fields{}
	switch data[0] {
	case '{':
		// It has been inspected with its envelope.
		if err := json.Unmarshal(data, &f.members); err != nil {
			return nil, notJSON(string(data), err).in("data")
		}
		return f, nil
	case '"':
		var text string
		if err := json.Unmarshal(data, &text); err != nil {
			return nil, notJSON(string(data), err).in("data")
		}
		f, invalid := object(text)
		if invalid != nil {
			return nil, invalid.in("data")
		}
		return f, nil
	default:
		return nil, malformed("is %s, not an object", kind(data)).in("data").withRemedy(remedy)
	}
}
