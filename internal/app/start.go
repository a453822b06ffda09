package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/azure"
	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/retry"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/systemd"
)

const (
	longestStartWait = 20 * time.Second
	startRound       = 45 * time.Second // for one round of probes
)

// startWaits are the waits between rounds of probes.
var startWaits = retry.Backoff{First: 500 * time.Millisecond, Max: longestStartWait, Jitter: 0.25}

// dependencyCheck probes one service.
type dependencyCheck struct {
	name  string // in messages: "the database"
	where string // host, without secrets
	ask   func(context.Context) error
	next  func(error) string // what to do when it fails
}

// UnavailableError reports services that did not answer within the bound of a start.
type UnavailableError struct {
	Tried    time.Duration
	Attempts int
	err      error
}

func (e *UnavailableError) Error() string {
	return fmt.Sprintf("gave up after %s and %d attempts (START_MAX_SEC): %v", e.Tried.Round(time.Second), e.Attempts,
		e.err)
}

func (e *UnavailableError) Unwrap() error { return e.err }

// starter waits until all services answer.
type starter struct {
	bound  time.Duration // zero: each is probed once
	log    *slog.Logger
	status func(line string, extend time.Duration) // reports to the manager, and extends the timeout of the start
}

// await probes all services at once, so that a start takes as long as the slowest, and reports all that fail. What
// waiting may fix is probed again, with exponential backoff, until the bound. Anything else (a rejected key, a wrong
// name, a schema that is too old) ends the wait at once, and so does ctx.
func (s starter) await(ctx context.Context, checks []dependencyCheck) error {
	began := time.Now()
	next := startWaits.Waits().Next
	for attempt := 1; ; attempt++ {
		var err error
		checks, err = askAll(ctx, checks)
		if err == nil {
			if attempt > 1 {
				s.log.Info("all services are up", "waited", time.Since(began).Round(time.Second).String())
			}
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !allPassing(err) || s.bound == 0 {
			return err
		}
		spent := time.Since(began)
		if spent >= s.bound {
			return &UnavailableError{Tried: spent, Attempts: attempt, err: err}
		}
		pause := min(next(), s.bound-spent) // one last round at the bound
		if attempt == 1 {
			s.log.Warn("waiting for services that do not answer", "error", err, "for_at_most", s.bound.String())
		}
		s.status(fmt.Sprintf("waiting for %s since %s, attempt %d, until %s", namesOf(checks),
			began.Format(time.TimeOnly), attempt,
			began.Add(s.bound).Format(time.TimeOnly)), pause+startRound+10*time.Second)
		if retry.Sleep(ctx, pause) != nil {
			return ctx.Err()
		}
	}
}

// failedChecks are the errors of one round, one per service.
type failedChecks []error

func (f failedChecks) Error() string { return errors.Join(f...).Error() }

// Unwrap exposes the errors to errors.Is and errors.As.
func (f failedChecks) Unwrap() []error { return f }

// askAll returns the services that failed, and why.
func askAll(ctx context.Context, checks []dependencyCheck) ([]dependencyCheck, error) {
	ctx, cancel := context.WithTimeout(ctx, startRound)
	defer cancel()
	errs := make([]error, len(checks))
	var asking sync.WaitGroup
	for i, c := range checks {
		asking.Go(func() { errs[i] = c.ask(ctx) })
	}
	asking.Wait()
	var left []dependencyCheck
	var failed failedChecks
	for i, err := range errs {
		if err != nil {
			left = append(left, checks[i])
			failed = append(failed, checks[i].failure(err))
		}
	}
	if len(failed) == 0 {
		return nil, nil
	}
	return left, failed
}

func (c dependencyCheck) failure(err error) *ServiceError {
	e := &ServiceError{doing: c.name + " at " + c.where, err: err}
	if c.next != nil {
		e.next = c.next(err)
	}
	return e
}

func namesOf(checks []dependencyCheck) string {
	var names []string
	for _, c := range checks {
		names = append(names, c.name+" at "+c.where)
	}
	return strings.Join(names, ", ")
}

func allPassing(err error) bool {
	failed, ok := errors.AsType[failedChecks](err)
	if !ok {
		return passing(err)
	}
	for _, one := range failed {
		if !passing(one) {
			return false
		}
	}
	return true
}

// passing reports whether waiting may fix an error of a start. A host name that isn't found may be: when a machine
// boots, its resolver may come up last.
func passing(err error) bool {
	switch {
	case errors.Is(err, store.ErrForbidden), errors.Is(err, store.ErrSchema), StorageDenied(err), StorageMisnamed(err):
		return false
	}
	if _, untrusted := errors.AsType[*tls.CertificateVerificationError](err); untrusted {
		return false
	}
	if p, ok := errors.AsType[*azure.Problem](err); ok {
		return p.Kind != azure.Permission // a wrong clock is set after the boot; settings: see StorageMisnamed
	}
	if e, ok := errors.AsType[*taskerr.Error](err); ok {
		return e.Class == taskerr.TransientStorage || e.Class == taskerr.DependencyUnavailable ||
			e.Class == taskerr.NetworkTimeout
	}
	_, unreachable := errors.AsType[*net.OpError](err)
	return unreachable || errors.Is(err, context.DeadlineExceeded)
}

// DatabaseAddress returns the host of the database, without login and password.
func (t *Tenant) DatabaseAddress() string {
	if database := t.Config.DatabaseURL.Reveal(); database != "" {
		if u, err := url.Parse(database); err == nil && u.Host != "" {
			return u.Host
		}
		return "DATABASE_URL" // in the keyword=value form
	}
	if u, err := url.Parse(t.Config.Supabase.URL); err == nil && u.Host != "" {
		return u.Host
	}
	return "SUPABASE_URL"
}

// ContainerAddress returns where the documents are.
func (t *Tenant) ContainerAddress() string {
	if t.Config.BlobBackend == config.BlobDir {
		return t.Config.BlobDir
	}
	return t.storageHost(azure.Blob)
}

// ContainerName names the container, or the folder in its place.
func (t *Tenant) ContainerName() string {
	if t.Config.BlobBackend == config.BlobDir {
		return t.Config.BlobDir
	}
	return t.Config.Azure.Container
}

// storageHost returns the host of a service of the storage account.
func (t *Tenant) storageHost(s azure.Service) string {
	creds, err := t.credentials()
	if err != nil {
		return "AZURE_STORAGE_CONNECTION_STRING"
	}
	return creds.Host(s)
}

// prepare waits for all services, and creates queues and a container that are missing.
func (t *Tenant) prepare(ctx context.Context) error {
	var n systemd.Notifier
	s := starter{bound: t.Config.StartMax, log: t.log, status: func(line string, extend time.Duration) {
		if err := errors.Join(n.Status("%s", line), n.ExtendTimeout(extend)); err != nil {
			t.log.Warn("can't notify systemd", "error", err)
		}
	}}
	return s.await(ctx, []dependencyCheck{
		{"the database", t.DatabaseAddress(), func(ctx context.Context) error {
			if err := t.Store.Check(ctx); err != nil {
				return fmt.Errorf("check the store: %w%s", err, store.DialReason(err))
			}
			return nil
		}, t.NextDatabaseAfter},
		{"the queues", t.QueuesAddress(), t.EnsureQueues, t.NextQueues},
		{"the container", t.ContainerAddress(), func(ctx context.Context) error {
			if err := t.Bucket.Ensure(ctx); err != nil {
				return fmt.Errorf("create container %s: %w", t.ContainerName(), err)
			}
			return nil
		}, func(error) string { return t.NextContainer() }},
	})
}
