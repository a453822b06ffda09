package convert

import (
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// TestNoOCR: the worker looks for OCR when it starts, so what mends it ends with a restart.
func TestNoOCR(t *testing.T) {
	t.Parallel()
	err := noText(extract.Info{Properties: map[string]string{"unread_reason": "tesseract is not installed"}})
	if hint := taskerr.Classify(err).Hint; !strings.Contains(hint, "then restart the worker, and send the task again with hints.force") {
		t.Errorf("the hint is %q", hint)
	}
	if hint := taskerr.Classify(noText(extract.Info{})).Hint; strings.Contains(hint, "restart") {
		t.Errorf("an empty document has the hint %q", hint)
	}
}
