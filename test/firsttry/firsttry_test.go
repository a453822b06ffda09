package firsttry

import (
	"net"
	"regexp"
	"strings"
	"testing"
)

// TestMistakes: who mistypes is told what is wrong and what to do, in plain words.
func TestMistakes(t *testing.T) {
	t.Parallel()
	d := sitDown(t)
	d.types("async-worker --help").wants(0, "doctor", "--tenant", "Exit codes")
	d.types("async-worker run --help").wants(0, "WORKER_CONCURRENCY")
	d.types("async-worker --version").wants(0, "async-worker version")
	d.types("async-worker job list").wants(2, `has no command "job"`, "did you mean async-worker jobs?")
	d.types("async-worker jobs lst").wants(2, "did you mean async-worker jobs list?")
	d.types("async-worker jobs get").wants(2, "needs the ID of a job")
	d.types("async-worker jobs list --status odd").wants(2, "pending, running, succeeded, failed, canceled")
	d.types("async-worker jobs list --limit many").wants(2, "it is not a whole number")
	d.types("async-worker search tides --limit many").wants(2, "it is not a whole number")
	d.types("async-worker search -draft").wants(2, "put -- before")
	d.types("async-worker run --log-level loud").wants(78, "LOG_LEVEL", "set it to debug, info, warn or error")
	d.types("async-worker enqueue --type translate --filename a.md").wants(2, "translate",
		"agent, ai, ingest, ocr, summarize")
	d.types("async-worker enqueue --type ingest --filename a.md").wants(2, "document_set", "--document-set")
	d.types("async-worker enqueue --type ingest --upload nowhere.md --document-set s").wants(1, "nowhere.md")
	d.types("async-worker extract nowhere.pdf").wants(1, "nowhere.pdf")
	d.types("async-worker jobs get t1").wants(1, "t1")
	d.types("async-worker jobs cancel TYPO").wants(1, "TYPO", "!canceled\n")
	d.types("async-worker jobs list").wants(0, "!TYPO")
	d.types("async-worker status --tenant southhaven", "CLIENT_ID=", "HTTP_ADDR=", "SUPABASE_URL=", "SUPABASE_KEY=",
		"AZURE_STORAGE_CONNECTION_STRING=").wants(78, "southhaven", "tenant add")
}

// TestServices: what is wrong with a service is told with its address, the cause, and the setting that names it.
func TestServices(t *testing.T) {
	t.Parallel()
	d := sitDown(t)
	nobody := free(t)
	d.types("async-worker jobs list", "SUPABASE_URL=http://"+nobody).wants(69, nobody, "connection refused",
		"SUPABASE_URL")
	d.types("async-worker jobs list", "SUPABASE_KEY=eyJhbGciOiJIUzI1NiJ9.eyJyb2xlIjoiYW5vbiJ9.AAAA").wants(78,
		"SUPABASE_KEY", "public")
	d.types("async-worker jobs list", "DB_SCHEMA=elsewhere").wants(78, "set DB_SCHEMA to one", "public",
		"!apply it with")
	d.types("async-worker queue", "AZURE_STORAGE_CONNECTION_STRING=DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;AccountKey=AAAA;QueueEndpoint=http://"+
		nobody+"/devstoreaccount1;BlobEndpoint=http://"+nobody+"/devstoreaccount1;").wants(69, nobody,
		"AZURE_STORAGE_CONNECTION_STRING")
	d.types("async-worker check-config", "OPENAI_API_KEY=", "LLM_PROVIDER=openai", "POLL_MAX_MS=fast",
		"WEBHOOK_SECRET=short").
		wants(78, "OPENAI_API_KEY", "POLL_MAX_MS", "WEBHOOK_SECRET", "3 problems")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	d.types("async-worker run", "HTTP_ADDR="+l.Addr().String()).wants(78, l.Addr().String(), "choose another HTTP_ADDR",
		"!database and the storage account up")
}

var enqueued = regexp.MustCompile(`(?m)^[0-9a-f-]{36}$|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// TestMainJob: a document goes in and is found again, and everything on the way says what it does.
func TestMainJob(t *testing.T) {
	t.Parallel()
	d := sitDown(t)
	d.file("tides.md", "# Tides\n\n## Spring tide\n\nTwice a month the water is highest.\n")
	d.file("broken.pdf", "%PDF-1.7\nthis is none")
	d.types("async-worker check-config").wants(0, "LLM_PROVIDER")
	d.types("async-worker queue").wants(0, "does not exist yet")
	stop := d.daemon()
	d.types("async-worker enqueue --upload tides.md --type ingest --document-set sea --watch").wants(0, "succeeded")
	d.types("async-worker status").wants(0, "!working on 4 of 4")
	d.types("async-worker search 'spring tide'").wants(0, "tides.md", "Twice a month")
	d.types("async-worker search lighthouse").wants(0, "!tides.md")
	d.types("async-worker ask 'When is the water highest?'").wants(0, "tides.md")
	d.types("async-worker summarize tides.md").wants(0, "highest")
	failed := d.types("async-worker enqueue --id broken --upload broken.pdf --type ingest --document-set sea --watch").
		wants(1, "broken.pdf", "failed")
	if strings.Contains(failed.text, "this is none") {
		t.Errorf("an error repeats a document's text:\n%s", failed.text)
	}
	d.types("async-worker enqueue --id broken --upload broken.pdf --type ingest --document-set sea --watch").wants(1,
		"another --id", "--force")
	d.types("async-worker jobs list").wants(0, "broken", "failed", "succeeded")
	d.types("async-worker jobs list --status failed").wants(0, "broken", "!succeeded")
	d.types("async-worker jobs cancel broken").wants(1, "already failed")
	d.types("async-worker dlq list").wants(0, "broken")
	list := d.types("async-worker jobs list --status succeeded -o json").wants(0)
	id := enqueued.FindString(list.text)
	if id == "" {
		t.Fatalf("no id in %s", list.text)
	}
	d.types("async-worker jobs get "+id).wants(0, "succeeded")
	d.types("async-worker jobs watch "+id).wants(0, "succeeded")
	d.types("async-worker queue").wants(0, "!does not exist yet")
	log := stop()
	for line := range strings.Lines(log) {
		if n := strings.Count(log, line); n > 3 {
			t.Errorf("%d times in the log: %s", n, line)
		}
	}
	if strings.Contains(log, "highest") || strings.Contains(log, d.env["SUPABASE_KEY"]) {
		t.Errorf("the log has a document's text, or a key:\n%s", log)
	}
	d.types("async-worker status").wants(69, "is the worker running?")
}
