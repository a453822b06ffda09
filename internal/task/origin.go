package task

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Origin is the message that a moved one was before: a copy is the same message to whoever asks whether it was there
// before. The zero value: it was not moved.
type Origin struct {
	Queue, MessageID string
	InsertedAt       time.Time
}

// movedFrom is the member of a message that says so, of a CloudEvents envelope an extension attribute.
const movedFrom = "movedfrom"

// latestOrigin bounds the time of an origin, in milliseconds since 1970: the end of the year 9999, the last that JSON
// can hold. An origin before 1970 is not a queue's either.
const latestOrigin = 253402300800000

// Moved is a message's text with its origin in it. Whatever wraps the text is taken off.
func Moved(text string, from Origin) (string, error) {
	f, invalid := object(text)
	if invalid != nil {
		return "", fmt.Errorf("move a message: %w", invalid)
	}
	var err error
	if f.members[movedFrom], err = json.Marshal(fmt.Sprintf("%s/%s/%d", from.Queue, from.MessageID,
		from.InsertedAt.UnixMilli())); err != nil {
		return "", fmt.Errorf("move a message: %w", err)
	}
	moved, err := write(f.members)
	if err != nil {
		return "", fmt.Errorf("move a message: %w", err)
	}
	return moved, nil
}

// write writes members without escapes for HTML: with them, a text with many < and & might no longer fit into a queue.
func write(members map[string]json.RawMessage) (string, error) {
	var b strings.Builder
	to := json.NewEncoder(&b)
	to.SetEscapeHTML(false)
	err := to.Encode(members)
	return strings.TrimSuffix(b.String(), "\n"), err
}

// Unmoved is a message's text without the origin that Moved wrote, for a message that is a new one: to whoever asks
// whether it was there before, it would be the one that it was made of. A text without an origin stays as it is.
func Unmoved(text string) (string, error) {
	f, invalid := object(text)
	if invalid != nil {
		return "", fmt.Errorf("take a message's origin off: %w", invalid)
	}
	if f.origin() == (Origin{}) {
		return text, nil
	}
	unmoved, err := write(f.members)
	if err != nil {
		return "", fmt.Errorf("take a message's origin off: %w", err)
	}
	return unmoved, nil
}

// origin reads what Moved wrote. Anything else is an unknown field.
func (f *fields) origin() Origin {
	raw, there := f.members[movedFrom]
	if !there {
		return Origin{}
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return Origin{}
	}
	parts := strings.Split(text, "/")
	if len(parts) != 3 || parts[0] == "" || parts[1] == "" || len(text) > maxAttribute {
		return Origin{}
	}
	at, err := strconv.ParseInt(parts[2], 10, 64)
	if err != nil || at <= 0 || at >= latestOrigin {
		return Origin{}
	}
	delete(f.members, movedFrom)
	return Origin{Queue: parts[0], MessageID: parts[1], InsertedAt: time.UnixMilli(at)}
}
