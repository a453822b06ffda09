package dashboard

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/api"
)

// DefaultPatience is how long a page waits for the database.
const DefaultPatience = 10 * time.Second

// longLimit is how long a page may take that does many things before it answers. With the time for the answer it is less than
// a minute, after which front and other proxies close the connection, and the rest would not be done.
const longLimit = 45 * time.Second

// answerTime is how long the answer of such a page may take to be sent.
const answerTime = 10 * time.Second

// errLate is the cause of the end of a change that was not made in time.
var errLate = errors.New("dashboard: the change took too long")

// ctx bounds the reads of a page.
func (p *page) ctx() (context.Context, context.CancelFunc) {
	return context.WithTimeout(p.r.Context(), p.d.deps.Patience)
}

// bound bounds a change from now on: after 30 s the server closes the connection, without an answer.
func (p *page) bound() context.CancelFunc {
	ctx, cancel := context.WithTimeoutCause(p.whole.Context(), p.d.changes, errLate)
	p.r = p.r.WithContext(ctx)
	return cancel
}

// long bounds a page that does many things. The server's own limit for a page is shorter.
func (p *page) long() (context.Context, context.CancelFunc) {
	limit := max(longLimit, p.d.deps.Patience)
	_ = http.NewResponseController(p.w).SetWriteDeadline(time.Now().Add(limit + answerTime)) // else the server's limit counts
	return context.WithTimeout(p.whole.Context(), limit)
}

// late reports whether the time for the change is over.
func (p *page) late() bool { return errors.Is(context.Cause(p.r.Context()), errLate) }

// lateProblem says that nobody knows what became of a change.
func lateProblem() *api.Problem {
	return &api.Problem{
		Status: http.StatusServiceUnavailable, Code: "UNAVAILABLE",
		Detail: "A service that this needs did not answer in time. The change may have been done: look before you repeat it.",
	}
}
