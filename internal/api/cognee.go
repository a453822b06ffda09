package api

import (
	"context"
	"net/http"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/apitoken"
)

// CogneeState is what Cognee has yet to get of the documents.
type CogneeState struct {
	Enabled       bool             `json:"enabled" doc:"A worker of the tenant has had COGNEE_URL."`
	DownSince     *time.Time       `json:"downSince,omitempty" doc:"Left out: Cognee is not known to be down."`
	LastError     string           `json:"lastError,omitempty" doc:"Why it is down."`
	Pending       int              `json:"pending" doc:"Documents that Cognee does not have yet, counted up to 10001."`
	Due           int              `json:"due" doc:"Of these, those that can be sent now."`
	OldestSeconds float64          `json:"oldestSeconds" doc:"How long the oldest of them waits."`
	Refused       int              `json:"refused" doc:"Documents that Cognee refused."`
	Failed        int              `json:"failed" doc:"Documents that were given up after the last attempt."`
	Datasets      []CogneeDataset  `json:"datasets" nullable:"false" doc:"The first 100."`
	Troubled      []CogneeDocument `json:"troubled" nullable:"false" doc:"The first 20 that were refused or given up."`
}

// CogneeDataset is how far Cognee is with a document set.
type CogneeDataset struct {
	DocumentSet string     `json:"documentSet"`
	State       string     `json:"state" enum:"idle,running,failed"`
	Changes     int        `json:"changes" doc:"That are not in Cognee's graph yet."`
	FinishedAt  *time.Time `json:"finishedAt,omitempty"`
	LastError   string     `json:"lastError,omitempty"`
}

// CogneeDocument is a document that Cognee does not have.
type CogneeDocument struct {
	DocumentID     string `json:"documentId"`
	DocumentSet    string `json:"documentSet"`
	Version        int    `json:"version,omitempty" doc:"Left out: it is to be forgotten."`
	Status         string `json:"status" enum:"refused,failed"`
	Attempts       int    `json:"attempts"`
	ResponseStatus int    `json:"responseStatus,omitempty"`
	LastError      string `json:"lastError,omitempty"`
}

// CogneeRetried is how much was made due again.
type CogneeRetried struct {
	Documents int `json:"documents"`
	Datasets  int `json:"datasets"`
}

func (a *API) registerCognee() {
	register(a, call{
		method: http.MethodGet, path: "/v1/cognee", id: "cognee", tag: "operation", scope: apitoken.Read,
		summary: "Show what waits for Cognee, and what it refused",
	}, a.cognee)
	register(a, call{
		method: http.MethodPost, path: "/v1/cognee/retry", id: "retry-cognee", tag: "operation", scope: apitoken.Operate,
		summary: "Send again what Cognee refused or what was given up", status: http.StatusAccepted,
	}, func(ctx context.Context, _ *struct{}) (*bodyOf[CogneeRetried], error) {
		n, err := a.deps.Store.RetryCognee(ctx)
		if err != nil {
			return nil, err
		}
		a.audit(ctx, "had documents sent to Cognee again", "documents", n.Documents, "datasets", n.Datasets)
		return body(CogneeRetried(n)), nil
	})
}

func (a *API) cognee(ctx context.Context, _ *struct{}) (*bodyOf[CogneeState], error) {
	s, err := a.deps.Store.CogneeState(ctx)
	if err != nil {
		return nil, err
	}
	out := CogneeState{
		Enabled: s.Enabled, DownSince: utc(s.DownSince), LastError: s.LastError, Pending: s.Pending, Due: s.Due,
		OldestSeconds: s.Oldest.Seconds(), Refused: s.Refused, Failed: s.Failed, Datasets: []CogneeDataset{},
		Troubled: []CogneeDocument{},
	}
	for _, d := range s.Datasets {
		out.Datasets = append(out.Datasets, CogneeDataset{
			DocumentSet: d.DocumentSet, State: d.State, Changes: d.Changes, FinishedAt: utc(d.FinishedAt),
			LastError: d.LastError,
		})
	}
	for _, d := range s.Troubled {
		out.Troubled = append(out.Troubled, CogneeDocument{
			DocumentID: d.DocumentID, DocumentSet: d.DocumentSet, Version: d.Version, Status: d.Status,
			Attempts: d.Attempts, ResponseStatus: d.ResponseStatus, LastError: d.LastError,
		})
	}
	return body(out), nil
}
