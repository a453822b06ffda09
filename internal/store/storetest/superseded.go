package storetest

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// take stages the document for a job that is to get it.
func (l *line) take(h store.Holder) store.StagedVersion {
	l.b.t.Helper()
	s, err := l.b.StageDocument(l.b.ctx(), staging(h, l.filename))
	if err != nil || s.SupersededBy != "" || s.Version == 0 {
		l.b.t.Fatalf("%s does not get the document: %+v, %v", h.JobID, s, err)
	}
	return s
}

// finish ends a job with a version of the document, made of a blob.
func (l *line) finish(h store.Holder, blob string) {
	l.b.t.Helper()
	s := l.take(h)
	l.b.stage(h, s, "text of "+blob)
	l.b.complete(h, l.version(s, blob))
}

// version activates what was made of a blob.
func (l *line) version(s store.StagedVersion, blob string) store.Effect {
	l.b.t.Helper()
	e := activate(s, 1)
	args, ok := e.Args.(store.Activation)
	if !ok {
		l.b.t.Fatalf("%T", e.Args)
	}
	args.Blob, args.Metadata = blob, store.Metadata{"title": "of " + blob}
	e.Args = args
	return e
}

// keep ends a job that finds the document unchanged, with the blob and its sender's metadata.
func (l *line) keep(h store.Holder, blob string) {
	l.b.t.Helper()
	s := l.take(h)
	l.b.complete(h, store.Effect{Kind: store.EffectKeepDocument, Args: store.Retention{
		DocumentID: s.DocumentID, Version: s.Version, Blob: blob, Metadata: store.Metadata{"title": "of " + blob},
	}})
}

// comeBack begins the next attempt of a job.
func (l *line) comeBack(m store.Begin) store.Holder {
	l.b.t.Helper()
	for {
		begun, err := l.b.Begin(l.b.ctx(), m)
		if err == nil && begun.Decision == store.Run {
			return holder(m, begun)
		}
		if err != nil || begun.Decision != store.Waiting {
			l.b.t.Fatalf("%s comes back: %+v, %v", m.JobID, begun, err)
		}
	}
}

// wantSuperseded checks that a job does not get the document, as that of the other one stays.
func (l *line) wantSuperseded(what string, h, by store.Holder) {
	l.b.t.Helper()
	s, err := l.b.StageDocument(l.b.ctx(), staging(h, l.filename))
	if err != nil || s.SupersededBy != by.JobID || s.Version != 0 || s.DocumentID == "" || s.Active == nil {
		l.b.t.Errorf("%s comes back after %s: %+v, %v", what, by.JobID, s, err)
	}
}

// wantActive checks what the document was made of last.
func (l *line) wantActive(what string, version int, blob string) {
	l.b.t.Helper()
	_, h := l.join(1000, "")
	a := l.take(h).Active
	l.b.complete(h)
	if a == nil || a.Version != version || a.Blob != blob || a.GivenTitle != "of "+blob {
		l.b.t.Errorf("%s: the document is %+v; want version %d of %s", what, a, version, blob)
	}
}

// ways are what makes a job let a later one on its document pass.
func (l *line) ways() map[string]func(h store.Holder) {
	return map[string]func(h store.Holder){
		"it failed": func(h store.Holder) {
			if _, err := l.b.Retry(l.b.ctx(), store.Retry{Holder: h, After: time.Millisecond, Error: badInput}); err != nil {
				l.b.t.Fatal(err)
			}
		},
		"its worker was lost": l.b.loseWorker,
		"a service was down":  func(h store.Holder) { l.release(h, true) },
	}
}

// testSuperseded: a job that comes back when a later one on its document has ended neither replaces nor removes what that
// made or found unchanged.
func testSuperseded(_ *testing.T, b *bench) {
	for kind, more := range map[string]string{"an ingest": "", "a removal": `,"delete":true`} {
		for why, leave := range b.line().ways() {
			for end, keeps := range map[string]bool{"made a version": false, "kept the version": true} {
				what := kind + ", as " + why + ", and the later one " + end
				l := b.line()
				_, h0 := l.join(0, "")
				l.finish(h0, "up/0")
				first, h1 := l.join(1, more)
				l.take(h1)
				leave(h1)
				_, h2 := l.join(2, "")
				version := 2 // the number that the first one had staged
				if keeps {
					version = 1
					l.keep(h2, "up/2")
				} else {
					l.finish(h2, "up/2")
				}
				h1 = l.comeBack(first)
				l.wantSuperseded(what, h1, h2)
				l.wantSuperseded(what+", again", h1, h2)
				b.complete(h1)
				l.wantActive(what, version, "up/2")
			}
		}
	}
}

// testSupersededOnRequest: a job that somebody has done again takes the document from later ones, but supersedes only those
// that its first message would. A forced message is a new one. A removal that found the blob there supersedes none: it has not
// read it.
func testSupersededOnRequest(t *testing.T, b *bench) {
	l := b.line()
	first, h1 := l.join(1, "")
	l.take(h1)
	b.fail(h1, first)
	_, h2 := l.join(2, "")
	l.finish(h2, "up/2")
	if _, err := b.Requeue(b.ctx(), requeuing(first)); err != nil {
		t.Fatal(err)
	}
	h1 = l.comeBack(anotherMessage(first))
	l.finish(h1, "up/1")
	l.wantActive("queued again by hand", 2, "up/1")
	_, h3 := l.join(3, "")
	l.finish(h3, "up/3") // its file is newer than that of the first, although that was done again later

	forced := anotherMessage(first)
	forced.Force, forced.Source.InsertedAt = true, time.Now()
	h1 = l.again(forced)
	l.finish(h1, "up/forced")
	_, h4 := l.join(4, "")
	l.wantSuperseded("sent before the forced message", h4, h1)
	b.complete(h4)
	l.wantActive("forced", 4, "up/forced")

	l = b.line()
	first, h1 = l.join(1, "")
	letter := b.fail(h1, first).DeadLetter.ID
	_, h2 = l.join(2, "")
	l.finish(h2, "up/2")
	replay := replaying(letter, b.plan(letter, ""), func(r *store.Replay) { r.Payload = first.Payload })
	b.replay(replay)
	_, h1 = b.run(func(m *store.Begin) { m.Task = replay.Task })
	l.finish(h1, "up/1")
	_, h3 = l.join(3, "")
	l.finish(h3, "up/3")
	l.wantActive("after a replay of the first", 3, "up/3")

	l = b.line()
	_, h0 := l.join(0, "")
	l.finish(h0, "up/0")
	first, h1 = l.join(1, "")
	l.release(h1, true)
	_, h2 = l.join(2, `,"delete":true`)
	l.keep(h2, "up/0")
	l.finish(l.comeBack(first), "up/1")
	l.wantActive("after a removal of what is missing", 2, "up/1")
}

// testSupersededLater: a job that starts later has its place at that time, and not where its message was sent.
func testSupersededLater(_ *testing.T, b *bench) {
	l := b.line()
	_, h2 := l.join(2, "")
	l.finish(h2, "up/2")
	m := message(func(m *store.Begin) {
		m.Payload = json.RawMessage(`{"document_set":"set","filename":"` + l.filename + `"}`)
		m.Source.InsertedAt, m.RunAt = l.start.Add(time.Second), time.Now().Add(-time.Second)
	})
	h1 := l.again(m)
	l.finish(h1, "up/later")

	m = anotherMessage(m)
	m.Force, m.RunAt = true, time.Now().Add(time.Minute)
	_, h3 := l.join(3, "")
	l.wantSuperseded("sent before the time of the other", h3, h1)
	b.complete(h3)
	l.finish(l.again(m), "up/forced")
	l.wantActive("forced, to start later", 3, "up/forced")
}

// testSupersededWithinASecond: which of two messages of one second came first is not known, as a queue may round their times.
func testSupersededWithinASecond(t *testing.T, b *bench) {
	for before, superseded := range map[time.Duration]bool{
		0: false, time.Millisecond: false, 999 * time.Millisecond: false, time.Second: true,
	} {
		l := b.line()
		_, newer := l.join(1, "")
		l.finish(newer, "up/2")
		l.start = l.start.Add(-before)
		_, older := l.join(1, "")
		s, err := b.StageDocument(b.ctx(), staging(older, l.filename))
		if err != nil || (s.SupersededBy != "") != superseded {
			t.Errorf("a message of %v before: %+v, %v", before, s, err)
		}
	}
}

// testSupersededOfTwoClocks: a message whose time is of the queue's clock may be newer than a task that the database recorded,
// although that has a later time.
func testSupersededOfTwoClocks(t *testing.T, b *bench) {
	for before, superseded := range map[time.Duration]bool{30 * time.Second: false, 2 * time.Minute: true} {
		l := b.line()
		recorded := b.submitted(func(m *store.Begin) {
			m.Payload = json.RawMessage(`{"document_set":"set","filename":"` + l.filename + `"}`)
		})
		l.finish(l.again(recorded), "up/2")
		l.start = time.Now().Add(-before)
		_, older := l.join(0, "")
		s, err := b.StageDocument(b.ctx(), staging(older, l.filename))
		if err != nil || (s.SupersededBy != "") != superseded {
			t.Errorf("a message of %v before: %+v, %v", before, s, err)
		}
	}

	// A queue's clock that is ahead is that of all its messages, however long they waited.
	l := b.line()
	l.start = time.Now().Add(-30 * time.Second)
	first, older := l.join(0, "")
	l.release(older, true)
	l.start = time.Now().Add(5 * time.Second)
	_, newer := l.join(0, "")
	l.finish(newer, "up/2")
	l.wantSuperseded("sent before by a clock that is ahead", l.comeBack(first), newer)
}

// testSupersededHolder: a later job takes the document from one whose lease has ended; if that one lives, it can't end with
// what it has staged.
func testSupersededHolder(t *testing.T, b *bench) {
	l := b.line()
	_, h0 := l.join(0, "")
	l.finish(h0, "up/0")
	_, h1 := l.join(1, "")
	s := l.take(h1)
	b.stage(h1, s, "text of up/1")
	b.loseWorker(h1)
	_, h2 := l.join(2, "")
	l.finish(h2, "up/2")
	for _, e := range []store.Effect{
		l.version(s, "up/1"),
		{Kind: store.EffectKeepDocument, Args: store.Retention{DocumentID: s.DocumentID, Version: s.Version, Blob: "up/1"}},
		{Kind: store.EffectDeleteDocument, Args: store.Deletion{DocumentID: s.DocumentID, Version: s.Version}},
	} {
		_, err := b.Complete(b.ctx(), store.Completion{Holder: h1, Result: []byte(`{}`), Effects: []store.Effect{e}})
		if !errors.Is(err, store.ErrFenced) {
			t.Errorf("%s: %v, want ErrFenced", e.Kind, err)
		}
	}
	l.wantActive("after the lost one", 2, "up/2")
}
