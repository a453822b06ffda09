package config_test

import (
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/test/generated"
)

// The table in docs/settings.md is generated from the table that reads settings.
func TestSettingsTable(t *testing.T) {
	t.Parallel()
	generated.Part(t, "../../docs/settings.md", "settings", config.Markdown())
}
