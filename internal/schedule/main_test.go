package schedule

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
)

func TestMain(m *testing.M) { stacktest.Main(m, func() error { return goleak.Find() }) }
