package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2/queueerror"

	"github.com/seed-7227ef26/async-worker/internal/task"
)

// azureBed is Azurite, which keeps the documents too: what happens to it happens to both.
type azureBed struct{ *servers }

func (b azureBed) open(ctx context.Context, client string) (tenantQueues, error) {
	t := azureTenant{}
	names := task.QueueNames(client)
	for _, name := range []string{names.High, names.Normal, names.Low, names.DeadLetter} {
		q, err := azqueue.NewQueueClientFromConnectionString(b.azurite.ConnectionString, name, nil)
		if err == nil {
			_, err = q.Create(ctx, nil)
		}
		if err != nil {
			return nil, fmt.Errorf("create the queue %s: %w", name, err)
		}
		switch name {
		case names.DeadLetter:
			t.dead = q
		default:
			t.tasks = append(t.tasks, q)
		}
		if name == names.Normal {
			t.normal = q
		}
	}
	return t, nil
}

func (azureBed) name() string { return azureQueue }

func (azureBed) crashes() []crashes { return nil }

func (azureBed) address(*addresses) {} // that of the documents' server

func (azureBed) settings(string, addresses) []string { return nil } // the default

func (azureBed) intercept(at *addresses, s *faultPlan) (queueProxy, error) {
	return interceptStorage(at, "Queue", s)
}

// interceptStorage puts a proxy before one of Azurite's services.
func interceptStorage(at *addresses, service string, s *faultPlan) (*httpProxy, error) {
	_, rest, _ := strings.Cut(at.azure, service+"Endpoint=")
	endpoint, _, _ := strings.Cut(rest, "/devstoreaccount1")
	p, err := newHTTPProxy(endpoint, s, classifyStorage)
	if err != nil {
		return nil, err
	}
	at.azure = strings.Replace(at.azure, endpoint, p.server.URL, 1)
	return p, nil
}

// classifyStorage names requests to the queue of normal priority, and to blobs.
func classifyStorage(r *http.Request, _ []byte) string {
	inQueue := strings.Contains(r.URL.Path, "-tasks/messages")
	switch {
	case inQueue && r.Method == http.MethodGet && !r.URL.Query().Has("peekonly"):
		return "dequeue"
	case inQueue && r.Method == http.MethodPut:
		return "renew"
	case inQueue && r.Method == http.MethodDelete:
		return "delete"
	case strings.Contains(r.URL.Path, "-deadletter/messages") && r.Method == http.MethodPost:
		return "send"
	case strings.Contains(r.URL.Path, "-documents/"):
		return "blob"
	}
	return ""
}

type azureTenant struct {
	tasks        []*azqueue.QueueClient
	normal, dead *azqueue.QueueClient
}

func (t azureTenant) send(ctx context.Context, text string) error {
	_, err := t.normal.EnqueueMessage(ctx, text, nil)
	return err
}

func (t azureTenant) depth(ctx context.Context) (n int, err error) {
	for _, q := range t.tasks {
		p, err := q.GetProperties(ctx, nil)
		if err != nil {
			return 0, err
		}
		n += int(*p.ApproximateMessagesCount)
	}
	return n, nil
}

func (t azureTenant) hold(ctx context.Context) (stale func(context.Context) error, err error) {
	answer, err := t.normal.DequeueMessage(ctx, &azqueue.DequeueMessageOptions{
		VisibilityTimeout: new(int32(holdFor.Seconds())),
	})
	if err != nil {
		return nil, err
	}
	if len(answer.Messages) == 0 {
		return nil, errNoMessage
	}
	m := answer.Messages[0]
	return func(ctx context.Context) error {
		_, err := t.normal.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil)
		if queueerror.HasCode(err, queueerror.PopReceiptMismatch, queueerror.MessageNotFound) {
			return nil // refused
		}
		return err
	}, nil
}

func (t azureTenant) letters(ctx context.Context) (texts []string, err error) {
	for {
		answer, err := t.dead.DequeueMessages(ctx, &azqueue.DequeueMessagesOptions{
			NumberOfMessages: new(int32(32)), VisibilityTimeout: new(int32(600)),
		})
		if err != nil || len(answer.Messages) == 0 {
			return texts, err
		}
		for _, m := range answer.Messages {
			texts = append(texts, *m.MessageText)
		}
	}
}
