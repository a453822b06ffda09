package api

import (
	"context"
	"net/http"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/apitoken"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// Summary is a summary of a document.
type Summary struct {
	ID          string          `json:"id"`
	JobID       string          `json:"jobId"`
	Filename    string          `json:"filename"`
	Summary     string          `json:"summary"`
	KeyPoints   Parts[KeyPoint] `json:"keyPoints"`
	Style       string          `json:"style,omitempty"`
	Language    string          `json:"language,omitempty"`
	Model       string          `json:"model"`
	Unverified  Parts[Claim]    `json:"unverified" doc:"What of the summary is not in the text that it cites."`
	LeftOut     Parts[LeftOut]  `json:"leftOut" doc:"What of the document is not in the summary."`
	RequestedBy string          `json:"requestedBy,omitempty"`
	CreatedAt   time.Time       `json:"createdAt"`
}

// AgentRun is an answer of the agent.
type AgentRun struct {
	ID               string          `json:"id"`
	JobID            string          `json:"jobId"`
	Type             string          `json:"type,omitempty"`
	DocumentSet      string          `json:"documentSet,omitempty"`
	Prompt           string          `json:"prompt"`
	Answer           string          `json:"answer"`
	Citations        Parts[Citation] `json:"citations"`
	Steps            Parts[Step]     `json:"steps"`
	Model            string          `json:"model"`
	PromptTokens     int64           `json:"promptTokens"`
	CompletionTokens int64           `json:"completionTokens"`
	RequestedBy      string          `json:"requestedBy,omitempty"`
	CreatedAt        time.Time       `json:"createdAt"`
}

// DerivedContent is a document derived from a document, a blob of the tenant's container.
type DerivedContent struct {
	ID             string    `json:"id"`
	JobID          string    `json:"jobId"`
	SourceFilename string    `json:"sourceFilename"`
	Blob           string    `json:"blob"`
	Version        int       `json:"version"`
	Format         string    `json:"format"`
	Engine         string    `json:"engine"`
	PageCount      int       `json:"pageCount"`
	MeanConfidence *float64  `json:"meanConfidence,omitempty"`
	UnreadPages    []int     `json:"unreadPages" nullable:"false"`
	CreatedAt      time.Time `json:"createdAt"`
}

// Deck is a presentation that a document was converted to: blobs of the tenant's container.
type Deck struct {
	ID             string    `json:"id"`
	JobID          string    `json:"jobId"`
	SourceFilename string    `json:"sourceFilename"`
	Title          string    `json:"title"`
	Slides         int       `json:"slides"`
	Blob           string    `json:"blob" doc:"With the deck's JSON: docs/schemas/deck.schema.json."`
	PreviewBlob    string    `json:"previewBlob,omitempty" doc:"With a picture of all slides."`
	CreatedAt      time.Time `json:"createdAt"`
}

// LLMCheck is how a model held an answer of the gateway against the document.
type LLMCheck struct {
	ID         string         `json:"id"`
	JobID      string         `json:"jobId"`
	Confidence float64        `json:"confidence" doc:"0 to 1."`
	Verdict    string         `json:"verdict" doc:"agrees, differs or unsure."`
	Findings   Parts[Finding] `json:"findings" doc:"What the document does not bear out."`
	Model      string         `json:"model"`
	CreatedAt  time.Time      `json:"createdAt"`
}

type resultInput struct {
	ID string `path:"id" format:"uuid"`
}

func (a *API) registerResults() {
	get := func(path, id, summary string) call {
		return call{method: http.MethodGet, path: path, id: id, tag: "results", scope: apitoken.Read, summary: summary}
	}
	register(a, get("/v1/summaries/{id}", "get-summary", "Get a summary"),
		func(ctx context.Context, in *resultInput) (*bodyOf[Summary], error) {
			s, err := a.reader(ctx).SummaryRow(ctx, in.ID)
			return body(summaryOf(s)), err
		})
	register(a, get("/v1/agent-runs/{id}", "get-agent-run", "Get an answer of the agent with its citations"),
		func(ctx context.Context, in *resultInput) (*bodyOf[AgentRun], error) {
			r, err := a.reader(ctx).AgentRunRow(ctx, in.ID)
			return body(runOf(r)), err
		})
	register(a, get("/v1/derived-contents/{id}", "get-derived-content", "Get what was derived from a document"),
		func(ctx context.Context, in *resultInput) (*bodyOf[DerivedContent], error) {
			d, err := a.reader(ctx).DerivedContentRow(ctx, in.ID)
			return body(derivedOf(d)), err
		})
	register(a, get("/v1/decks/{id}", "get-deck", "Get a deck: where its JSON and its preview are"),
		func(ctx context.Context, in *resultInput) (*bodyOf[Deck], error) {
			d, err := a.reader(ctx).DeckRow(ctx, in.ID)
			return body(deckOf(d)), err
		})
	register(a, get("/v1/llm-checks/{id}", "get-llm-check", "Get how a model checked an answer of the gateway"),
		func(ctx context.Context, in *resultInput) (*bodyOf[LLMCheck], error) {
			c, err := a.reader(ctx).LLMCheckRow(ctx, in.ID)
			return body(checkOf(c)), err
		})
}

func summaryOf(s store.SummaryRow) Summary {
	return Summary{
		ID: s.ID, JobID: s.JobID, Filename: s.Filename, Summary: s.Summary, KeyPoints: Parts[KeyPoint](s.KeyPoints), Style: s.Style,
		Language: s.Language, Model: s.Model, Unverified: Parts[Claim](s.Unverified), LeftOut: Parts[LeftOut](s.LeftOut),
		RequestedBy: s.RequestedBy, CreatedAt: s.CreatedAt.UTC(),
	}
}

func runOf(r store.AgentRunRow) AgentRun {
	return AgentRun{
		ID: r.ID, JobID: r.JobID, Type: r.TaskType, DocumentSet: r.DocumentSet, Prompt: r.Prompt, Answer: r.Answer,
		Citations: Parts[Citation](r.Citations), Steps: Parts[Step](r.Steps), Model: r.Model, PromptTokens: r.PromptTokens,
		CompletionTokens: r.CompletionTokens, RequestedBy: r.RequestedBy, CreatedAt: r.CreatedAt.UTC(),
	}
}

func deckOf(d store.DeckRow) Deck {
	return Deck{
		ID: d.ID, JobID: d.JobID, SourceFilename: d.SourceFilename, Title: d.Title, Slides: d.Slides, Blob: d.Blob,
		PreviewBlob: d.PreviewBlob, CreatedAt: d.CreatedAt.UTC(),
	}
}

func checkOf(c store.LLMCheckRow) LLMCheck {
	return LLMCheck{
		ID: c.ID, JobID: c.JobID, Confidence: c.Confidence, Verdict: c.Verdict, Findings: Parts[Finding](c.Findings), Model: c.Model,
		CreatedAt: c.CreatedAt.UTC(),
	}
}

func derivedOf(d store.DerivedContentRow) DerivedContent {
	return DerivedContent{
		ID: d.ID, JobID: d.JobID, SourceFilename: d.SourceFilename, Blob: d.Blob, Version: d.Version, Format: d.Format,
		Engine: d.Engine, PageCount: d.PageCount, MeanConfidence: d.MeanConfidence, UnreadPages: some(d.UnreadPages),
		CreatedAt: d.CreatedAt.UTC(),
	}
}
