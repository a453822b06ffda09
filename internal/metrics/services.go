package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/webhook"
)

// services counts requests to services.
type services struct {
	requests, webhooks, tokens, chatTokens, chunks, gateway *prometheus.CounterVec
	webhookTime, gatewayTime                                *prometheus.HistogramVec
}

// webhookRetry is the result of an attempt that another one follows.
const webhookRetry = "retry"

func newServices() *services {
	s := &services{
		requests: requests.counter(), webhooks: webhooks.counter(), tokens: tokens.counter(),
		chatTokens: chatTokens.counter(), chunks: chunks.counter(),
		webhookTime: webhookTime.histogram(), gateway: gatewayCalls.counter(), gatewayTime: gatewayTime.histogram(),
	}
	for _, result := range []string{"ok", "canceled", "GW_4XX", "GW_5XX", "GW_TIMEOUT", "IO_ERROR"} {
		s.gateway.WithLabelValues(result)
	}
	s.tokens.WithLabelValues() // a rate needs an initial value
	s.gatewayTime.WithLabelValues()
	for _, kind := range []string{"prompt", "completion"} {
		s.chatTokens.WithLabelValues(kind)
	}
	for _, result := range []string{store.DeliveryDelivered, store.DeliveryFailed, store.DeliveryRefused, webhookRetry} {
		s.webhooks.WithLabelValues(result)
	}
	for _, result := range []string{"embedded", "reused"} {
		s.chunks.WithLabelValues(result)
	}
	return s
}

func (s *services) all() []prometheus.Collector {
	return []prometheus.Collector{s.requests, s.webhooks, s.tokens, s.chatTokens, s.chunks, s.webhookTime, s.gateway, s.gatewayTime}
}

// QueueRequest counts a request to the queue service; see queue/azure.Options.
func (s *services) QueueRequest(operation, result string) {
	s.requests.WithLabelValues(operation, result).Inc()
}

// Webhook counts an attempt at a delivery.
func (s *services) Webhook(o webhook.Observation) {
	result := o.Status
	if result == store.DeliveryPending {
		result = webhookRetry
	}
	s.webhooks.WithLabelValues(result).Inc()
	if o.ResponseStatus != 0 {
		s.webhookTime.WithLabelValues().Observe(o.Latency.Seconds())
	}
}

// GatewayCall counts a call of the gateway.
func (s *services) GatewayCall(result string, took time.Duration) {
	s.gateway.WithLabelValues(result).Inc()
	s.gatewayTime.WithLabelValues().Observe(took.Seconds())
}

// Ingested counts the chunks of a document.
func (s *services) Ingested(embedded, reused int) {
	s.chunks.WithLabelValues("embedded").Add(float64(embedded))
	s.chunks.WithLabelValues("reused").Add(float64(reused))
}

// Embedder counts what an Embedder bills.
func (s *services) Embedder(e llm.Embedder) llm.Embedder { return embedder{e, s} }

type embedder struct {
	llm.Embedder
	services *services
}

// Embed implements llm.Embedder.
func (e embedder) Embed(ctx context.Context, inputs []string) (llm.Embeddings, error) {
	answer, err := e.Embedder.Embed(ctx, inputs)
	e.services.tokens.WithLabelValues().Add(float64(answer.Tokens))
	return answer, err
}

// Chat counts what a Chat bills.
func (s *services) Chat(c llm.Chat) llm.Chat { return chat{c, s} }

type chat struct {
	llm.Chat
	services *services
}

// Ask implements llm.Chat.
func (c chat) Ask(ctx context.Context, q llm.Question) (llm.Answer, error) {
	answer, err := c.Chat.Ask(ctx, q)
	c.services.chatTokens.WithLabelValues("prompt").Add(float64(answer.PromptTokens))
	c.services.chatTokens.WithLabelValues("completion").Add(float64(answer.CompletionTokens))
	return answer, err
}
