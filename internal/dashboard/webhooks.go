package dashboard

import (
	"slices"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

const deliveriesPerPage = 50

// webhookList is what the page of webhooks shows.
type webhookList struct {
	Status     string
	Tabs       []tab
	Outbox     store.Outbox
	Deliveries []store.DeliveryEntry
	Next       string
	First      bool
}

func (p *page) webhooks() error {
	ctx, cancel := p.ctx()
	defer cancel()
	after, err := placeOf[store.DeliveryCursor](p.r)
	if err != nil {
		return err
	}
	known := []string{"", store.DeliveryPending, store.DeliveryDelivered, store.DeliveryFailed, store.DeliveryRefused}
	list := webhookList{Status: p.r.URL.Query().Get("status"), First: after == nil}
	if !slices.Contains(known, list.Status) {
		list.Status = ""
	}
	if list.Outbox, err = p.by.Operation().Outbox(ctx); err != nil {
		return err
	}
	if list.Deliveries, err = p.by.Operation().ListDeliveries(ctx, store.DeliveryFilter{
		Status: list.Status, After: after, Limit: deliveriesPerPage + 1,
	}); err != nil {
		return err
	}
	var more bool
	if list.Deliveries, more = cut(list.Deliveries, deliveriesPerPage); more {
		last := list.Deliveries[len(list.Deliveries)-1]
		list.Next = "webhooks" + query("status", list.Status, "after",
			cursorOf(&store.DeliveryCursor{At: last.CreatedAt, ID: last.ID}))
	}
	for _, status := range known {
		t := tab{Title: title(statusWord(status)), URL: "webhooks" + query("status", status), Current: status == list.Status}
		if status == "" {
			t.Title = "All"
		}
		list.Tabs = append(list.Tabs, t)
	}
	return p.show("webhooks", "Webhooks", "webhooks", list)
}

func (p *page) confirmResend() error {
	id := p.r.PathValue("id")
	return p.show("confirm", "Send this webhook again?", "webhooks", confirm{
		Title: "Send this webhook again?", Button: "Send again",
		Text: []string{
			"The same webhook, under the same id, is sent to its receiver within seconds, and by its schedule again if that " +
				"fails. A receiver that has seen the id knows that it is the same.",
		},
		Facts:  []fact{{"Webhook", id}},
		Force:  "Send it even if it was delivered.",
		Action: "webhooks/" + id + "/resend", Back: "webhooks",
	})
}

func (p *page) resend() error {
	d, err := p.by.Resend(p.r.Context(), p.r.PathValue("id"), p.r.PostFormValue("force") != "")
	if err != nil {
		return err
	}
	if d.JobID == "" {
		return p.goTo("webhooks", "resent")
	}
	return p.goTo("jobs/"+d.JobID, "resent")
}
