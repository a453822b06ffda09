package schema_test

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
)

// TestContextsShowNothing: what a model wrote about a chunk is no reason to leave it out, nor to find it by a phrase. Its
// terms have those words all the same.
func TestContextsShowNothing(t *testing.T) {
	t.Parallel()
	config, err := pgx.ParseConfig(stacktest.PostgresWith(t, schema.Options{Dimensions: 8}))
	if err != nil {
		t.Fatal(err)
	}
	var notices []string
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { notices = append(notices, n.Message) }
	conn, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	for _, statement := range []string{
		"select set_config('app.client_id', 'a', false)",
		"insert into documents (client_id, document_set, filename, blob, active_version, language) select 'a', 's', 'f', 'f', 1, 'zh'",
		"insert into document_versions (client_id, document_id, version, status, job_id) select 'a', id, 1, 'active', 'j' from documents",
		`insert into document_chunks (client_id, document_id, version, position, content, context, chunk_key, model, embedding)
			select 'a', id, 1, n, content, context, 'k', 'm', array_fill(1, array[8])::vector::halfvec
			from documents, (values (0, '港湾里', '防守的分'), (1, '港湾里防守', '火车'), (2, '港湾里防守', null), (3, '港湾里分', '火车')) x(n, content, context)`,
		"select aw_fill_terms('a', 100)",
	} {
		if _, err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	notices = nil
	for text, want := range map[string]string{
		"港湾": "{0,1,2,3}", "港湾 -防守": "{0,3}", "港湾 -火车": "{0,1,2,3}", "港湾 -分": "{0,1,2}", `港湾 -"防守" -"分"`: "{0}",
		"港湾, -防守。": "{0,3}", "港湾 -里": "{}", `港湾 -"里 防"`: "{0,1,2,3}",
		"港湾 -XLIX": "{0,1,2,3}",
	} {
		for _, vector := range []string{"null", "array_fill(1, array[8])::vector::halfvec"} {
			var got string
			if err := conn.QueryRow(t.Context(), `select coalesce(array_agg(c.position order by c.position), '{}')::text
				from hybrid_search($1, `+vector+`, 100) h join document_chunks c on c.id = h.id`, text).Scan(&got); err != nil || got != want {
				t.Errorf("%s, %s: %s, %v; want %s", text, vector, got, err, want)
			}
		}
	}
	if len(notices) > 0 {
		t.Errorf("a question makes the server complain: %q", notices)
	}
	var singles string
	if err := conn.QueryRow(t.Context(), `select aw_singles('''防'' | ''守'' | ''防守'' | ''防'' | ''a''')`).Scan(&singles); err != nil || singles != "守防" {
		t.Errorf("single characters: %q, %v", singles, err)
	}
}
