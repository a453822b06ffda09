package dashboard

import (
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// confirm is what a page shows before a change: what it will do, and a button.
type confirm struct {
	Title  string
	Text   []string // what it will do
	Facts  []fact
	Action string // the address of the form
	Button string
	Danger bool
	Force  string // what a box offers beside it; empty: there is none
	Seen   *int   // how often it was done before, when the page was shown; nil: that does not matter
	Back   string
}

// fact is a line about what will be changed.
type fact struct{ Name, Value string }

func jobFacts(j store.Job) []fact {
	return []fact{
		{"Job", j.ID},
		{"About", subject(j)},
		{"Type", j.Type},
		{"State", statusWord(j.Status)},
		{"Attempts", number(j.Attempts) + " of " + number(j.MaxAttempts)},
	}
}

func (p *page) confirmJob() error {
	ctx, cancel := p.ctx()
	defer cancel()
	c, err := p.changeOf(p.r.PathValue("action"))
	if err != nil {
		return err
	}
	j, err := p.by.Reader(ctx).Job(ctx, p.r.PathValue("id"))
	if err != nil {
		return err
	}
	page := confirm{
		Title: c.Title + " this job?", Text: []string{c.Does}, Facts: jobFacts(j), Action: "jobs/" + j.ID + "/" + c.Name,
		Button: c.Title + " the job", Danger: c.Name == "cancel", Back: "jobs/" + j.ID,
	}
	if !c.possible(j) {
		page.Action = ""
		page.Text = []string{"This is not possible: the job is " + statusWord(j.Status) + "."}
	}
	return p.show("confirm", page.Title, "jobs", page)
}

func (p *page) changeJob() error {
	c, err := p.changeOf(p.r.PathValue("action"))
	if err != nil {
		return err
	}
	id := p.r.PathValue("id")
	if err := p.change(p.r.Context(), c, id); err != nil {
		return err
	}
	return p.goTo("jobs/"+id, map[string]string{"cancel": "canceled", "retry": "retried"}[c.Name])
}
