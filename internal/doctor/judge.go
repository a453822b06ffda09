package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/azure"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/queue"
)

// unanswered is the remedy for a service that is silent.
const unanswered = "the service does not answer: check that it is up, that its address in the settings is right, and " +
	"that no firewall is in the way"

// failed returns the result of a check that failed with err, classified by classOf. An err without a hint of its own
// gets the remedy.
func failed(check string, err error, remedy string) Result {
	r := Result{Check: check, State: Fail, Class: classOf(err), Seen: err.Error(), Remedy: remedy}
	if e, ok := errors.AsType[*taskerr.Error](err); ok {
		r.Seen = e.Message
		if e.Hint != "" {
			r.Seen, r.Remedy = strings.TrimSuffix(e.Message, ": "+e.Hint), e.Hint
		}
		r.Seen += store.DialReason(err)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		r.Class = Unavailable
	}
	if r.Remedy == "" && r.Class == Unavailable {
		r.Remedy = unanswered
	}
	return r
}

func classOf(err error) Class {
	if p, ok := errors.AsType[*azure.Problem](err); ok {
		switch p.Kind {
		case azure.Permission:
			return Permission
		case azure.Clock:
			return Config
		case azure.Setting:
			if p.Status != 0 {
				return Config
			}
		}
		return Unavailable // an unknown host may be an outage of DNS
	}
	if _, ok := errors.AsType[*store.FindingError](err); ok {
		return Permission
	}
	switch {
	case errors.Is(err, store.ErrForbidden), errors.Is(err, queue.ErrDenied):
		return Permission
	case errors.Is(err, store.ErrSchema), errors.Is(err, queue.ErrSetting):
		return Config
	}
	_, unreachable := errors.AsType[*net.OpError](err)
	_, unknown := errors.AsType[*net.DNSError](err)
	if e, ok := errors.AsType[*taskerr.Error](err); ok && !unreachable && !unknown {
		return classOfJob(e)
	}
	return Unavailable
}

// classOfJob distinguishes the errors of services that only their text distinguishes: the worker itself retries them
// all.
func classOfJob(e *taskerr.Error) Class {
	switch {
	case e.Class == taskerr.QuotaExceeded, strings.Contains(e.Message, "refuses the key"):
		return Permission
	case e.Class == taskerr.ValidationError, e.Class == taskerr.InternalBug,
		strings.Contains(e.Message, "doesn't know the model"), strings.Contains(e.Message, "gives vectors of"),
		strings.Contains(e.Message, "refuses a parameter"):
		return Config
	}
	return Unavailable
}

func ok(check, format string, args ...any) Result {
	return Result{Check: check, State: OK, Seen: fmt.Sprintf(format, args...)}
}

// denied reports whether the storage account or the queues' server denied a right.
func denied(err error) bool {
	p, is := errors.AsType[*azure.Problem](err)
	return is && p.Kind == azure.Permission || errors.Is(err, queue.ErrDenied)
}

// settings reports problems with the settings.
func settings(_ context.Context, w *Worker) []Result {
	r := Result{Check: "settings", State: Fail, Class: Config}
	problems := w.Settings
	switch {
	case len(problems) == 0 && len(w.Warnings) == 0:
		return []Result{ok("settings", "they can be read; async-worker check-config shows them")}
	case len(problems) == 0:
		problems, r.State, r.Class = w.Warnings, Warn, None
	}
	var seen, remedy []string
	for _, s := range problems {
		seen = append(seen, s.Name+": "+s.Problem)
		remedy = append(remedy, s.Name+": "+s.Remedy)
	}
	r.Seen, r.Remedy = strings.Join(seen, "; "), strings.Join(remedy, "; ")
	return []Result{r}
}
