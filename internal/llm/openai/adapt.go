package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	api "github.com/sashabaranov/go-openai"

	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/pattern"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// dialect is what a service or model does not support of OpenAI's protocol. The zero value supports everything.
type dialect struct {
	completionTokens bool // the model knows max_completion_tokens only, as OpenAI's reasoning models
	mostTokens       int  // the largest max_tokens; zero: unknown
	noTemperature    bool
	noReasoning      bool // the model accepts tools only without reasoning
	noStream         bool
	noUsage          bool // no stream_options
	noStrict         bool
	force            force
	schema           schemaAs
}

// force is how a tool is forced.
type force int

const (
	forceByName force = iota
	forceByRequired
	forceByOffer // only this tool is offered, and the prompt asks for it
)

// schemaAs is how a schema is sent.
type schemaAs int

const (
	schemaEnforced schemaAs = iota
	schemaAsObject          // JSON is enforced, the schema is in the prompt
	schemaInPrompt
)

func (d dialect) promptsSchema() bool { return d.schema != schemaEnforced }

// dialect returns what is known about the service.
func (c *Chat) dialect() dialect {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.known
}

// adapt detects what the service does not support, so that the next request omits it. The library knows some models by
// name; other services report it in the error's parameter or text.
func (a *asking) adapt(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	switch {
	case errors.Is(err, api.ErrReasoningModelMaxTokensDeprecated):
		return a.without("max_tokens", forGood, func(d *dialect) { d.completionTokens = true })
	case errors.Is(err, api.ErrReasoningModelLimitationsOther), errors.Is(err, api.ErrReasoningSamplingUnsupported):
		return a.without("temperature", forGood, func(d *dialect) { d.noTemperature = true })
	case errors.Is(err, api.ErrReasoningToolsRequireResponses) && !a.dialect.noReasoning:
		return a.without("tools while it reasons", forGood, func(d *dialect) { d.noReasoning = true })
	case errors.Is(err, api.ErrReasoningEffortUnsupported), errors.Is(err, api.ErrReasoningToolsRequireResponses):
		return &failure{
			err: taskerr.Errorf(taskerr.DependencyUnavailable,
				"the model %q does not support tools in chat completions; check %s", a.model, a.names.parameters),
		}
	}
	r := refusalOf(err)
	if r == nil {
		return err
	}
	if long := a.tooLong(r); long != nil {
		return long
	}
	if r.HTTPStatusCode != http.StatusBadRequest && r.HTTPStatusCode != http.StatusUnprocessableEntity ||
		r.Code == "content_filter" {
		return err
	}
	if f := a.adaptSchema(r); f != nil {
		return f
	}
	if f := a.adaptParameter(r); f != nil {
		return f
	}
	return r
}

// adaptSchema: a schema that can't be enforced (the supported subset is small) is put into the prompt, for this
// question only.
func (a *asking) adaptSchema(r *api.APIError) error {
	invalid := r.Code == "invalid_function_parameters" || r.Code == "invalid_json_schema" ||
		strings.Contains(r.Message, "Invalid schema")
	switch {
	case !invalid:
		return nil
	case !a.dialect.noStrict && a.strict():
		return a.without("a strict schema", forThis, func(d *dialect) { d.noStrict = true })
	case a.q.Schema != nil && a.dialect.schema < schemaInPrompt:
		next := a.dialect.schema + 1
		return a.without("this schema", forThis, func(d *dialect) { d.schema = next })
	}
	return nil
}

func (a *asking) strict() bool {
	for _, t := range a.q.Tools {
		if t.Strict {
			return true
		}
	}
	return a.q.Schema != nil && a.q.Schema.Strict && !a.dialect.promptsSchema()
}

// atMost finds the limit in "max_tokens is too large: 9000. This model supports at most 4096 completion tokens".
var atMost = pattern.New(`at most (\d{1,9})`)

// mostOf is the limit that an error names, if it is one below what was sent; zero: none, or the same request would follow.
func mostOf(r *api.APIError, sent int) int {
	limit := atMost.FindStringSubmatch(r.Message)
	if limit == nil {
		return 0
	}
	if most, _ := strconv.Atoi(limit[1]); most < sent { // digits only
		return most
	}
	return 0
}

func (a *asking) adaptParameter(r *api.APIError) error {
	d := a.dialect
	most := mostOf(r, a.q.MaxTokens)
	switch {
	case about(r, "max_tokens") && !d.completionTokens && (r.Code == "unsupported_parameter" ||
		strings.Contains(r.Message, "max_completion_tokens")):
		return a.without("max_tokens", forGood, func(d *dialect) { d.completionTokens = true })
	case (about(r, "max_tokens") || about(r, "max_completion_tokens")) && most > 0 && d.mostTokens == 0:
		return a.without("a larger max_tokens", forGood, func(d *dialect) { d.mostTokens = most })
	case about(r, "temperature") && !d.noTemperature:
		return a.without("temperature", forGood, func(d *dialect) { d.noTemperature = true })
	case about(r, "stream_options") && !d.noUsage && a.q.Stream != nil:
		return a.without("stream_options", forGood, func(d *dialect) { d.noUsage = true })
	case (about(r, "response_format") || about(r, "json_schema")) && a.q.Schema != nil && d.schema < schemaInPrompt:
		next := d.schema + 1
		return a.without("response_format", forGood, func(d *dialect) { d.schema = max(d.schema, next) })
	case about(r, "tool_choice") && a.q.Force != "" && d.force < forceByOffer:
		next := d.force + 1
		return a.without("tool_choice", forGood, func(d *dialect) { d.force = max(d.force, next) })
	case about(r, "strict") && !d.noStrict && a.strict():
		return a.without("strict", forGood, func(d *dialect) { d.noStrict = true })
	case about(r, "stream") && !d.noStream && a.q.Stream != nil:
		return a.without("stream", forGood, func(d *dialect) { d.noStream = true })
	case about(r, "tools") && len(a.q.Tools) > 0:
		return &failure{err: taskerr.Errorf(taskerr.DependencyUnavailable, "the model %q does not support tools; check %s (%s)",
			a.model, a.names.parameters, describe(r.HTTPStatusCode, r))}
	}
	return nil
}

// about reports whether an error is about a parameter: by its name, also at the end of a path such as
// tools[0].function.strict, or, without one, by its text.
func about(r *api.APIError, param string) bool {
	if r.Param != nil && *r.Param != "" {
		return *r.Param == param || strings.HasPrefix(*r.Param, param+".") || strings.HasSuffix(*r.Param, "."+param)
	}
	for rest := r.Message; ; {
		i := strings.Index(rest, param)
		if i < 0 {
			return false
		}
		end := i + len(param)
		if (i == 0 || !wordByte(rest[i-1])) && (end == len(rest) || !wordByte(rest[end])) {
			return true
		}
		rest = rest[end:]
	}
}

func wordByte(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

// lasting is how long something is omitted.
type lasting bool

const (
	forGood lasting = true
	forThis lasting = false // for this question
)

func (a *asking) without(what string, l lasting, change func(*dialect)) *failure {
	change(&a.dialect)
	if l == forGood {
		a.mu.Lock()
		change(&a.known)
		a.mu.Unlock()
	}
	return &failure{
		adapted: true, passing: true,
		err: taskerr.Errorf(taskerr.DependencyUnavailable, "the model %q does not support %s; check %s", a.model, what,
			a.names.parameters),
	}
}

// refusalOf returns the service's error in a rejection; nil: none. Some services (vLLM) have the error's fields at the
// top level, not under "error".
func refusalOf(err error) *api.APIError {
	if r, ok := errors.AsType[*api.APIError](err); ok {
		return r
	}
	raw, ok := errors.AsType[*api.RequestError](err)
	if !ok {
		return nil
	}
	r := new(api.APIError)
	if json.Unmarshal(raw.Body, r) != nil || r.Message == "" {
		*r = api.APIError{Message: string(raw.Body)}
	}
	r.HTTPStatusCode = raw.HTTPStatusCode
	return r
}

// How services report that a question is too long, and the limit: OpenAI, Azure and vLLM; llama.cpp; a request that
// exceeds the tokens of a whole minute, which no wait helps.
var (
	longWords = pattern.New(`(?i)maximum context length|exceeds? the (available )?context (size|window|length)|context length exceeded|prompt is too long|request too large for`)
	window    = pattern.New(`(?i)(?:maximum context length (?:is|of)|context size (?:\(|of )|\): Limit) ?(\d{1,9})`)
)

// tooLong returns the failure of a question that is too long, or nil.
func (a *asking) tooLong(r *api.APIError) *failure {
	switch r.HTTPStatusCode {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity,
		http.StatusTooManyRequests, http.StatusInternalServerError:
	default:
		return nil
	}
	if r.Code != "context_length_exceeded" && r.HTTPStatusCode != http.StatusRequestEntityTooLarge &&
		!longWords.MatchString(r.Message) {
		return nil
	}
	long := new(llm.TooLong)
	message := "the question is longer than the model accepts"
	if m := window.FindStringSubmatch(r.Message); m != nil {
		long.Window, _ = strconv.Atoi(m[1]) // digits only
		message += fmt.Sprintf(" (%d tokens)", long.Window)
	}
	return &failure{err: &taskerr.Error{
		Class: taskerr.ValidationError, Message: fmt.Sprintf("%s (%s)", message, describe(r.HTTPStatusCode, r)),
		Cause: long,
	}}
}
