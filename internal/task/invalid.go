package task

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Reason says in one word why a message can't become a task. Dead letters bear it.
type Reason string

// The reasons that decoding gives; others (an unknown type, a conflict) are found later.
const (
	Malformed      Reason = "malformed"       // no JSON object, or not one that can be kept
	InvalidField   Reason = "invalid_field"   // a field is missing or can't be understood
	InvalidPayload Reason = "invalid_payload" // the payload is missing or no object
	WrongClient    Reason = "wrong_client"    // the message is another client's
)

// Invalid is a message that can't become a task: no retry would mend it. Its text is a sentence for
// the sender; it quotes names and short values, never a URL or the content of a payload.
type Invalid struct {
	Reason  Reason
	Field   string // e.g. "hints.timeout_seconds"; empty: the message as a whole
	Problem string // e.g. "is missing"
	Remedy  string // e.g. "send 1 to 128 of A-Z, a-z, 0-9 and . _ : -"
	Known   Known
}

func (e *Invalid) Error() string {
	subject := "the message"
	if e.Field != "" {
		subject = e.Field
	}
	text := subject + " " + e.Problem
	if e.Remedy != "" {
		text += "; " + e.Remedy
	}
	return text
}

// Known is what could be read of a message, be it valid or not: enough for a dead letter and for
// telling the sender. What is missing, malformed or can't be stored is empty.
type Known struct {
	TaskID      string
	Type        Type
	Payload     json.RawMessage
	WebhookURL  string
	RequestedBy string
	// OtherClient says that the message names a client that is not ours, so that no job of ours may
	// be recorded for its task id (I10).
	OtherClient bool
}

// Or is what is known of a claim check's blob, with what the claim check knows in place of what is missing. A blob that is
// another client's message stays alone.
func (k Known) Or(claim Known) Known {
	if k.OtherClient {
		return k
	}
	if k.Payload == nil {
		k.Payload = claim.Payload
	}
	k.TaskID, k.Type = cmp.Or(k.TaskID, claim.TaskID), cmp.Or(k.Type, claim.Type)
	k.WebhookURL, k.RequestedBy = cmp.Or(k.WebhookURL, claim.WebhookURL), cmp.Or(k.RequestedBy, claim.RequestedBy)
	return k
}

func malformed(format string, args ...any) *Invalid {
	return &Invalid{Reason: Malformed, Problem: fmt.Sprintf(format, args...)}
}

// maxQuoted is how much of a sender's value an error repeats, in bytes.
const maxQuoted = 64

// quote shows a sender's value in an error: bounded, and safe to print.
func quote(s string) string { return strconv.Quote(clip(s, maxQuoted)) }

// clip shortens s to about n bytes without cutting a character in two.
func clip(s string, n int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
