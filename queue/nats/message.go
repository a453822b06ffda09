package nats

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// Headers of messages that this package sends. Times are in milliseconds since 1970.
const (
	// headerVisible is when a delayed message becomes visible. JetStream's own schedules need a server of 2.12 or newer.
	headerVisible = "Async-Worker-Visible-At"
	// headerExpires is when a message is no longer wanted.
	headerExpires = "Async-Worker-Expires-At"
)

func setTime(h nats.Header, key string, at time.Time) {
	h.Set(key, strconv.FormatInt(at.UnixMilli(), 10))
}

// timeOf returns the time in a header; zero: there is none.
func timeOf(h nats.Header, key string) time.Time {
	ms, err := strconv.ParseInt(h.Get(key), 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

// textOf is the text of a message. A CloudEvent in binary mode, whose attributes are headers, becomes one in structured
// mode, which is what the decoder of task messages reads.
// Source: https://github.com/cloudevents/spec/blob/main/cloudevents/bindings/nats-protocol-binding.md, 3.1.
func textOf(h nats.Header, data []byte) string {
	if headerOf(h, "ce-specversion") == "" {
		return string(data)
	}
	event := map[string]any{}
	for name := range h {
		attribute, ok := strings.CutPrefix(strings.ToLower(name), "ce-")
		if !ok {
			continue
		}
		value := h[name][0]
		if plain, err := url.PathUnescape(value); err == nil {
			value = plain
		}
		event[attribute] = value
	}
	if json.Valid(data) {
		event["data"] = json.RawMessage(data)
	} else {
		event["data_base64"] = data
	}
	text, err := json.Marshal(event)
	if err != nil { // not possible: strings, bytes and valid JSON
		return string(data)
	}
	return string(text)
}

// headerOf is nats.Header.Get without regard to case: publishers write ce-id, Ce-Id and CE-ID.
func headerOf(h nats.Header, name string) string {
	for key, values := range h {
		if strings.EqualFold(key, name) && len(values) > 0 {
			return values[0]
		}
	}
	return ""
}
