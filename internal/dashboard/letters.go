package dashboard

import (
	"errors"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seed-7227ef26/async-worker/internal/api"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

const (
	lettersPerPage = 50
	mostGrouped    = 5_000 // dead letters
	mostReplayed   = 200   // by one request
	mostPerMinute  = 6_000
)

// letterFilter narrows the dead letters.
type letterFilter struct {
	Type, Class, Reason string
	Replayed            string // yes or no; empty: both
}

func letterFilterOf(get func(string) string) letterFilter {
	f := letterFilter{Type: get("type"), Class: get("class"), Reason: get("reason"), Replayed: get("replayed")}
	if f.Replayed != "yes" && f.Replayed != "all" {
		f.Replayed = "no"
	}
	return f
}

// URL is the address of a page of dead letters with this filter.
func (f letterFilter) URL(path string) string {
	replayed := f.Replayed
	if replayed == "no" {
		replayed = ""
	}
	return path + query("type", f.Type, "class", f.Class, "reason", f.Reason, "replayed", replayed)
}

// Narrow reports whether it leaves out anything by what letters have in common.
func (f letterFilter) Narrow() bool { return f.Type+f.Class+f.Reason != "" }

func (f letterFilter) store() store.DeadLetterFilter {
	s := store.DeadLetterFilter{Type: f.Type, Class: f.Class, Reason: f.Reason, Replayed: f.Replayed}
	if s.Replayed == "all" {
		s.Replayed = ""
	}
	return s
}

// letterList is what the page of dead letters shows.
type letterList struct {
	Filter  letterFilter
	Groups  store.LetterGroups
	Letters []store.DeadLetter
	Tabs    []tab
	Next    string
	First   bool
}

func (p *page) letters() error {
	ctx, cancel := p.ctx()
	defer cancel()
	after, err := placeOf[store.DeadLetterCursor](p.r)
	if err != nil {
		return err
	}
	list := letterList{Filter: letterFilterOf(p.r.URL.Query().Get), First: after == nil}
	f := list.Filter.store()
	f.After, f.Limit, f.Brief = after, lettersPerPage+1, true
	var g errgroup.Group
	g.Go(func() (err error) { list.Groups, err = p.by.Operation().LetterGroups(ctx, mostGrouped); return err })
	g.Go(func() (err error) { list.Letters, err = p.by.Operation().DeadLetters(ctx, f); return err })
	if err := g.Wait(); err != nil {
		return err
	}
	var more bool
	list.Letters, more = cut(list.Letters, lettersPerPage)
	if n := len(list.Letters); n > 0 && (more || list.Letters[n-1].More) {
		last := list.Letters[n-1]
		list.Next = "dead-letters" + query("type", f.Type, "class", f.Class, "reason", f.Reason, "replayed",
			list.Filter.Replayed, "after", cursorOf(last.Cursor()))
	}
	for _, t := range [][2]string{{"Open", "no"}, {"Replayed", "yes"}, {"All", "all"}} {
		one := list.Filter
		one.Replayed = t[1]
		list.Tabs = append(list.Tabs, tab{Title: t[0], URL: one.URL("dead-letters"), Current: t[1] == list.Filter.Replayed})
	}
	return p.show("letters", "Dead letters", "letters", list)
}

// letterPage is what the page of a dead letter shows: its reason, what it is about, and what can be done.
type letterPage struct {
	Letter   store.DeadLetter
	Job      *store.Job
	Document *store.DocumentEntry // that the task is about
}

func (p *page) letter() error {
	ctx, cancel := p.ctx()
	defer cancel()
	var v letterPage
	var err error
	if v.Letter, err = p.by.Operation().DeadLetter(ctx, p.r.PathValue("id")); err != nil {
		return err
	}
	v.Letter.Original = p.message(v.Letter.Original)
	if v.Letter.JobID != "" {
		j, err := p.by.Reader(ctx).Job(ctx, v.Letter.JobID)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if err == nil {
			v.Job = &j
		}
	}
	if v.Job != nil {
		name, set := member(v.Job.Payload, "filename"), member(v.Job.Payload, "document_set")
		found, err := p.by.Reader(ctx).Outlines(ctx, set, name)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if name != "" && len(found) > 0 {
			v.Document = &found[0].DocumentEntry
		}
	}
	return p.show("letter", "Dead letter", "letters", v)
}

func (p *page) confirmLetter() error {
	ctx, cancel := p.ctx()
	defer cancel()
	l, err := p.by.Operation().DeadLetter(ctx, p.r.PathValue("id"))
	if err != nil {
		return err
	}
	action := p.r.PathValue("action")
	c := confirm{
		Action: "dead-letters/" + l.ID + "/" + action, Back: "dead-letters/" + l.ID,
		Facts: []fact{
			{"Job", l.JobID},
			{"Type", l.TaskType},
			{"Reason", words(l.Reason)},
			{"Error", clip(l.ErrorMessage, 200)},
			{"Replays so far", number(l.Replays)},
		},
	}
	switch action {
	case "replay":
		c.Title, c.Button = "Replay this dead letter?", "Replay"
		c.Text = []string{"Its task runs again as a new job, with all its attempts. If the cause is still there, it fails again."}
		if l.ReplayedAt != nil {
			c.Force = "It was replayed before. Replay it again."
		}
		c.Seen = &l.Replays
	case "delete":
		c.Title, c.Button, c.Danger = "Remove this dead letter?", "Remove for good", true
		c.Text = []string{"The record is removed, and its message from the queue of dead letters, if that answers and has it. " +
			"The task can't be replayed afterwards. This can't be undone."}
		if l.JobID != "" {
			c.Text = append(c.Text, "Its job stays until it is old, with its payload and the message as it came.")
		}
	default:
		return errNoPage
	}
	return p.show("confirm", c.Title, "letters", c)
}

func (p *page) changeLetter() error {
	id := p.r.PathValue("id")
	switch p.r.PathValue("action") {
	case "replay":
		j, err := p.replay(id)
		if err != nil {
			return err
		}
		return p.goTo("jobs/"+j.ID, "replayed")
	case "delete":
		if err := p.by.DeleteLetter(p.r.Context(), id); err != nil {
			return err
		}
		return p.goTo("dead-letters", "removed")
	}
	return errNoPage
}

// replay replays a dead letter. The form has how many replays its page has shown: a second click does not replay it twice.
func (p *page) replay(id string) (api.Job, error) {
	var seen *int
	if n, err := strconv.Atoi(p.r.PostFormValue("seen")); err == nil {
		seen = &n
	}
	j, err := p.by.Replay(p.r.Context(), id, p.r.PostFormValue("force") != "", seen)
	if known, ok := errors.AsType[*api.Problem](err); ok && known.Code == "ALREADY_REPLAYED" {
		return j, &api.Problem{
			Status: known.Status, Code: known.Code,
			Detail: "It was replayed already, or its job was started again since. If it was replayed, its page names the job " +
				"that does its task, and from there it can be replayed once more; else retry the job, if it has failed.",
		}
	}
	return j, err
}

// letterBulk is what the pages of a replay by filter show.
type letterBulk struct {
	Filter    letterFilter
	Limit     int
	PerMinute int // zero: all at once
	Matched   int
	Letters   []store.DeadLetter // some of them
}

// Lasts is how long it takes until the last one starts.
func (b letterBulk) Lasts() time.Duration {
	if b.PerMinute == 0 || b.Matched < 2 {
		return 0
	}
	return time.Duration(b.Matched-1) * time.Minute / time.Duration(b.PerMinute)
}

func (b letterBulk) request(dry bool) api.BulkReplay {
	return api.BulkReplay{
		Type: b.Filter.Type, Class: b.Filter.Class, Reason: b.Filter.Reason, Limit: b.Limit, DryRun: dry,
		PerMinute: b.PerMinute,
	}
}

func letterBulkOf(get func(string) string) letterBulk {
	b := letterBulk{Filter: letterFilterOf(get), Limit: 50}
	b.Filter.Replayed = "no"
	if n, err := strconv.Atoi(get("limit")); err == nil && n > 0 {
		b.Limit = min(n, mostReplayed)
	}
	if n, err := strconv.Atoi(get("rate")); err == nil && n > 0 {
		b.PerMinute = min(n, mostPerMinute)
	}
	return b
}

// lettersPreview is the dry run.
func (p *page) lettersPreview() error {
	ctx, cancel := p.ctx()
	defer cancel()
	b := letterBulkOf(p.r.URL.Query().Get)
	would, err := p.by.ReplayAll(ctx, b.request(true))
	if err != nil {
		return err
	}
	b.Matched = would.Matched
	f := b.Filter.store()
	f.Limit, f.Oldest, f.Brief = min(b.Limit, 20), true, true // as they are replayed
	if b.Letters, err = p.by.Operation().DeadLetters(ctx, f); err != nil {
		return err
	}
	return p.show("letterbulk", "Replay dead letters", "letters", b)
}

func (p *page) replayLetters() error {
	b := letterBulkOf(p.r.PostFormValue)
	ctx, cancel := p.long()
	defer cancel()
	done, err := p.by.ReplayAll(ctx, b.request(false))
	if err != nil {
		return err
	}
	return p.goTo("dead-letters/replayed"+replayedOf(b, done), "")
}
