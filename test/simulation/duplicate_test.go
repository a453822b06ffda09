package simulation

import (
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// maxDuplicates is how many duplicates are reported in a series.
const maxDuplicates = 20

// judgeDuplicate checks a move of a finished job: it only reports, once, that a message which was sent after the
// job had failed was dropped. A cancel drops a message that is recorded in the row and not marked as sent: if its sender
// died before it could mark it, the message may be the ended run's own.
func (b *book) judgeDuplicate(m move) {
	n, want, hooks := len(m.before.Events), 0, 0
	if b.isDuplicate(m) {
		want = 1
		b.answered[m.begin.Source.MessageID] = true
		b.duplicates[series{m.id, m.after.Series}]++
		b.w.tally.add(&b.w.tally.ended, "duplicate")
		if m.begin.WebhookURL != "" {
			hooks = 1
		}
	}
	events := m.after.Events[n:]
	if m.op == "request cancel" && m.err == nil && m.before.Submitted != nil && m.before.Sent.IsZero() {
		if len(events) != 1 || m.after.Sent.IsZero() {
			b.w.violated(m.id, "I8: %s of the next run made %d events, want 1", m.op, len(events))
		}
		return
	}
	if len(events) != want {
		b.w.violated(m.id, "I8: %s made %d events, want %d, in state %s", m.op, len(events), want, m.before.State)
		return
	}
	for _, e := range events {
		if e.Seq != int64(n)+1 || e.Stage != "" || e.Progress != m.before.Progress ||
			!strings.Contains(string(e.Metadata), m.begin.Source.MessageID) {
			b.w.violated(m.id, "I8: event %d, of a duplicate, is %+v", n+1, e)
		}
	}
	if m.op == "reject" || m.before.Placed {
		return // they report messages of their own
	}
	sent := m.after.Outbox[len(m.before.Outbox):]
	if len(sent) != hooks || (hooks == 1 && (sent[0].Event != "task."+store.Rejected ||
		sent[0].URL != m.begin.WebhookURL)) {
		b.w.violated(m.id, "%s put %+v into the outbox, want %d", m.op, sent, hooks)
	}
}

// isDuplicate reports whether an incoming message was sent after its job failed, and is to be reported.
func (b *book) isDuplicate(m move) bool {
	return m.op == "begin" && m.err == nil && m.before.State == job.Failed &&
		m.before.Fingerprint == m.begin.Fingerprint &&
		!b.answered[m.begin.Source.MessageID] && b.duplicates[series{m.id, m.after.Series}] < maxDuplicates &&
		m.begin.Source.InsertedAt.After(m.before.Ended)
}
