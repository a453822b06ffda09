package schema_test

import (
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
)

func TestMain(m *testing.M) { stacktest.Main(m) }

func TestMigrateTwice(t *testing.T) {
	t.Parallel()
	url := stacktest.EmptyPostgres(t)
	first, err := schema.Migrate(t.Context(), url, schema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if first.From != 0 || first.To != schema.Version() || len(first.Applied) != schema.Version() || first.Dimensions != 1536 {
		t.Errorf("first: %+v", first)
	}
	second, err := schema.Migrate(t.Context(), url, schema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if second.From != schema.Version() || len(second.Applied) != 0 {
		t.Errorf("second: %+v", second)
	}
}
