package firsttry

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/ocr/ocrtest"
	"github.com/seed-7227ef26/async-worker/webhook/receiver"
)

// TestScan: on a machine without OCR a scan is taken with a warning, which the list of jobs has and a signed webhook.
func TestScan(t *testing.T) {
	t.Parallel()
	d := sitDown(t)
	d.env["WEBHOOK_SECRET"] = receiver.Secret
	page := ocrtest.Blank()
	clear(page.Gray.Pix[:len(page.Gray.Pix)/4]) // black
	scan, err := os.ReadFile(ocrtest.Write(t, ocrtest.Page{Image: page.Gray}))
	if err != nil {
		t.Fatal(err)
	}
	d.file("scan.pdf", string(scan))
	addr := free(t)
	hooks := d.begin("async-worker webhooks listen --addr " + addr)
	hooks.await("webhook_url: http://" + addr + "/")
	d.daemon("PATH=" + popplerAlone(t))
	const warning = "1 of 1 pages have no text and could not be read by OCR"
	d.run("async-worker enqueue --id scan --upload scan.pdf --type ingest --document-set sea --webhook-url http://"+addr+
		"/ --watch").expect(0, "succeeded", warning)
	d.run("async-worker jobs list").expect(0, "scan", "succeeded", warning)
	d.run("async-worker documents list").expect(0, "scan.pdf", warning)
	hooks.await(warning)
	hooks.interrupt().expect(0, "task.completed scan signature: good answered: 204", warning)
}

// TestDeleteUnknown: what is printed for a document that is not there runs as it is.
func TestDeleteUnknown(t *testing.T) {
	t.Parallel()
	d := sitDown(t)
	for _, name := range []string{"nowhere.md", "'no where.md'"} {
		refused := d.run("async-worker documents delete "+name+" --set sea --yes").expect(1, "there is no document",
			"async-worker documents list")
		_, command, _ := strings.Cut(refused.text, "async-worker enqueue")
		command, _, _ = strings.Cut(command, "\n")
		d.run("async-worker enqueue" + command).expect(0)
	}
	d.run("async-worker jobs list").expect(0, "ingest pending", "nowhere.md", "no where.md")
}

// popplerAlone is a folder with the programs that ingest needs for a PDF, and without tesseract.
func popplerAlone(t *testing.T) (folder string) {
	t.Helper()
	folder = t.TempDir()
	programs := []string{"pdftotext", "pdftohtml", "pdftoppm", "pdfinfo", "pdfimages", "pdfdetach"}
	ocrtest.Need(t, programs...)
	for _, name := range programs {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// TestWithoutServices: a document is read from a pipe, and Tab offers what a flag takes and the tenants of the machine.
func TestWithoutServices(t *testing.T) {
	t.Parallel()
	d := sitDown(t)
	d.pipe("# Tides\n\nTwice a day.\n", "async-worker extract - --name tides.md").expect(0, "# Tides Twice a day.")
	d.run("async-worker extract -").expect(2, "the standard input is empty", "pipe a document into it")
	d.run("async-worker __complete jobs list --status ''").expect(0, "pending", "running", "succeeded", "failed", "canceled")
	d.file("south.env", "AZURE_STORAGE_ACCOUNT=stsouth\nSUPABASE_URL=https://p.supabase.co\nLLM_PROVIDER=offline\n"+
		"SUPABASE_KEY="+d.env["SUPABASE_KEY"]+"\n")
	d.run("async-worker tenant add southhaven --root . --env-file south.env").expect(0, "southhaven.env")
	d.run("async-worker __complete jobs list --root . --tenant ''").expect(0, "southhaven")
	d.run("async-worker __complete tenant edit --root . ''").expect(0, "southhaven")
}
