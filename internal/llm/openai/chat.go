package openai

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	api "github.com/sashabaranov/go-openai"

	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/llm/token"
	"github.com/seed-7227ef26/async-worker/internal/pattern"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// Chat sends questions to a model of an OpenAI-compatible service. It is safe for concurrent use.
type Chat struct {
	service
	counter llm.Counter

	dependency taskerr.Dependency // to which failures are attributed

	mu    sync.Mutex
	known dialect // what was learnt about the service
}

var _ llm.Chat = (*Chat)(nil)

// NewChat checks the configuration, without network. Of Config it uses Model (required), the service, its limits and
// RequestTimeout, which for a streamed answer is between two pieces. Its errors name the settings to fix.
func NewChat(c Config) (*Chat, error) {
	if c.Model == "" {
		return nil, errors.New("no model is set")
	}
	if c.Concurrency == 0 {
		c.Concurrency = DefaultConcurrency
	}
	if c.RequestTimeout == 0 {
		c.RequestTimeout = DefaultRequestTimeout
	}
	client, names, err := c.service()
	if err != nil {
		return nil, err
	}
	names = c.Names.over(names)
	names.what, names.gives, names.parameters = "the model service", "a chat completion", names.model
	if c.Limiter == nil {
		c.Limiter = NewLimiter(c.Concurrency)
	}
	if c.Counter == nil {
		c.Counter = token.For(c.Model)
	}
	client.HTTPClient = recorder{c.httpClient(names.url)}
	return &Chat{counter: c.Counter, dependency: cmp.Or(c.Dependency, taskerr.Chat), service: service{
		client: api.NewClientWithConfig(client), model: c.Model, timeout: c.RequestTimeout, limiter: c.Limiter,
		urgency: c.Urgency, names: names,
	}}, nil
}

// Model implements llm.Chat.
func (c *Chat) Model() string { return c.model }

// Ask implements llm.Chat. The classes of its errors are those of Embedder.Embed; validation_error: the service
// rejected the request. With an *llm.TooLong as cause it was too long for the model.
func (c *Chat) Ask(ctx context.Context, q llm.Question) (llm.Answer, error) {
	a := asking{Chat: c, urgency: c.urgency, q: q, dialect: c.dialect()}
	f := c.persist(ctx, func() (time.Duration, *failure) { return a.try(ctx) })
	switch {
	case f == nil:
		return a.answer, nil
	case f.filtered:
		return llm.Answer{End: llm.Filtered}, nil
	case ctx.Err() != nil:
		return llm.Answer{}, fmt.Errorf("ask a model: %w", context.Cause(ctx))
	}
	return llm.Answer{}, taskerr.Blame(c.dependency, f.err)
}

// asking is the state of one question.
type asking struct {
	*Chat
	urgency Urgency
	q       llm.Question
	dialect dialect // of the next request
	emitted bool    // q.Stream has received pieces of an answer
	answer  llm.Answer
}

func (a *asking) try(ctx context.Context) (time.Duration, *failure) {
	stream := a.q.Stream != nil && !a.dialect.noStream
	return a.once(ctx, a.urgency, guess(a.q), stream, func(ctx context.Context) error {
		a.restart()
		request := a.request(a.q, a.dialect)
		ask := a.whole
		if stream {
			ask = a.streamed
		}
		answer, err := ask(ctx, request)
		if r := refusalOf(err); r != nil && cutOffWords.MatchString(r.Message) {
			answer, err = a.cutOff(), nil
		}
		if err != nil {
			return a.adapt(ctx, err)
		}
		if a.dialect.promptsSchema() && a.q.Schema != nil {
			answer.Text = unfenced(answer.Text)
		}
		a.answer = answer
		return nil
	})
}

// whole requests an answer in one piece.
func (a *asking) whole(ctx context.Context, request api.ChatCompletionRequest) (llm.Answer, error) {
	response, err := a.client.CreateChatCompletion(ctx, request)
	if err != nil {
		return llm.Answer{}, err
	}
	return a.onePiece(response)
}

// onePiece reads an answer in one piece.
func (a *asking) onePiece(response api.ChatCompletionResponse) (llm.Answer, error) {
	if len(response.Choices) == 0 {
		return llm.Answer{}, a.nonsense("no answer")
	}
	choice := response.Choices[0]
	if choice.FinishReason == finishError {
		return llm.Answer{}, a.brokeOff(nil)
	}
	answer := answerOf(choice.Message.Content, choice.Message.Refusal, choice.Message.ToolCalls, choice.FinishReason)
	a.bill(&answer, &response.Usage)
	a.emit(answer.Text)
	for _, call := range answer.Calls {
		a.emitCall(call.Name, call.Arguments)
	}
	return answer, nil
}

// cutOffWords are how OpenAI reports, with status 400, that a reasoning model used all tokens before it began to answer.
var cutOffWords = pattern.New(`model output limit was reached`)

// cutOff is the answer of which nothing was written.
func (a *asking) cutOff() llm.Answer {
	a.restart()
	return llm.Answer{End: llm.CutOff, PromptTokens: count(a.q, a.counter), CompletionTokens: a.q.MaxTokens}
}

// restart voids the pieces that q.Stream has received.
func (a *asking) restart() {
	if a.emitted {
		a.q.Stream("", true)
		a.emitted = false
	}
}

// emit passes a piece of the answer to q.Stream.
func (a *asking) emit(piece string) {
	if a.q.Stream != nil && piece != "" {
		a.q.Stream(piece, false)
		a.emitted = true
	}
}

// emitCall passes a piece of the arguments of a call to q.StreamCall.
func (a *asking) emitCall(tool, piece string) {
	if a.q.Stream != nil && a.q.StreamCall != nil && piece != "" {
		a.q.StreamCall(tool, piece)
		a.emitted = true
	}
}

// bill records the tokens of an answer, estimated if the service doesn't report them.
func (a *asking) bill(answer *llm.Answer, usage *api.Usage) {
	if usage != nil && usage.PromptTokens > 0 && plausible(usage.PromptTokens) && plausible(usage.CompletionTokens) {
		answer.PromptTokens, answer.CompletionTokens = usage.PromptTokens, usage.CompletionTokens
		return
	}
	answer.PromptTokens = count(a.q, a.counter)
	answer.CompletionTokens = a.counter.Count(answer.Text)
	for _, call := range answer.Calls {
		answer.CompletionTokens += a.counter.Count(call.Name) + a.counter.Count(call.Arguments)
	}
}

// plausible reports whether a number of tokens can be that of a request. Some services say -1 where they don't count; a sum
// with it would not grow, and a counter of metrics panics.
func plausible(tokens int) bool { return tokens >= 0 && tokens < 1<<30 }
