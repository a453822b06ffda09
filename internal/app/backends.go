package app

import (
	"context"
	"errors"

	"github.com/seed-7227ef26/async-worker/internal/azure"
	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/store/postgres"
	"github.com/seed-7227ef26/async-worker/queue"
	queuenats "github.com/seed-7227ef26/async-worker/queue/nats"
	queuepostgres "github.com/seed-7227ef26/async-worker/queue/postgres"
)

// backend is all that differs between kinds of queues, beside the settings of each: nothing else in this package asks
// for QUEUE_BACKEND.
type backend struct {
	open    func(*Tenant, context.Context) (queue.Service, error)
	in      server                       // where the queues are
	grant   func(config.Config) grant    // how to give a right on one
	channel func(clientID string) string // the notifications in the database that tell of new tasks; nil: none do
	told    bool                         // the store sends these; else the queues do
	enqueue bool                         // aw_enqueue puts tasks on them
	billed  bool                         // each request costs money
	signed  bool                         // requests are signed with the time
}

// server is what holds queues.
type server int

const (
	inStorageAccount server = iota
	inDatabase
	inNATS
)

// backendOf returns the backend of a value of QUEUE_BACKEND. It is that of Azure if none is set: what doesn't need the
// queues doesn't load the setting.
func backendOf(name string) backend {
	switch name {
	case config.QueueNATS:
		return backend{
			open: (*Tenant).natsQueues, in: inNATS, grant: always(grantOfNATS), // it tells workers itself
		}
	case config.QueuePostgres:
		return backend{
			open: (*Tenant).postgresQueues, in: inDatabase, grant: always(grantOfPostgres), channel: queuepostgres.Channel,
			enqueue: true,
		}
	case config.QueuePGMQ:
		return backend{
			open: (*Tenant).pgmqQueues, in: inDatabase, grant: always(grantOfPGMQ), channel: postgres.TasksChannel, told: true,
		}
	case config.QueueAzure, "":
		return backend{
			open: (*Tenant).azureQueues, in: inStorageAccount, grant: grantOfAzure, channel: postgres.TasksChannel, told: true,
			billed: true, signed: true,
		}
	}
	panic("no backend for QUEUE_BACKEND=" + name) // its values are checked when it is loaded
}

func (t *Tenant) backend() backend { return backendOf(t.Config.QueueBackend) }

// QueuesAddress returns where the queues are, without a login.
func (t *Tenant) QueuesAddress() string {
	switch t.backend().in {
	case inNATS:
		return queuenats.Login{URL: t.Config.NATS.URL.Reveal()}.Hosts()
	case inDatabase:
		return t.DatabaseAddress()
	}
	return t.storageHost(azure.Queue)
}

// NextQueues says what to do when the queues fail with err; empty: the error says it.
func (t *Tenant) NextQueues(err error) string {
	if errors.Is(err, queue.ErrSetting) {
		return ""
	}
	switch t.backend().in {
	case inNATS:
		return "is the NATS server up at " + t.QueuesAddress() + "? check NATS_URL"
	case inDatabase:
		return t.NextDatabaseAfter(err)
	}
	return t.nextStorage()
}

// tellsWorkers reports whether workers are told of new tasks by the store, through the database.
func (t *Tenant) tellsWorkers() bool { return t.backend().told && t.Config.DatabaseURL.IsSet() }
