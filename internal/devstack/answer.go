package devstack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// answer is the part of the agent's result that the tour checks. Follow shows its text and citations.
type answer struct {
	Model         string `json:"model"`
	Steps         int    `json:"steps"`
	Prompt        int    `json:"prompt_tokens"`
	Completion    int    `json:"completion_tokens"`
	RetrievalOnly bool   `json:"retrieval_only"`
	Citations     []struct {
		Filename string `json:"filename"`
		Page     *int   `json:"page"`
		Quote    string `json:"quote"`
	} `json:"citations"`
}

// askAgent asks the agent the question about the samples, and checks its citations.
func (d *dev) askAgent(ctx context.Context, t *app.Tenant, stamp string) error {
	d.out.section("The same question for the agent, which reads the documents and cites them")
	payload, err := json.Marshal(map[string]any{"prompt": question, "document_set": documentSet})
	if err != nil {
		return err
	}
	id := "question-" + stamp
	if _, err := t.Enqueue(ctx, task.Task{
		ID: id, Type: task.Agent, Payload: payload, WebhookURL: d.receiver.URL, Priority: task.PriorityNormal,
		ClientID: clientID, RequestedBy: "dev",
	}); err != nil {
		return fmt.Errorf("send an agent task: %w", err)
	}
	if err := d.follow(ctx, t.Store, id); err != nil { // a model may take its time
		return fmt.Errorf("ask the agent (the worker's log is %s): %w", d.home.rel(d.home.logPath("worker")), err)
	}
	got, err := d.webhook(ctx, id)
	if err != nil {
		return err
	}
	var a answer
	if err := decodeResult(got, &a); err != nil || got.Type != "task.completed" {
		return fmt.Errorf("the webhook of the agent task is %s", got.Type)
	}
	if len(a.Citations) == 0 || a.Citations[0].Filename == "" || a.Citations[0].Quote == "" {
		return errors.New("the answer cites no documents")
	}
	how := fmt.Sprintf("by %s in %s, %d + %d tokens, %s checked", a.Model, count(a.Steps, "step"), a.Prompt,
		a.Completion, count(len(a.Citations), "citation"))
	if a.RetrievalOnly {
		how = fmt.Sprintf("by %s, without a model: %s of the documents", a.Model, count(len(a.Citations), "quotation"))
	}
	d.out.done("answer", how)
	return nil
}
