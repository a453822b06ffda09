package supabase_test

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/internal/store/storetest"
)

// TestEstimatesDoNotLeak: PostgREST returns the planner's estimates, which come from the statistics of all tenants. A
// key of the worker's or the reader's role learns no value of another tenant from them (I10).
func TestEstimatesDoNotLeak(t *testing.T) {
	t.Parallel()
	database := stacktest.PostgresWith(t, schema.Options{Dimensions: storetest.Dimensions})
	api := stacktest.PostgREST(t, database)
	super, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = super.Close(context.Background()) })
	secrets := storetest.Secrets(t, super)
	for _, s := range secrets { // PostgREST can also filter the functions under the views, and a search
		if name, own := strings.CutPrefix(s.Relation, "own_"); own {
			s.Relation = "rpc/aw_own_" + name
			secrets = append(secrets, s)
		}
	}
	total := 0
	for role, key := range map[string]string{"async_worker": api.TenantKey(t,
		"mallory"), "async_worker_reader": api.ReaderKey(t, "mallory")} {
		for _, count := range []string{"planned", "estimated"} {
			for _, s := range secrets {
				learned, asked := s.Steal(t.Context(), func(ctx context.Context, value string) (float64, bool) {
					return counted(ctx, t, api.URL+"/rest/v1/"+s.Relation+"?limit=1&"+s.Column+"=lt."+
						url.QueryEscape(value), key, count)
				})
				total += asked
				if learned != "" {
					t.Errorf("I10: the role %s learns %q of %s.%s by count=%s, in %d requests", role, learned,
						s.Relation, s.Column, count, asked)
				}
			}
		}
	}
	t.Logf("%d requests", total)
	// With the service key the attack works: the estimates do depend on the rows.
	for _, s := range secrets[:1] {
		learned, asked := s.Steal(t.Context(), func(ctx context.Context, value string) (float64, bool) {
			return counted(ctx, t, api.URL+"/rest/v1/"+s.Relation+"?limit=1&"+s.Column+"=lt."+url.QueryEscape(value),
				api.ServiceKey(t), "planned")
		})
		if learned != s.Missing() {
			t.Errorf("%s.%s: with the service key the attack learns %q in %d requests, want %q", s.Relation, s.Column,
				learned, asked, s.Missing())
		}
	}
}

// counted returns the total of PostgREST's answer.
func counted(ctx context.Context, t *testing.T, address, key, count string) (float64, bool) {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Prefer", "count="+count)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	_, total, _ := strings.Cut(resp.Header.Get("Content-Range"), "/")
	rows, err := strconv.ParseFloat(total, 64)
	return rows, err == nil && resp.StatusCode < 300
}
