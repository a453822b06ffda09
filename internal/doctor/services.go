package doctor

import (
	"context"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/seed-7227ef26/async-worker/internal/llm"
)

func models(ctx context.Context, w *Worker) []Result {
	results := make([]Result, 5)
	var wg sync.WaitGroup
	wg.Go(func() { results[0] = w.embedding(ctx) })
	wg.Go(func() { results[1] = w.chat(ctx, "chat model", w.Chat, "LLM_PROVIDER=offline uses none") })
	wg.Go(func() { results[2] = w.chat(ctx, "context model", w.Contexts, "CONTEXT_MODE is off") })
	wg.Go(func() { results[3] = w.pages(ctx) })
	wg.Go(func() { results[4] = w.rater(ctx) })
	wg.Wait()
	return results
}

const nextModel = "is the model's service reachable? check OPENAI_BASE_URL or AZURE_OPENAI_ENDPOINT and the key"

// nextSettings is about a model that can't be opened, which asks no service.
const nextSettings = "mend the settings of the model; async-worker check-config shows them"

func (w *Worker) embedding(ctx context.Context) Result {
	const check = "embedding model"
	e, err := w.Embedder(ctx)
	if err != nil {
		return Result{Check: check, State: Fail, Class: Config, Seen: err.Error(), Remedy: nextSettings}
	}
	var made llm.Embeddings
	if err := w.within(ctx, func(ctx context.Context) (err error) {
		made, err = e.Embed(ctx, []string{"doctor"})
		return err
	}); err != nil {
		return failed(check, err, nextModel)
	}
	return ok(check, "%s gives vectors of %d dimensions; %d tokens were used", e.Model(), len(made.Vectors[0]),
		made.Tokens)
}

// chat asks the model that open opens; nil: there is none, for the reason none.
func (w *Worker) chat(ctx context.Context, check string, open func(context.Context) (llm.Chat, error), none string) Result {
	if open == nil {
		return Result{Check: check, State: Skipped, Seen: none}
	}
	c, err := open(ctx)
	if err != nil {
		return Result{Check: check, State: Fail, Class: Config, Seen: err.Error(), Remedy: nextSettings}
	}
	var answer llm.Answer
	if err := w.within(ctx, func(ctx context.Context) (err error) {
		answer, err = c.Ask(ctx, llm.Question{Text: "Say: well", MaxTokens: 16})
		return err
	}); err != nil {
		return failed(check, err, nextModel)
	}
	return ok(check, "%s answers; %d tokens were used", c.Model(), answer.PromptTokens+answer.CompletionTokens)
}

// pages probes the model that reads pages.
func (w *Worker) pages(ctx context.Context) Result {
	const check = "OCR model"
	if w.Pages == nil {
		return Result{Check: check, State: Skipped, Seen: w.NoPages}
	}
	if err := w.within(ctx, w.Pages); err != nil {
		return failed(check, err, "check OCR_MODEL, and OCR_BASE_URL and OCR_API_KEY if the model has a service of its own; until "+
			"it answers, documents with scans wait")
	}
	return ok(check, "it answers")
}

func (w *Worker) rater(ctx context.Context) Result {
	const check = "re-ranker"
	if w.Rater == nil {
		return Result{Check: check, State: Skipped, Seen: "RERANK_URL is not set"}
	}
	if err := w.within(ctx, w.Rater); err != nil {
		return failed(check, err, "check RERANK_URL, RERANK_MODEL and RERANK_API_KEY; until it answers, searches are in the "+
			"order of words and vectors")
	}
	return ok(check, "it rates passages")
}

func privacyCheck(ctx context.Context, w *Worker) []Result {
	const check = "personal data"
	if err := w.within(ctx, w.Detector); err != nil {
		return []Result{failed(check, err, "is the Presidio analyzer running, PII_DETECTOR_URL its address, and is it set up for "+
			"PII_DETECTOR_LANGUAGES? until it answers, documents wait with PII_MODE=redact")}
	}
	var missing []string
	err := w.within(ctx, func(ctx context.Context) (err error) {
		missing, err = w.Undetected(ctx)
		return err
	})
	switch {
	case err != nil:
		return []Result{{
			Check: check, State: Warn, Seen: "the detector answers, but does not tell which kinds it finds: " + failed(check, err, "").Seen,
			Remedy: "is it set up for all of PII_DETECTOR_LANGUAGES? see that it finds all kinds of PII_KINDS",
		}}
	case len(missing) > 0:
		return []Result{{
			Check: check, State: Fail, Class: Config, Seen: "nothing finds " + strings.Join(missing, ", ") + ", of PII_KINDS: such " +
				"personal data stay in the text", Remedy: "correct PII_KINDS, or add a recognizer to the analyzer",
		}}
	}
	return []Result{ok(check, "the detector answers")}
}

func doclingCheck(ctx context.Context, w *Worker) []Result {
	if err := w.within(ctx, w.Docling); err != nil {
		return []Result{failed("docling", err, "is docling-serve running, and DOCLING_URL its address?")}
	}
	return []Result{ok("docling", "it is ready, and accepts the key")}
}

func gatewayCheck(ctx context.Context, w *Worker) []Result {
	if err := w.within(ctx, w.Gateway); err != nil {
		return []Result{failed("gateway", err, "is the gateway running, GATEWAY_URL its address, and GATEWAY_HEALTH_PATH what "+
			"tells that it is up? until it answers, xml tasks wait")}
	}
	return []Result{ok("gateway", "it is up")}
}

func eventsCheck(ctx context.Context, w *Worker) []Result {
	if err := w.within(ctx, w.Sink); err != nil {
		return []Result{failed("events", err, "check EVENTS_URL and EVENTS_KEY; until it answers, events wait in the "+
			"database for EVENTS_KEEP_DAYS")}
	}
	return []Result{ok("events", "the sink of lifecycle events answers")}
}

// webhooks probes the receivers in parallel.
func webhooks(ctx context.Context, w *Worker) []Result {
	const check = "webhooks"
	urls := w.Receivers
	if len(urls) == 0 {
		e, err := w.examination(ctx)
		if err != nil {
			return []Result{{Check: check, State: Skipped, Seen: "the database does not tell the jobs' receivers: " +
				failed(check, err, "").Seen}}
		}
		if len(e.WebhookHosts) == 0 {
			return []Result{{Check: check, State: Skipped, Seen: "no job has a webhook yet; set --webhook-url"}}
		}
		urls = e.WebhookHosts
	}
	addrs, errs := make([]netip.AddrPort, len(urls)), make([]error, len(urls))
	var wg sync.WaitGroup
	for i, to := range urls {
		wg.Go(func() {
			errs[i] = w.within(ctx, func(ctx context.Context) (err error) {
				addrs[i], err = w.Receiver(ctx, to)
				return err
			})
		})
	}
	wg.Wait()
	var fine, bad []string
	for i, to := range urls {
		if errs[i] != nil {
			bad = append(bad, hostOf(to)+": "+errs[i].Error())
		} else {
			fine = append(fine, fmt.Sprintf("%s (%s)", hostOf(to), addrs[i].Addr()))
		}
	}
	if len(bad) == 0 {
		return []Result{ok(check, "%s", strings.Join(fine, ", "))}
	}
	r := Result{
		Check: check, State: Fail, Class: Unavailable, Seen: strings.Join(bad, "; "),
		Remedy: "does the name resolve here (getent hosts NAME), and does a firewall let connections out?",
	}
	if slices.ContainsFunc(errs, w.Refused) {
		r = Result{
			Check: check, State: Fail, Class: Config, Seen: strings.Join(bad, "; "),
			Remedy: "allow the receiver's network in WEBHOOK_ALLOW_CIDRS if it is yours, or give another webhook_url",
		}
	}
	if len(w.Receivers) == 0 { // a receiver of past jobs may be down
		r.State, r.Class = Warn, None
	}
	return []Result{r}
}

// hostOf removes path and query, which may hold a token.
func hostOf(rawURL string) string {
	u, err := url.Parse(rawURL)
	if err != nil || u.Host == "" {
		return "the given URL"
	}
	return u.Host
}
