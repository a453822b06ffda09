package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/api"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// What Cognee refused is shown, without a word of the document, and is due again on an operator's request.
func TestCognee(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ask := func() (s api.CogneeState) {
		t.Helper()
		r := b.want(b.ask("GET", "/v1/cognee", ""), http.StatusOK, "")
		if err := json.Unmarshal([]byte(r.text), &s); err != nil || s.Datasets == nil || s.Troubled == nil {
			t.Fatalf("%s, %v", r.text, err)
		}
		return s
	}
	if s := ask(); s.Enabled {
		t.Errorf("before it is used: %+v", s)
	}
	if err := b.store.OpenCognee(t.Context()); err != nil {
		t.Fatal(err)
	}
	const id = "0b9d6f3e-5a55-4d53-9f0c-0f3a0a6b7c11"
	b.indexed(id, "contracts", "a.pdf")
	b.exec(`select aw_cognee_changed('` + tenant + `', '` + id + `', 'contracts', 1)`)
	work, err := b.store.ClaimCognee(t.Context(), store.CogneeClaim{Worker: "w", Max: 1, Lease: time.Hour})
	if err != nil || len(work.Documents) != 1 {
		t.Fatalf("claimed %+v, %v", work, err)
	}
	if s := ask(); !s.Enabled || s.Pending != 1 || s.Due != 0 {
		t.Errorf("while it is sent: %+v", s)
	}
	if _, err := b.store.SettleCognee(t.Context(), store.CogneeOutcome{
		CogneeLease: store.CogneeLease{DocumentID: id, Fence: work.Documents[0].Fence}, Version: 1,
		Outcome: store.CogneeRefused, ResponseStatus: 413, CogneeHealth: store.CogneeHealth{Error: "too large"},
	}); err != nil {
		t.Fatal(err)
	}
	if s := ask(); s.Refused != 1 || len(s.Troubled) != 1 || s.Troubled[0] != (api.CogneeDocument{
		DocumentID: id, DocumentSet: "contracts", Version: 1, Status: "refused", ResponseStatus: 413, LastError: "too large",
	}) {
		t.Errorf("refused: %+v", s)
	}
	b.want(b.ask("POST", "/v1/cognee/retry", "", "Authorization", "Bearer "+b.tokens["submit"]), http.StatusForbidden,
		"FORBIDDEN")
	b.want(b.ask("POST", "/v1/cognee/retry", ""), http.StatusAccepted, "")
	if s := ask(); s.Refused != 0 || s.Due != 1 {
		t.Errorf("due again: %+v", s)
	}
}

// indexed puts a document into the index.
func (b *bench) indexed(id, set, filename string) {
	b.Helper()
	b.exec(`insert into documents (client_id, id, document_set, filename, blob, active_version)
			values ('` + tenant + `', '` + id + `', '` + set + `', '` + filename + `', '` + filename + `', 1);
		insert into document_versions (client_id, document_id, version, status, job_id)
			values ('` + tenant + `', '` + id + `', 1, 'active', 'j')`)
}

func (b *bench) exec(sql string) {
	b.Helper()
	conn, err := pgx.Connect(b.Context(), b.url)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(b.Context()))
	if _, err := conn.Exec(b.Context(), sql); err != nil {
		b.Fatal(err)
	}
}
