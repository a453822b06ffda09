package dashboard_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// The address of a webhook may hold a token: who may not operate sees its host alone, in the messages of jobs and of dead
// letters as well.
func TestMessageHidesWebhook(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const came = `{"task_id":"came","webhook_url":"https://hooks.example.com/T0/secret-token?k=secret-key","payload":{}}`
	h := b.begin("came", "ingest", `{"filename":"a.pdf","document_set":"s"}`, func(m *store.Begin) { m.Original = came })
	letter := b.fail(h, taskerr.ContentMissing, "x")
	if _, err := b.super().Exec(t.Context(), `update dead_letters set original_message = $1`, came); err != nil {
		t.Fatal(err)
	}
	b.submit("sent", "a.pdf")
	if _, err := b.super().Exec(t.Context(), `update jobs set message = $1 where id = 'sent'`, came); err != nil {
		t.Fatal(err)
	}
	operator := b.visit("operate")
	for _, path := range []string{"jobs/came", "jobs/sent", "dead-letters/" + letter} {
		operator.want(operator.get(path), http.StatusOK, "hooks.example.com/T0/secret-token?k=secret-key")
		for _, scope := range []string{"read", "submit"} {
			v := b.visit(scope)
			if a := v.want(v.get(path), http.StatusOK, "hooks.example.com/…"); strings.Contains(a.text, "secret") {
				t.Errorf("%s shows the scope %s all of the address", path, scope)
			}
		}
	}
}
