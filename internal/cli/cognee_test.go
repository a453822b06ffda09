package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/cognee/cogneetest"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

func TestCogneeStatus(t *testing.T) {
	t.Parallel()
	down := noon
	s := &rows{cognee: store.CogneeState{
		Enabled: true, Pending: 3, Due: 2, Oldest: time.Minute, Refused: 1, DownSince: &down, LastError: "no answer\x1b[1m",
		Datasets: []store.CogneeDatasetState{{DocumentSet: "reports", State: "running", Changes: 4}},
		Troubled: []store.CogneeTroubled{{
			DocumentID: "d1", DocumentSet: "reports", Version: 2, Status: "refused", Attempts: 1, LastError: "HTTP 413",
		}},
	}}
	ask := func(args ...string) result {
		return invoke(t, app.Tenant{Store: s}, testEnv(), "", append([]string{"cognee"}, args...)...)
	}
	r := ask("status")
	r.want(t, exitOK, "waiting: 3 documents, 2 of them due, the oldest for 1m0s; refused: 1; given up: 0",
		"Cognee is down since", "reports running 4", "d1 reports 2 refused 1 HTTP 413")
	if strings.Contains(r.out, "\x1b") {
		t.Errorf("prints %q", r.out)
	}
	ask("status", "-o", "json").want(t, exitOK, `"oldest_seconds": 60`)
	ask("retry").want(t, exitOK, "1 documents and 2 document sets are due again")
	ask("off").want(t, exitOK, "notes of 5 documents were removed")
	ask("reconcile").want(t, exitConfig, "COGNEE_URL", "it is not set", "set it to the address of the Cognee server")
	root := t.TempDir()
	without := servicesAt("127.0.0.1:1")
	without.cognee = ""
	without.put(t, root, "southhaven")
	if err := os.Remove(filepath.Join(root, tenantsDir, "credentials", "southhaven", "COGNEE_API_KEY")); err != nil {
		t.Fatal(err)
	}
	invoke(t, app.Tenant{Store: s}, nil, "", "cognee", "reconcile", "--root", root).want(t, exitConfig, "COGNEE_URL",
		"remedy:  set it to the address of the Cognee server: sudo async-worker tenant edit southhaven")
	s.cognee = store.CogneeState{}
	ask("status").want(t, exitOK, "no worker of this tenant has had COGNEE_URL")
}

// On a real database: what Cognee has and the index lacks is forgotten, and a dry run changes nothing.
func TestCogneeReconcile(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	server := cogneetest.New(t, cogneetest.Options{})
	client := strings.TrimPrefix(d.env[0], "CLIENT_ID=")
	id := uuid.NewString()
	server.Plant(client+"_s", id, "of no document")
	d.env = append(d.env, "COGNEE_URL="+server.URL(), "COGNEE_API_KEY=wrong")
	d.command("cognee", "reconcile").want(t, exitPermission, "refuses the key", "COGNEE_API_KEY")
	d.env = append(d.env, "COGNEE_API_KEY="+cogneetest.Key)
	d.command("cognee", "reconcile", "--dry-run").want(t, exitOK, "0 documents would be queued", "1 rows would be forgotten")
	if len(server.Rows()[id]) != 1 {
		t.Error("a dry run forgets")
	}
	d.command("cognee", "reconcile").want(t, exitOK, "1 rows were forgotten")
	if len(server.Rows()) != 0 {
		t.Errorf("Cognee has %+v", server.Rows())
	}
}
