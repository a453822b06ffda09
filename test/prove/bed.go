package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// The queues that the tasks come by, as QUEUE_BACKEND names them.
const (
	azureQueue    = "azure"
	postgresQueue = "postgres"
	natsQueue     = "nats"
)

// queueNames are all of them, in the order in which they are tried.
func queueNames() []string { return []string{azureQueue, postgresQueue, natsQueue} }

// queueBed is a queue's server, which a kind sees from outside. Each kind is written once against it. A queue is used
// here by its own client or by SQL, and not by the worker's package.
type queueBed interface {
	// name is the queue's.
	name() string
	// open makes the queues of a tenant.
	open(ctx context.Context, client string) (tenantQueues, error)
	// crashes are the failures of servers that the kill loop causes, beside those of the documents' server and the
	// database.
	crashes() []crashes
	// address is where workers reach the server; at says where they reach the others.
	address(at *addresses)
	// settings are those that make a worker use a tenant's queues.
	settings(client string, at addresses) []string
	// intercept puts a proxy before the server, changes its address in at, and has to be closed. It returns nil if the
	// proxy of another service does this.
	intercept(at *addresses, s *faultPlan) (queueProxy, error)
}

// crashes are those of one server over a period.
type crashes struct {
	what  string    // for the counts
	at    []float64 // parts of the period
	crash func(ctx context.Context) error
}

// queueProxy is a proxy before a queue's server.
type queueProxy interface {
	faultyService
	close()
}

// tenantQueues are the queues of one tenant.
type tenantQueues interface {
	// send puts a message on the normal queue, as it is.
	send(ctx context.Context, text string) error
	// depth is how many messages wait or are held on the queues of tasks.
	depth(ctx context.Context) (int, error)
	// hold receives a message as a worker does that stalls for longer than its lease of holdFor. stale acknowledges the
	// message then, as that worker's client would.
	hold(ctx context.Context) (stale func(context.Context) error, err error)
	// letters takes the texts that are on the dead-letter queue.
	letters(ctx context.Context) ([]string, error)
}

var errNoMessage = errors.New("the queue has no message")

const holdFor = 3 * time.Second

// newBeds starts the servers of queues.
func (g *servers) newBeds(ctx context.Context, queues []string) (beds []queueBed, err error) {
	for _, queue := range queues {
		bed, err := g.newBed(ctx, queue)
		if err != nil {
			return nil, err
		}
		beds = append(beds, bed)
	}
	return beds, nil
}

// newBed starts a queue's server, unless it is one that all beds need.
func (g *servers) newBed(ctx context.Context, queue string) (queueBed, error) {
	switch queue {
	case azureQueue:
		return azureBed{g}, nil
	case postgresQueue:
		return postgresBed{g}, nil
	case natsQueue:
		bed, err := newNATSBed(ctx, g.built, g.dir)
		if err == nil {
			g.closers = append(g.closers, bed.stop)
		}
		return bed, err
	}
	return nil, fmt.Errorf("there is no queue %q", queue) // the flag's check has let it through
}

// queueOf names the queue of a call, in the arguments of our functions.
var queueOf = regexp.MustCompile(`"queue":\s?"[a-z0-9-]*?(-tasks|-deadletter)"`)

// beginsIn is how many jobs a call of one of our functions begins: begins that come together share a call.
func beginsIn(function string, call []byte) int {
	if function != "begin" && function != "begin_all" {
		return 0
	}
	return bytes.Count(call, []byte(`"begin_id":`))
}

// callClass is the class of a call of one of our functions, by its name and arguments: its name, but for the functions
// of the queues, whose calls have the classes of other queues.
func callClass(function string, call []byte) string {
	operation, ok := strings.CutPrefix(function, "queue_")
	if !ok {
		return function
	}
	queue := ""
	if found := queueOf.FindSubmatch(call); found != nil {
		queue = string(found[1])
	}
	switch {
	case queue == "-deadletter" && operation == "send":
		return "send"
	case queue != "-tasks":
	case operation == "receive":
		return "dequeue"
	case operation == "extend" || operation == "release":
		return "renew"
	case operation == "delete" || operation == "delete_all":
		return operation
	}
	return ""
}
