package storetest

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// secretDigits are the characters of a Secret, in text order.
const secretDigits = "0123456789abcdef"

// Secret is a value of a tenant that another tenant tries to learn from the planner's estimates.
type Secret struct {
	Relation, Column, Known, Value string // Value begins with Known
}

// Secrets fills a database with rows of many values of a victim, and some of mallory, analyzes the tables, and returns
// the values that could be learned from tables, and from the views and functions over them.
func Secrets(t *testing.T, superuser *pgx.Conn) []Secret {
	t.Helper()
	const token = "5f0c9a7be12d4863"
	if _, err := superuser.Exec(t.Context(), `
		insert into webhook_deliveries (client_id, id, event, url, body)
			select c, 'msg_' || c || n, 'task.failed', case c when 'victim' then 'https://hooks.victim.example/`+token+`' else 'https://mallory.example/' end, '{}'
			from (values ('victim', 3000), ('mallory', 100)) x(c, most), generate_series(1, most) n;
		insert into jobs (client_id, id, type, status, completed_at, error_message, requested_by)
			select c, 'j' || n, 'ingest', 'failed', now(), case c when 'victim' then 'open `+token+`' else 'm' end, case c when 'victim' then '`+token+`' else 'm' end
			from (values ('victim', 3000), ('mallory', 100)) x(c, most), generate_series(1, most) n;
		insert into documents (client_id, document_set, filename, blob, active_version)
			select c, case c when 'victim' then '`+token+`' else 'm' end, n || '.pdf', 'b', 1
			from (values ('victim', 3000), ('mallory', 100)) x(c, most), generate_series(1, most) n;
		analyze webhook_deliveries, jobs, documents`); err != nil {
		t.Fatal(err)
	}
	url, failure := "https://hooks.victim.example/", "open "
	return []Secret{
		{"webhook_deliveries", "url", url, url + token},
		{"jobs", "error_message", failure, failure + token},
		{"jobs", "requested_by", "", token},
		{"documents", "document_set", "", token},
		{"own_jobs", "error_message", failure, failure + token},
		{"own_jobs", "requested_by", "", token},
		{"own_documents", "document_set", "", token},
		{"own_webhook_deliveries", "url", url, url + token},
	}
}

// Steal searches for a secret by estimates of the number of rows below a value, which jump at a frequent value. It
// returns what it learned beyond Known, and how often it called below. below returns false if it gets no estimate.
func (s Secret) Steal(
	ctx context.Context, below func(ctx context.Context, value string) (rows float64, ok bool),
) (learned string, asked int) {
	ask := func(value string) (float64, bool) {
		asked++
		return below(ctx, value)
	}
	low, lowOK := ask(s.Known)
	high, highOK := ask(s.Known + "g")
	if !lowOK || !highOK || low == high {
		return "", asked
	}
	for len(s.Known)+len(learned) < len(s.Value) {
		from, to := 0, len(secretDigits) // the digit is in [from, to)
		for to-from > 1 {
			middle := (from + to) / 2
			if rows, _ := ask(s.Known + learned + secretDigits[middle:middle+1]); rows > (low+high)/2 {
				to = middle
			} else {
				from = middle
			}
		}
		learned += secretDigits[from : from+1]
	}
	return learned, asked
}

// Missing returns the part of the secret after Known.
func (s Secret) Missing() string { return strings.TrimPrefix(s.Value, s.Known) }
