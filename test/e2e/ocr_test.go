package e2e

import (
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"

	"github.com/seed-7227ef26/async-worker/internal/ocr/ocrtest"
)

func (b *bed) download(name string) string {
	b.t.Helper()
	c, err := azblob.NewClientFromConnectionString(b.azure, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	answer, err := c.DownloadStream(b.ctx, b.container(), name, nil)
	if err != nil {
		b.t.Fatalf("download %s: %v", name, err)
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return string(content)
}

// TestOCR: a scan that a frontend sends, also twice, also as a CloudEvent, is read once, and its text is stored
// next to it.
func TestOCR(t *testing.T) {
	t.Parallel()
	ocrtest.Need(t, "tesseract", "pdftoppm", "pdftotext", "pdfinfo")
	// A page of a doubtful reading is read again if there is time, and kept as it is if not: on a busy machine, too.
	b := newBed(t, "LLM_PROVIDER=offline", "STEP_TIMEOUT_SEC=600")
	scan, err := os.ReadFile(ocrtest.Write(t,
		ocrtest.Page{
			Image: ocrtest.Scan(t, 0, "The harbour master keeps a record", "of every ship that leaves the port.").Gray,
		},
		ocrtest.Page{
			Image: ocrtest.Scan(t, 1, "A page that lies on its side is read", "as it has to be held by its reader.").
				Gray,
		}))
	if err != nil {
		t.Fatal(err)
	}
	b.upload("in/scan.pdf", scan)
	message, err := json.Marshal(map[string]any{
		"task_id": "scan", "task_type": "ocr", "webhook_url": b.hooks.URL,
		"payload": map[string]any{"filename": "scan.pdf", "blob": "in/scan.pdf"},
	})
	if err != nil {
		t.Fatal(err)
	}
	event, err := json.Marshal(map[string]any{
		"specversion": "1.0", "id": "e", "source": "test", "type": "ocr.requested",
		"data": map[string]any{
			"job_id": "event", "content_id": "in/scan.pdf", "webhook_url": b.hooks.URL,
			"hints": map[string]string{"output_format": "hocr"},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	b.send(string(message))
	b.send(string(message))
	b.start()
	got := b.await(b.ctx, "scan")
	blob, _ := got.Result["derived_blob"].(string)
	if got.Type != "task.completed" || got.Result["page_count"] != 2.0 || got.Result["ocr_engine"] != "tesseract" ||
		got.Result["source_format"] != "pdf" ||
		got.Result["derived_content_id"] == nil || got.Result["mean_confidence"].(float64) < 0.8 ||
		got.Result["processing_time_ms"] == nil || blob == "" {
		t.Fatalf("%+v", got)
	}
	text := b.download(blob)
	for _, line := range []string{
		"The harbour master keeps a record of every ship that leaves the port.",
		"A page that lies on its side",
	} {
		if !strings.Contains(text, line) {
			t.Errorf("%q is not in %q", line, text)
		}
	}
	b.send(string(event))
	if got := b.await(b.ctx, "event"); got.Type != "task.completed" ||
		!strings.Contains(b.download(got.Result["derived_blob"].(string)), "ocrx_word") {
		t.Errorf("%+v", got)
	}
	for query[int](b, "select count(*) from jobs where status <> 'succeeded'") > 0 && b.ctx.Err() == nil {
		continue
	}
	expect(b, "derived contents of the task sent twice", 1,
		"select count(*) from derived_contents where job_id = 'scan'")
	expect(b, "what is recorded", blob+" markdown tesseract 2 1",
		"select concat_ws(' ', blob, format, engine, page_count, version) from derived_contents where job_id = 'scan'")
	expect(b, "dead letters", 0, "select count(*) from dead_letters")
	expect(b, "pages in the cache", 2, "select count(*) from page_results")
}
