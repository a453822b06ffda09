package api

import (
	"crypto/rand"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/apitoken"
)

const (
	ticketLife = time.Minute
	maxTickets = 10_000 // unused ones
)

// Ticket is the right to open one stream.
type Ticket struct {
	Ticket    string    `json:"ticket" doc:"Send it as the query parameter ticket, once."`
	ExpiresAt time.Time `json:"expiresAt"`
}

// tickets are the unused ones. They are this process's: a stream is opened where its ticket was issued.
type tickets struct {
	mu     sync.Mutex
	issued map[string]ticketHolder
}

type ticketHolder struct {
	Principal
	until time.Time
}

func newTickets() *tickets { return &tickets{issued: map[string]ticketHolder{}} }

// issue makes a ticket with the holder's right to read.
func (t *tickets) issue(holder Principal) Ticket {
	holder.Scope = apitoken.Read
	now := time.Now()
	out := Ticket{Ticket: rand.Text() + rand.Text(), ExpiresAt: now.Add(ticketLife).UTC()}
	t.mu.Lock()
	defer t.mu.Unlock()
	for text, h := range t.issued {
		if len(t.issued) >= maxTickets || now.After(h.until) {
			delete(t.issued, text)
		}
	}
	t.issued[out.Ticket] = ticketHolder{holder, out.ExpiresAt}
	return out
}

// redeem uses up the ticket of a request for events.
func (t *tickets) redeem(r *http.Request) (Principal, bool) {
	text := r.URL.Query().Get("ticket")
	if text == "" || r.Method != http.MethodGet || !strings.HasSuffix(r.URL.Path, "/events") {
		return Principal{}, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	h, ok := t.issued[text]
	delete(t.issued, text)
	return h.Principal, ok && time.Now().Before(h.until)
}
