package openai

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"time"

	api "github.com/sashabaranov/go-openai"

	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/llm"
)

// imageTokens is about what a page's image costs, for the limiter; what it costs in fact the service says.
const imageTokens = 1500

// Chat asks a model of an OpenAI-compatible service. It is safe for concurrent use.
type Chat struct {
	service
	completionTokens atomic.Bool // the model knows max_completion_tokens only, as OpenAI's reasoning models
	noTemperature    atomic.Bool // the model takes no temperature
}

var _ llm.Chat = (*Chat)(nil)

// NewChat checks the configuration, without network. Of Config it takes Model (required), the service, its
// limits and RequestTimeout. Its errors name the settings to mend.
func NewChat(c Config) (*Chat, error) {
	if c.Model == "" {
		return nil, errors.New("no model was named")
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
	client.HTTPClient = recorder{c.httpClient()}
	return &Chat{service: service{
		client: api.NewClientWithConfig(client), model: c.Model, timeout: c.RequestTimeout, limiter: c.Limiter, names: names,
	}}, nil
}

// Model implements llm.Chat.
func (c *Chat) Model() string { return c.model }

// Ask implements llm.Chat. The classes of its errors are those of Embedder.Embed; validation_error: the service
// refuses what it was sent.
func (c *Chat) Ask(ctx context.Context, q llm.Question) (a llm.Answer, err error) {
	tokens := len(q.Text)/4 + imageTokens*len(q.Images) + q.MaxTokens/4
	f := c.persist(ctx, func() (time.Duration, *failure) {
		return c.once(ctx, tokens, func(ctx context.Context) error {
			response, err := c.client.CreateChatCompletion(ctx, c.request(q))
			if err != nil {
				return c.adapt(ctx, err)
			}
			if len(response.Choices) == 0 {
				return c.nonsense("no answer")
			}
			a = read(response)
			return nil
		})
	})
	switch {
	case f == nil:
		return a, nil
	case f.filtered:
		return llm.Answer{End: llm.Filtered}, nil
	case ctx.Err() != nil:
		return a, fmt.Errorf("ask a model: %w", context.Cause(ctx))
	}
	return a, job.Blame(job.Model, f.err)
}

func (c *Chat) request(q llm.Question) api.ChatCompletionRequest {
	parts := []api.ChatMessagePart{{Type: api.ChatMessagePartTypeText, Text: q.Text}}
	for _, img := range q.Images {
		parts = append(parts, api.ChatMessagePart{Type: api.ChatMessagePartTypeImageURL, ImageURL: &api.ChatMessageImageURL{
			URL: "data:" + img.MediaType + ";base64," + base64.StdEncoding.EncodeToString(img.Data), Detail: api.ImageURLDetailHigh,
		}})
	}
	r := api.ChatCompletionRequest{
		Model: c.model, Messages: []api.ChatCompletionMessage{{Role: api.ChatMessageRoleUser, MultiContent: parts}},
	}
	if !c.noTemperature.Load() {
		// The library leaves out a zero, and the service would take 1.
		r.Temperature = max(float32(q.Temperature), math.SmallestNonzeroFloat32)
	}
	if c.completionTokens.Load() {
		r.MaxCompletionTokens = q.MaxTokens
	} else {
		r.MaxTokens = q.MaxTokens //nolint:staticcheck // servers other than OpenAI's know this one only
	}
	return r
}

// adapt notices what the model doesn't take, so that the next try leaves it out. The library knows some such
// models by name, of others the service tells.
func (c *Chat) adapt(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, api.ErrReasoningModelMaxTokensDeprecated):
		return c.without(&c.completionTokens, "max_tokens")
	case errors.Is(err, api.ErrReasoningModelLimitationsOther), errors.Is(err, api.ErrReasoningSamplingUnsupported):
		return c.without(&c.noTemperature, "temperature")
	}
	refusal, ok := errors.AsType[*api.APIError](err)
	if !ok || refusal.Param == nil || ctx.Err() != nil {
		return err
	}
	switch {
	case *refusal.Param == "max_tokens" && refusal.Code == "unsupported_parameter" && !c.completionTokens.Load():
		return c.without(&c.completionTokens, "max_tokens")
	case *refusal.Param == "temperature" && !c.noTemperature.Load():
		return c.without(&c.noTemperature, "temperature")
	}
	return err
}

func (c *Chat) without(flag *atomic.Bool, param string) error {
	flag.Store(true)
	return &failure{passing: true, err: job.Errorf(job.DependencyUnavailable, "the model %q takes no %s; check %s", c.model, param, c.names.parameters)}
}

// read takes the answer out of a response.
func read(r api.ChatCompletionResponse) llm.Answer {
	choice := r.Choices[0]
	a := llm.Answer{
		Text: choice.Message.Content, End: llm.Stopped,
		PromptTokens: r.Usage.PromptTokens, CompletionTokens: r.Usage.CompletionTokens,
	}
	switch {
	case choice.Message.Refusal != "":
		a.Text, a.End = strings.TrimSpace(choice.Message.Refusal), llm.Refused
	case choice.FinishReason == api.FinishReasonLength:
		a.End = llm.CutOff
	case choice.FinishReason == api.FinishReasonContentFilter:
		a.End = llm.Filtered
	}
	return a
}
