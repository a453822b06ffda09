package nats

import (
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// fairAge is from where on a max_age is no risk: no message waits for longer by our doing.
const fairAge = maxVisibility

// checkStream refuses a stream that keeps done messages, confirms none, or is another tenant's.
func (q *natsQueue) checkStream(c jetstream.StreamConfig) error {
	switch {
	case c.Metadata[ownerKey] != "" && q.Owner != "" && c.Metadata[ownerKey] != q.Owner:
		return q.unsuitable(fmt.Sprintf("the stream %s, which captures %s, notes the client %s as its owner", c.Name,
			q.subject, c.Metadata[ownerKey]),
			"give each tenant a stream and subjects of its own (NATS_SUBJECT), which no other stream captures")
	case c.Retention != jetstream.WorkQueuePolicy:
		return q.unsuitable(
			fmt.Sprintf("the stream %s, which captures %s, has the retention %s", c.Name, q.subject, c.Retention),
			"it must be workqueue: create the stream again, or use another subject")
	case c.NoAck:
		return q.unsuitable(
			fmt.Sprintf("the stream %s has no_ack, so it confirms no message, and loses those that it can't store", c.Name),
			"set no_ack of it to false")
	}
	return nil
}

// limitOf is the limit that makes a stream full; empty: only the account's, which refuse messages.
func limitOf(c jetstream.StreamConfig) string {
	switch {
	case c.MaxMsgs > 0:
		return fmt.Sprintf("max_msgs %d", c.MaxMsgs)
	case c.MaxBytes > 0:
		return fmt.Sprintf("max_bytes %d", c.MaxBytes)
	}
	return ""
}

// warn tells of how a stream may lose or refuse tasks, once for each stream. It may be the operator's choice, and a site
// that ran with it must not stop at an upgrade.
func (q *natsQueue) warn(c jetstream.StreamConfig, maxPayload int64) {
	q.service.mu.Lock()
	known := q.warned[c.Name]
	q.warned[c.Name] = true
	q.service.mu.Unlock()
	if known {
		return
	}
	for _, risk := range append(losses(c), smallLimits(c, maxPayload)...) {
		q.OnRisk(risk)
	}
}

// losses are the settings of a stream by which tasks that wait are lost.
func losses(c jetstream.StreamConfig) (risks []string) {
	if limit := limitOf(c); c.Discard == jetstream.DiscardOld && limit != "" {
		risks = append(risks, fmt.Sprintf("the stream %[1]s has %[2]s and discard old, so it removes tasks that wait when it is "+
			"full; set discard of it to new (nats stream edit %[1]s --discard new), or remove the limit", c.Name, limit))
	}
	if c.MaxMsgsPerSubject > 0 && !c.DiscardNewPerSubject {
		risks = append(risks, fmt.Sprintf("the stream %[1]s has max_msgs_per_subject %[2]d without discard_new_per_subject, so each "+
			"task beyond that number removes one that waits; set both discard new and discard_new_per_subject (nats stream edit "+
			"%[1]s --discard new --discard-per-subject), or remove the limit", c.Name, c.MaxMsgsPerSubject))
	}
	if c.MaxAge > 0 && c.MaxAge < fairAge {
		risks = append(risks, fmt.Sprintf("the stream %s removes tasks that wait for %s (max_age); set it to 0, or to %s at least",
			c.Name, c.MaxAge, fairAge))
	}
	if c.Storage == jetstream.MemoryStorage {
		risks = append(risks, fmt.Sprintf("the stream %s is in memory: its tasks are lost when its servers stop", c.Name))
	}
	return risks
}

// smallLimits are the limits that refuse messages which the contract allows.
func smallLimits(c jetstream.StreamConfig, maxPayload int64) (risks []string) {
	const consequence = "the worker's own tasks that are larger go through the container, and those of other senders are refused"
	if c.MaxMsgSize > 0 && c.MaxMsgSize < maxText {
		risks = append(risks, fmt.Sprintf("the stream %[1]s takes messages of %[2]d bytes at most (max_msg_size): %[3]s; set it to "+
			"%[4]d at least (nats stream edit %[1]s --max-msg-size %[4]d), or to -1", c.Name, c.MaxMsgSize, consequence, maxText))
	}
	if maxPayload > 0 && maxPayload < maxText {
		risks = append(risks, fmt.Sprintf("the server takes messages of %d bytes at most (max_payload): %s; set it to %d at least "+
			"in the server's configuration", maxPayload, consequence, maxText))
	}
	return risks
}

func (q *natsQueue) unsuitable(problem, remedy string) error {
	return &Misconfigured{fmt.Sprintf("create queue %q", q.name), problem, remedy}
}
