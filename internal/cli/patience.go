package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/httpurl"
)

// servicePatience is how long a command waits for a service that has not answered anything, or not taken more of an upload.
type servicePatience struct {
	name  string
	limit time.Duration // zero: as long as a request may take
}

// patientServices are those that commands send requests to, beside the database, by the setting with the address.
func patientServices() map[string]servicePatience {
	// A model may be loaded for the first request: only STEP_TIMEOUT_SEC ends it.
	model := servicePatience{name: "the model service"}
	return map[string]servicePatience{
		"AZURE_STORAGE_CONNECTION_STRING": {"the storage account", databasePatience},
		"COGNEE_URL":                      {"Cognee", 20 * time.Second},
		"DOCLING_URL":                     {"docling-serve", 30 * time.Second}, // a busy one is slow to take a document
		"OPENAI_BASE_URL":                 model,
		"AZURE_OPENAI_ENDPOINT":           model,
		"RERANK_URL":                      {name: "the re-ranker"},
	}
}

// atLeast returns a limit of a command, which is not shorter than the patience of a program that has its own.
func (p *program) atLeast(limit time.Duration) time.Duration { return max(limit, p.patience) }

// patient returns a context under which a service that takes connections and says nothing is soon named, as the database
// is, and does not hold a command for as long as it would hold a worker.
func (p *program) patient(ctx context.Context) context.Context {
	w := p.stderr
	grace, limits := 3*time.Second, map[string]time.Duration{}
	if p.patience > 0 {
		grace = p.patience / 2
	}
	for setting, s := range patientServices() {
		limits[setting] = s.limit
		if s.limit > 0 && p.patience > 0 {
			limits[setting] = p.patience
		}
	}
	return httpurl.WithPatience(ctx, httpurl.Patience{
		Grace: grace, Limits: limits, Waiting: func(setting, host string, limit time.Duration) {
			until := "still waiting"
			if limit > 0 {
				until = fmt.Sprintf("waiting until %v have passed", limit)
			}
			printWrapped(w, "", fmt.Sprintf("%s at %s has not answered for %v; %s", patientServices()[setting].name, host, grace, until))
		},
	})
}
