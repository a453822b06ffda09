package architecture_test

import (
	"path/filepath"
	"testing"

	"github.com/seed-7227ef26/async-worker/test/errorlist"
)

// TestEachKindOfErrorIsListed looks for a sentence of each way to make one, so that none of them gets lost.
func TestEachKindOfErrorIsListed(t *testing.T) {
	t.Parallel()
	list := errorlist.Read(t, filepath.Join(root, "docs", "errors.md"))
	for how, sentence := range map[string]string{
		"taskerr.Errorf":             "the PDF has a word that is too long to read: abc",
		"taskerr.Error":              "a call to another service took too long",
		"taskerr.PasswordProtected":  "the PDF is protected by a password: remove it and upload it again",
		"handlers.Invalid":           "payload.prompt is missing; ask something",
		"… with a list":              "payload.style is none of brief, detailed, bullets",
		"… with an example":          "payload.language is not a BCP 47 tag such as en, de or pt-BR",
		"… of a field":               "payload.deck_id is not a UUID",
		"handlers.ReadPayload":       "payload has a field of the wrong type (blob has a value of the type number)",
		"deck.invalid":               "deck.slides[3].elements[0].picture is missing",
		"source.problem":             "source_uri: https://a.example can't be followed: it has no host",
		"gateway.down":               "the gateway failed (HTTP 502)",
		"gateway.badAnswer":          "the gateway's answer can't be used: it has no Content-Type",
		"gateway.refused":            "the gateway does not let this worker in (HTTP 401)",
		"docling.down":               "there is no docling-serve at DOCLING_URL (HTTP 404)",
		"openai.fail":                "the model service's rate limit is spent for the next 3s",
		"a function of the database": "the task with this id has failed before (ocr, INTERNAL), and this message was dropped",
		"task.fields.bad":            `client_id is "x", but this queue belongs to "y"; send the message to the queue of its own client`,
		"… with a constant remedy":   `hints.priority is "urgent"; send high, normal or low, or leave it out`,
		"… with a number":            "hints.timeout_seconds is -3; send a number of seconds from 0.001 to 86400, or leave it out",
		"task.malformed":             "the message is empty; send a task as a JSON object",
		"task.Invalid.withRemedy": "the message is not valid JSON: it breaks off or goes wrong at byte 3 of 9; check that it was " +
			"not cut short and that its quotes are escaped",
		"config.problem":    "neither it nor AZURE_STORAGE_ACCOUNT is set",
		"config.warn":       "it is not set: webhooks are sent unsigned",
		"config.fault":      "it is not a Postgres connection string",
		"cli.badUsage":      "--scope all is not a scope; give --scope read, submit or operate",
		"cli.usageError":    `--limit "x": it is not a whole number`,
		"… for one reason":  `--limit "99999999999999999999": the number is too large`,
		"flags":             "unknown flag: --tenat",
		"cli.failure":       "read the standard input: it is longer than 64 MiB; raise MAX_BLOB_MB",
		"app.ServiceError":  "open the container a: not there; is the storage account reachable? check AZURE_STORAGE_ACCOUNT",
		"a sentinel":        "only a failed job can be queued again",
		"a method Error":    "the receiver can't be reached: timeout",
		"guard.refuse":      "the receiver has a loopback address; give a public address; an operator can allow networks of their own in WEBHOOK_ALLOW_CIDRS",
		"schedule":          "cron 0 0 30 2 * never fires: there is no such day",
		"… with bounds":     "catch_up 7000: 0 to 1000",
		"httpd":             "listen on /run/a: another worker listens there; stop it, or give this one a RUNTIME_DIRECTORY of its own",
		"apitoken":          "entry 3 has no scope read, submit or operate",
		"api.problem":       "send a valid token as: Authorization: Bearer TOKEN",
		"api.invalid":       "the request is not valid: body.query has no word",
		"a row of a table":  "the webhook was delivered; force=true sends it again",
		"dashboard.bad":     "There is no file in the form. Choose one.",
		"front.problem":     "too many requests to this tenant at a time; try again",
		"http.Error":        "you are signed out; sign in and try again",
		"queue/nats.Denied": "receive from queue a: NATS denies the credentials a subject",
		"a line of the log": "the outcome could not be recorded; the message comes back and the job is retried",
		"a claim's cause":   "the response is not a worker's: unexpected end of JSON input",
		"mcp.failed":        "the call was given up",
		"tenants":           "the closing quote is missing",
		"wellformed.broken": "its elements are nested more than 500 levels deep (at byte 7)",
		"search.InvalidError": "query has more than 64 exclusions, phrases and ORs; leave some out, or ask several " +
			"questions",
		"a cause behind it":       "the worker can't write its temporary file; is its disk full?: write a: no space left",
		"raise exception":         `within has no field "form"; it has metadata, language, from, to, except and except_chunks`,
		"… with a hint":           "pgvector 0.6 has no halfvec; install pgvector 0.7 or newer, then: alter extension vector update",
		"… of another function":   "task_id must be 1 to 128 of A-Z a-z 0-9 . _ : -",
		"… in a migration":        "job a can not go from failed to running",
		"… in a printed script":   "the first part of this script has not succeeded in this session",
		"a finding of aw_examine": "a finding of the database: jobs: row-level security is off: this key reaches every client's rows",
		"doctor": "unit: async-worker@a.service is disabled: it does not start with the machine: systemctl enable --now " +
			"async-worker@a.service",
		"doctor.failed": "docling: it answered 502 to the status of a task: is docling-serve running, and DOCLING_URL its address?",
		"a hint in a case": "the re-ranker failed (HTTP 404): check RERANK_URL: it is the " +
			"whole address, e.g. https://api.cohere.com/v2/rerank",
		"… with its sentence": "the re-ranker refuses the key (HTTP 401): check RERANK_API_KEY",
		"… in an if":          "the gateway failed (HTTP 504): something behind the gateway gave up waiting: see its log",
		"… of a literal":      "Cognee refuses the key (HTTP 401); check COGNEE_API_KEY",
		"… of a function": "Azure answered 403 KeyBasedAuthenticationNotPermitted: the account allows no shared keys; " +
			"use AZURE_STORAGE_ACCOUNT with a managed identity, and remove AZURE_STORAGE_CONNECTION_STRING",
		"… that has others": "Azure answered 403 AuthorizationPermissionMismatch: the shared access " +
			"signature lacks a right: issue one with ss=bq, srt=sco and sp=rwdlacup",
		"an error of a type": "pdftotext is not installed: apt install poppler-utils on the worker's machine; " +
			"async-worker doctor shows what else it lacks",
		"an alias of a type": "the receiver has a delivery id that can't be signed; " +
			"see who writes to webhook_deliveries beside the worker",
		"store.Finding":       "a finding of the database: a: the login may not take this role: grant \"a\" to authenticator",
		"httpd.Check":         "sweep: it makes no progress; restart the worker",
		"dashboard.login":     "This token is not accepted: it is wrong, has expired, or was removed. Sign in with another one.",
		"dashboard.qualifier": "priority is high, normal or low",
		"ocr.UnavailableError": "tesseract does not run on this machine: tesseract failed (status 127: a library); install tesseract-ocr again, " +
			"then restart the worker",
		"a value twice": "lock /srv/etc/async-worker: another process has held it for 5s; find it with lslocks or fuser -v " +
			"/srv/etc/async-worker, and repeat the command when it has ended",
	} {
		if !list.Has(sentence) {
			t.Errorf("%s: docs/errors.md lacks %q", how, sentence)
		}
	}
	for _, wrong := range [][2]string{
		{"the query …", "check the disk"},
		{"lock …/.", "fuser -v …/etc/async-worker"},
		{"lock …/etc/async-worker", "fuser -v …/."},
		{"another migration has not ended after …: it ended", "to end it"},
		{"the re-ranker failed", "RERANK_API_KEY"},
		{"source_uri: … can't be trusted: timeout", ""},
		{"another migration has not ended after …: the session", "run migrate again"},
	} {
		if list.Pairs(wrong[0], wrong[1]) {
			t.Errorf("docs/errors.md has %q with %q", wrong[0], wrong[1])
		}
	}
}
