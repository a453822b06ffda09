// Package event names what operators look for in the journal, and carries in a context whose work is being done, so
// that each record of a task bears the task. The texts that `journalctl -x` shows for an event are in
// systemd/async-worker.catalog.
package event

// ID names a kind of event for good: the journal's MESSAGE_ID, a UUID as 32 hexadecimal digits. It is never changed
// and never used for another kind (see "Well-Known Fields" in systemd.journal-fields(7)).
type ID string

// Key is the attribute that bears an event's id: log.Info("ready", event.Key, event.Ready). In the journal it becomes
// MESSAGE_ID.
const Key = "message_id"

// The events. Each is in the catalog, and logged somewhere: a test compares them.
const (
	// Started: the process has read its settings and connects to its services.
	Started ID = "0c3aeb544fae4b19b973956b733e9438"
	// Ready: settings are valid, queue and store have answered: it takes tasks.
	Ready ID = "26cba7be44074290a5d9371b6c5b1eaa"
	// Stopped: it drained, and ended by itself.
	Stopped ID = "88dbfe6f4c6046afab40259f5d897908"
	// TaskDone: an attempt ended with success, or with a cancel.
	TaskDone ID = "4ec16f5af5784e8091f135a71dee2c0e"
	// TaskRetried: an attempt failed with an error that may pass.
	TaskRetried ID = "e5e6c05341414ec29eb81ee58ab24601"
	// TaskReleased: an attempt ended without being counted: a shutdown, a dependency that is down, another job on the
	// same document.
	TaskReleased ID = "56dceaffd0414a94ac1d036bace6d009"
	// TaskFailed: an attempt failed, and there will be no other.
	TaskFailed ID = "976d9a34a2364a05a00b7c0449c560f9"
	// DeadLettered: its copy is on the dead-letter queue.
	DeadLettered ID = "cfc333bd37714779a85a6078e9fa3b88"
	// LeaseLost: the attempt is void: another worker may have the job.
	LeaseLost ID = "94a6d07857c24617bd6e9027ba740afb"
	// HandlerStuck: its job ended without it, its slot stays taken.
	HandlerStuck ID = "83178bc16fad4e008027b7a7bb161f1d"
	// MessageWaits: the database or a claim check's blob does not answer; it waits.
	MessageWaits ID = "5fe81fe7947c46eb8d3c70163ad3abb1"
	// BreakerOpen: its circuit breaker opened.
	BreakerOpen ID = "b07a7833b804497ca809af0aa59ee191"
	// BreakerClosed: its circuit breaker closed.
	BreakerClosed ID = "d3d31e4eba3f43c0a60995e962fe1a11"
	// QueueDown: receiving failed.
	QueueDown ID = "38218691c16d4446a62493f53335b0b7"
	// QueueUp: receiving works again.
	QueueUp ID = "0bbe23531d83473e96f282972c83a9db"
	// TypeLimited: many of its attempts fail.
	TypeLimited ID = "7469bec3d258492fb9bf2fa2d4c570cb"
	// WebhookGivenUp: it was refused, or all its attempts failed.
	WebhookGivenUp ID = "d75874ac7bee4b74b11995d6c9b6dca1"
	// DrainBegun: told to stop, the worker finishes what runs.
	DrainBegun ID = "c6a477516ac3434e8379a7887fba8cc5"
	// DrainEnded: nothing runs any more, or its time was up.
	DrainEnded ID = "7e250dcdb782465793d76ffd0cfffe06"
	// SettingsRefused: a reload found problems: the old settings stay in force.
	SettingsRefused ID = "ccf062cd9abb48d9ae8ca9badc84c118"
	// SettingsApplied: a reload took over what can be changed while it runs.
	SettingsApplied ID = "f2cd7df018584e6997f2914608b003ec"
	// Panic: a panic was recovered.
	Panic ID = "d69804e09258458f82c7d5d784e84cb1"
	// Stuck: the poll loop or a heartbeat does not move: the watchdog is not fed.
	Stuck ID = "938780c2c53a477e8e66244de82a3292"
	// SinkDown: the sink of lifecycle events fails: they wait in the database.
	SinkDown ID = "f5e9d9993c644307b6f1f684e37a1f74"
	// SinkUp: the sink of lifecycle events takes them again.
	SinkUp ID = "931b5fad81b741b987b1aae178d942e1"
	// EventRefused: the sink will never take an event, which is left out.
	EventRefused ID = "8ddf762863bf440caaa10c4ddacb86c6"
	// EventsLost: events were removed before they were published.
	EventsLost ID = "ede8cc844b1f446f989bcd7b4a17fea3"
	// CogneeDown: Cognee fails: documents for it wait in the database.
	CogneeDown ID = "5b0e3c1e7f0c4a0b9d3a2f6c8e14d7a9"
	// CogneeUp: Cognee takes documents again.
	CogneeUp ID = "c1f4a6d29b6e4f5f8e7a0b3d5c927e18"
	// CogneeRefused: Cognee will not take a document, which is left out.
	CogneeRefused ID = "7d2a94f0c3b84e61a5f8d1907be36c42"
)

// Name is an event's id and what it is called in documents.
type Name struct {
	ID   ID
	Name string
}

// All lists the events.
func All() []Name {
	return []Name{
		{Started, "Started"},
		{Ready, "Ready"},
		{Stopped, "Stopped"},
		{TaskDone, "TaskDone"},
		{TaskRetried, "TaskRetried"},
		{TaskReleased, "TaskReleased"},
		{TaskFailed, "TaskFailed"},
		{DeadLettered, "DeadLettered"},
		{LeaseLost, "LeaseLost"},
		{HandlerStuck, "HandlerStuck"},
		{MessageWaits, "MessageWaits"},
		{BreakerOpen, "BreakerOpen"},
		{BreakerClosed, "BreakerClosed"},
		{QueueDown, "QueueDown"},
		{QueueUp, "QueueUp"},
		{TypeLimited, "TypeLimited"},
		{WebhookGivenUp, "WebhookGivenUp"},
		{DrainBegun, "DrainBegun"},
		{DrainEnded, "DrainEnded"},
		{SettingsRefused, "SettingsRefused"},
		{SettingsApplied, "SettingsApplied"},
		{Panic, "Panic"},
		{Stuck, "Stuck"},
		{SinkDown, "SinkDown"},
		{SinkUp, "SinkUp"},
		{EventRefused, "EventRefused"},
		{EventsLost, "EventsLost"},
		{CogneeDown, "CogneeDown"},
		{CogneeUp, "CogneeUp"},
		{CogneeRefused, "CogneeRefused"},
	}
}
