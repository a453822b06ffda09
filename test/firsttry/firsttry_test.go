package firsttry

import (
	"net"
	"regexp"
	"strings"
	"testing"
)

// TestMistakes: a mistyped command gets what is wrong and what to do, in plain words.
func TestMistakes(t *testing.T) {
	t.Parallel()
	d := sitDown(t)
	d.run("async-worker --help").expect(0, "doctor", "--tenant", "Exit codes")
	d.run("async-worker run --help").expect(0, "WORKER_CONCURRENCY")
	d.run("async-worker --version").expect(0, "async-worker version")
	d.run("async-worker job list").expect(2, `there is no command "job"`, "did you mean async-worker jobs?")
	d.run("async-worker jobs lst").expect(2, "did you mean async-worker jobs list?")
	d.run("async-worker jobs get").expect(2, "needs the ID of a job")
	d.run("async-worker jobs list --status odd").expect(2, "pending, running, succeeded, failed, canceled")
	d.run("async-worker jobs list --limit many").expect(2, "it is not a whole number")
	d.run("async-worker search tides --limit many").expect(2, "it is not a whole number")
	d.run("async-worker search -draft").expect(2, "put -- before")
	d.run("async-worker run --log-level loud").expect(78, "LOG_LEVEL", "set it to debug, info, warn or error")
	d.run("async-worker enqueue --type translate --filename a.md").expect(2, "translate",
		"agent, ai, convert, export, ingest,", "ocr, summarize, xml")
	d.run("async-worker enqueue --type ingest --filename a.md").expect(2, "document_set", "--document-set")
	d.run("async-worker enqueue --type ingest --upload nowhere.md --document-set s").expect(1, "nowhere.md")
	d.run("async-worker extract nowhere.pdf").expect(1, "nowhere.pdf")
	d.run("async-worker jobs get t1").expect(1, "t1")
	d.run("async-worker jobs cancel TYPO").expect(1, "TYPO", "!canceled\n")
	d.run("async-worker jobs list").expect(0, "!TYPO")
	d.run("async-worker dlq replay TYPO").expect(1, "there is no dead letter TYPO", "dlq list shows", "!jobs list")
	d.run("async-worker jobs list --tenant nowhere").expect(78, "there is no tenant nowhere", "CLIENT_ID is "+
		d.env["CLIENT_ID"], "tenant add nowhere", "!--client-id")
	d.run("async-worker schedules add nightly --type ingest").expect(2, "--cron is missing", "@daily")
	d.run("async-worker token list").expect(2, "give --tenant NAME")
	d.run("async-worker token list --tenant nowhere").expect(78, "there is no tenant nowhere", "tenant add nowhere",
		"--print")
	d.run("async-worker status --tenant southhaven", "CLIENT_ID=", "HTTP_ADDR=", "SUPABASE_URL=", "SUPABASE_KEY=",
		"AZURE_STORAGE_CONNECTION_STRING=").expect(78, "southhaven", "tenant add")
}

// TestServices: an error of a service has its address, the cause, and the setting that names it.
func TestServices(t *testing.T) {
	t.Parallel()
	d := sitDown(t)
	nobody := free(t)
	d.run("async-worker jobs list", "SUPABASE_URL=http://"+nobody).expect(69, nobody, "connection refused",
		"SUPABASE_URL")
	d.run("async-worker jobs list", "SUPABASE_KEY=eyJhbGciOiJIUzI1NiJ9.eyJyb2xlIjoiYW5vbiJ9.AAAA").expect(78,
		"SUPABASE_KEY", "public")
	d.run("async-worker jobs list", "DB_SCHEMA=elsewhere").expect(78, "set DB_SCHEMA to one", "public",
		"!apply it with")
	d.run("async-worker queue", "AZURE_STORAGE_CONNECTION_STRING=DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;AccountKey=AAAA;QueueEndpoint=http://"+
		nobody+"/devstoreaccount1;BlobEndpoint=http://"+nobody+"/devstoreaccount1;").expect(69, nobody,
		"AZURE_STORAGE_CONNECTION_STRING")
	d.run("async-worker check-config", "OPENAI_API_KEY=", "LLM_PROVIDER=openai", "POLL_MAX_MS=fast",
		"WEBHOOK_SECRET=short").
		expect(78, "OPENAI_API_KEY", "POLL_MAX_MS", "WEBHOOK_SECRET", "3 problems")
	d.run("async-worker check-config", "WORKER_CONCURENCY=3").expect(0, "WORKER_CONCURENCY: unknown setting",
		"did you mean WORKER_CONCURRENCY?")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	d.run("async-worker run", "HTTP_ADDR="+l.Addr().String()).expect(78, l.Addr().String(), "choose another HTTP_ADDR",
		"!database and the storage account up")
}

var enqueued = regexp.MustCompile(`(?m)^[0-9a-f-]{36}$|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// TestMainJob: a document goes in and is found, and each step reports what it does.
func TestMainJob(t *testing.T) {
	t.Parallel()
	d := sitDown(t)
	d.file("tides.md", "# Tides\n\n## Spring tide\n\nTwice a month the water is highest.\n")
	d.file("broken.pdf", "%PDF-1.7\nthis is none")
	d.run("async-worker check-config").expect(0, "LLM_PROVIDER")
	d.run("async-worker queue").expect(0, "does not exist yet")
	stop := d.daemon()
	d.run("async-worker enqueue --upload tides.md --type ingest --document-set sea --watch").expect(0, "succeeded")
	d.run("async-worker status").expect(0, "!working on 4 of 4")
	d.run("async-worker search 'spring tide'").expect(0, "tides.md", "Twice a month")
	d.run("async-worker search lighthouse").expect(0, "!tides.md")
	d.run("async-worker ask 'When is the water highest?'").expect(0, "tides.md")
	d.run("async-worker summarize tides.md").expect(0, "highest")
	failed := d.run("async-worker enqueue --id broken --upload broken.pdf --type ingest --document-set sea --watch").
		expect(1, "broken.pdf", "failed")
	if strings.Contains(failed.text, "this is none") {
		t.Errorf("an error repeats a document's text:\n%s", failed.text)
	}
	d.run("async-worker enqueue --id broken --upload broken.pdf --type ingest --document-set sea --watch").expect(1,
		"another --id", "--force")
	d.run("async-worker jobs list").expect(0, "broken", "failed", "succeeded")
	d.run("async-worker jobs list --status failed").expect(0, "broken", "!succeeded")
	d.run("async-worker jobs cancel broken").expect(1, "already failed")
	d.run("async-worker dlq list").expect(0, "broken")
	list := d.run("async-worker jobs list --status succeeded -o json").expect(0)
	id := enqueued.FindString(list.text)
	if id == "" {
		t.Fatalf("no id in %s", list.text)
	}
	d.run("async-worker jobs get "+id).expect(0, "succeeded")
	d.run("async-worker jobs watch "+id).expect(0, "succeeded")
	d.run("async-worker queue").expect(0, "!does not exist yet")
	d.run("async-worker __complete jobs get ''").expect(0, id, "broken", "failed ingest")
	d.run("async-worker __complete jobs retry ''").expect(0, "broken", "!"+id)
	d.index()
	d.run("async-worker documents list").expect(0, "tides.md", "sea", "active")
	d.run("async-worker documents delete tides.md --set sea").expect(2, "give --yes")
	d.run("async-worker documents delete tides.md --set sea --yes --watch").expect(0, "succeeded")
	d.run("async-worker documents list").expect(0, "!tides.md")
	d.run("async-worker search 'spring tide'").expect(0, "!tides.md")
	log := stop()
	for line := range strings.Lines(log) {
		if n := strings.Count(log, line); n > 3 {
			t.Errorf("%d times in the log: %s", n, line)
		}
	}
	if strings.Contains(log, "highest") || strings.Contains(log, d.env["SUPABASE_KEY"]) {
		t.Errorf("the log has a document's text, or a key:\n%s", log)
	}
	d.run("async-worker status").expect(69, "is the worker running?")
}
