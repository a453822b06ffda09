package app

import (
	"context"

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
	address func(*Tenant) string         // where the queues are, without a login
	next    func(*Tenant, error) string  // what to do when they fail, and the error does not say it
	grant   func(config.Config) grant    // how to give a right on one
	channel func(clientID string) string // the notifications in the database that tell of new tasks; nil: none do
	told    bool                         // the store sends these; else the queues do
	billed  bool                         // each request costs money
	signed  bool                         // requests are signed with the time
}

// backendOf returns the backend of a value of QUEUE_BACKEND. It is that of Azure if none is set: what doesn't need the
// queues doesn't load the setting.
func backendOf(name string) backend {
	switch name {
	case config.QueueNATS:
		return backend{
			open: (*Tenant).natsQueues, address: (*Tenant).natsAddress, next: (*Tenant).nextNATS,
			grant: always(grantOfNATS), // it tells workers itself
		}
	case config.QueuePostgres:
		return backend{
			open: (*Tenant).postgresQueues, address: (*Tenant).DatabaseAddress, next: (*Tenant).NextDatabaseAfter,
			grant: always(grantOfPostgres), channel: queuepostgres.Channel,
		}
	case config.QueuePGMQ:
		return backend{
			open: (*Tenant).pgmqQueues, address: (*Tenant).DatabaseAddress, next: (*Tenant).NextDatabaseAfter,
			grant: always(grantOfPGMQ), channel: postgres.TasksChannel, told: true,
		}
	case config.QueueAzure, "":
		return backend{
			open: (*Tenant).azureQueues, address: (*Tenant).azureQueuesAddress, next: (*Tenant).nextStorageAfter,
			grant: grantOfAzure, channel: postgres.TasksChannel, told: true, billed: true, signed: true,
		}
	}
	panic("no backend for QUEUE_BACKEND=" + name) // its values are checked when it is loaded
}

func (t *Tenant) backend() backend { return backendOf(t.Config.QueueBackend) }

// QueuesAddress returns where the queues are, without a login.
func (t *Tenant) QueuesAddress() string { return t.backend().address(t) }

func (t *Tenant) natsAddress() string {
	return queuenats.Login{URL: t.Config.NATS.URL.Reveal()}.Hosts()
}

func (t *Tenant) azureQueuesAddress() string { return t.storageHost(azure.Queue) }

// tellsWorkers reports whether workers are told of new tasks by the store, through the database.
func (t *Tenant) tellsWorkers() bool { return t.backend().told && t.Config.DatabaseURL.IsSet() }
