package simulation

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// sort is the behavior that a task wants from its handler.
type sort string

const (
	quick    sort = "quick"
	slow     sort = "slow"     // with stages, progress, checkpoints and staging under its fence
	flaky    sort = "flaky"    // fails a few times with a retryable error
	broken   sort = "broken"   // fails permanently
	late     sort = "late"     // exceeds its timeout
	bug      sort = "bug"      // panics
	refused  sort = "refused"  // its payload is rejected
	explodes sort = "explodes" // validating its payload panics
	busy     sort = "busy"     // shares a document with others
	stubborn sort = "stubborn" // ignores its context for a while
	needy    sort = "needy"    // needs the model
	vetoed   sort = "vetoed"   // its effect is refused
	poison   sort = "poison"   // the model fails at it, each time
	crasher  sort = "crasher"  // it takes the model down for a while, each time
	heavy    sort = "heavy"    // it takes the store down for a while when it is committed, each time
)

// ways are how a task of a sort may end, apart from cancels and lost workers: the classes of errors, "" for
// success.
func (s sort) ways() []taskerr.Class {
	switch s {
	case flaky:
		return []taskerr.Class{"", taskerr.AIRateLimit}
	case broken:
		return []taskerr.Class{taskerr.CorruptionDetected}
	case late:
		return []taskerr.Class{taskerr.Timeout}
	case bug, explodes:
		return []taskerr.Class{taskerr.InternalBug}
	case refused, vetoed:
		return []taskerr.Class{taskerr.ValidationError}
	case needy: // Timeout: its worker was stopped for that long
		return []taskerr.Class{"", taskerr.ModelOverloaded, taskerr.Timeout}
	case poison, crasher:
		return []taskerr.Class{taskerr.ModelOverloaded, taskerr.WaitExceeded}
	case heavy:
		return []taskerr.Class{taskerr.TransientStorage, taskerr.WaitExceeded}
	case slow, busy, stubborn: // the store failed during each of its attempts
		return []taskerr.Class{"", taskerr.TransientStorage, taskerr.Timeout}
	default:
		return []taskerr.Class{""}
	}
}

// work is a payload.
type work struct {
	Sort  sort   `json:"sort"`
	TakeS int    `json:"take_s"`
	Fails int    `json:"fails,omitempty"`
	After int    `json:"retry_after_s,omitempty"`
	Doc   string `json:"doc,omitempty"`
	N     int    `json:"n"` // distinguishes two payloads of one id
}

const plainType, needyType task.Type = "plain", "needy"

// acts draws 5 to 20 tasks and what happens to them.
func (d drawer) acts(active time.Duration) []act {
	var acts []act
	bursts := []time.Duration{0, d.between(0, active/2), d.between(0, active*3/4)}
	for i := range 5 + d.IntN(16) {
		at := min(pick(d, bursts...)+d.short(0, 30*time.Minute), active*9/10)
		if d.chance(12) {
			acts = append(acts, d.hopeless(i, at))
			continue
		}
		t := d.task("t" + strconv.Itoa(i))
		acts = append(acts, d.deliver(t, at)...)
		if d.chance(12) { // the same id for another payload
			other := d.task(t.ID)
			acts = append(acts, d.deliver(other, at+d.short(0, time.Hour))...)
		}
		if d.chance(15) {
			t.Hints.Force = true
			acts = append(acts, d.deliver(t, at+d.short(0, active/2))...)
		}
		for d.chance(20) {
			acts = append(acts, act{at: max(0, at+d.short(0, time.Hour)-time.Minute), what: "cancel", id: t.ID})
		}
	}
	return acts
}

func (d drawer) task(id string) task.Task {
	w := work{
		Sort: pick(d, quick, quick, quick, slow, slow, slow, flaky, flaky, broken, late, bug, refused, explodes, busy,
			busy, stubborn, needy, needy, vetoed, poison, poison, crasher, heavy), N: d.IntN(1 << 30),
	}
	t := task.Task{
		ID: id, Type: plainType, Priority: pick(d, task.PriorityHigh, task.PriorityNormal, task.PriorityNormal,
			task.PriorityLow),
	}
	switch w.Sort {
	case slow, busy, stubborn:
		w.TakeS = int(d.short(10*time.Second, 12*time.Minute).Seconds())
	case late:
		w.TakeS = 3600
		t.Hints.TimeoutSec = float64(1 + d.IntN(300))
		t.Hints.Timeout = time.Duration(t.Hints.TimeoutSec) * time.Second
	case needy, poison, crasher:
		t.Type = needyType
		w.TakeS = d.IntN(60)
	default:
		w.TakeS = d.IntN(4)
	}
	if w.Sort == flaky {
		w.Fails, w.After = 1+d.IntN(4), pick(d, 0, 0, 0, d.IntN(300))
	}
	if w.Sort == busy {
		w.Doc = "doc" + strconv.Itoa(d.IntN(2))
	}
	if d.chance(60) {
		t.WebhookURL = "https://receiver.example/hook"
	}
	t.Payload = must(json.Marshal(w))
	return t
}

// deliver is how a task reaches the worker: submitted, or sent once or twice, in some spelling.
func (d drawer) deliver(t task.Task, at time.Duration) []act {
	if d.chance(40) {
		a := act{at: at, what: "submit", id: t.ID, task: t, dies: pick(d, 0, 0, 1, 2), retries: d.IntN(3)}
		return []act{a}
	}
	text := must(task.Encode(t))
	switch d.IntN(8) {
	case 0:
		text = base64.StdEncoding.EncodeToString([]byte(text))
	case 1:
		text = claimCheck(t.ID, text)
	}
	acts := []act{{at: at, what: "send", id: t.ID, text: text, queue: t.Priority}}
	for d.chance(25) {
		acts = append(acts, act{at: at + d.short(0, time.Hour), what: "send", id: t.ID, text: text, queue: t.Priority})
	}
	return acts
}

// claimed marks a text that a client puts into a blob, to send a claim check in its place.
const claimed = "claim check of "

func claimCheck(id, text string) string { return claimed + id + " " + text }

// hopeless is a message that isn't a valid task.
func (d drawer) hopeless(i int, at time.Duration) act {
	id := "x" + strconv.Itoa(i)
	text := pick(d,
		"no JSON", "{", `{"task_id":17}`, `{"task_type":"plain","payload":{}}`,
		fmt.Sprintf(`{"task_id":%q,"task_type":"plain"}`, id),
		fmt.Sprintf(`{"task_id":%q,"task_type":"unheard-of","payload":{},"webhook_url":"https://receiver.example/hook"}`, id),
		fmt.Sprintf(`{"task_id":%q,"task_type":"plain","payload":{},"client_id":"umbrella"}`, id),
		fmt.Sprintf(`{"task_id":%q,"task_type":"plain","claim_check":{"blob":"nowhere.json"}}`, id),
	)
	return act{at: at, what: "send", text: text, queue: task.PriorityNormal}
}

// must is for errors that can't happen.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
