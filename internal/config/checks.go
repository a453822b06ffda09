package config

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/httpurl"
)

// check checks settings against each other. A setting that is wrong by itself takes part in no check, so that one
// mistake gives one error.
func (l *loader) check(groups Group) {
	l.checkDatabaseFiles()
	if groups&Queue != 0 && l.cfg.QueueBackend == QueueNATS {
		l.checkNATS()
	}
	if groups&Blob != 0 && l.cfg.BlobBackend == BlobDir {
		l.checkFolder()
	}
	if groups&Queue != 0 && l.cfg.QueueBackend == QueueAzure || groups&Blob != 0 && l.cfg.BlobBackend == BlobAzure {
		l.checkAzure()
	}
	if groups&Store != 0 {
		l.checkStore()
	}
	if groups&Queue != 0 && l.cfg.QueueBackend == QueuePGMQ && !l.given("DATABASE_URL") {
		l.problem("DATABASE_URL", "it is not set, and QUEUE_BACKEND is pgmq: Supabase's API can't extend a lease",
			"set it to postgresql://USER:PASSWORD@HOST:5432/DATABASE, or use QUEUE_BACKEND=postgres")
	}
	if groups&Database != 0 && !l.given("DATABASE_URL") {
		l.problem("DATABASE_URL", "it is not set, and migrating needs a direct connection to Postgres",
			"set it to postgresql://USER:PASSWORD@HOST:5432/DATABASE, or run migrate --print and paste the SQL into "+
				"the Supabase editor")
	}
	if groups&Models != 0 {
		l.checkModels()
		l.checkRerank()
	}
	if groups&Extract != 0 {
		l.checkDocling()
	}
	if groups&Extract != 0 && groups&Models != 0 {
		l.checkOCR()
	}
	if groups&Worker != 0 {
		l.checkGateway()
		l.checkPII()
		l.checkStepTimeout()
	}
	if groups&Worker != 0 && l.fine("POLL_MIN_MS", "POLL_MAX_MS") && l.cfg.PollMin > l.cfg.PollMax {
		l.problem("POLL_MIN_MS", fmt.Sprintf("%d is more than POLL_MAX_MS, which is %d",
			l.cfg.PollMin.Milliseconds(), l.cfg.PollMax.Milliseconds()), "lower it, or raise POLL_MAX_MS")
	}
	if groups&Webhooks != 0 && !l.given("WEBHOOK_SECRET") {
		l.warn("WEBHOOK_SECRET", "it is not set: webhooks are sent unsigned",
			`make one with: echo "whsec_$(openssl rand -base64 32)", and give it to the receiver`)
	}
	if groups&Webhooks != 0 {
		l.checkAllowed()
	}
	if groups&Publish != 0 {
		l.checkEvents()
	}
	if groups&Cognee != 0 {
		l.checkCognee()
	}
	if groups&HTTP != 0 {
		l.checkHTTP()
	}
	l.checkUseless()
}

// checkCognee demands an address for a key, and warns of what others could read on the way.
func (l *loader) checkCognee() {
	switch {
	case !l.given("COGNEE_URL") && l.given("COGNEE_API_KEY"):
		l.problem("COGNEE_URL", "there is a COGNEE_API_KEY but no address",
			"set it to the address of the Cognee server, or unset COGNEE_API_KEY")
	case l.given("COGNEE_URL") && httpurl.Exposed(l.cfg.Cognee.URL):
		l.warn("COGNEE_URL", "documents and the key travel unencrypted over http",
			"use https, unless the network between them is trusted")
	}
}

// checkHTTP warns of what other machines can reach or read on the way.
func (l *loader) checkHTTP() {
	addr, token := l.given("HTTP_ADDR"), l.given("HTTP_TOKEN")
	if !l.fine("HTTP_ADDR", "HTTP_TOKEN") {
		return
	}
	l.checkSigning()
	host, _, err := net.SplitHostPort(l.cfg.HTTPAddr)
	if addr && err == nil && !httpurl.Loopback(host) {
		l.checkReachable(token)
	}
}

// checkReachable is of an address that other machines reach.
func (l *loader) checkReachable(token bool) {
	const remedy = "use a trusted network, or 127.0.0.1 behind a proxy with TLS"
	if token {
		l.warn("HTTP_ADDR", "the token travels unencrypted over http", remedy)
		return
	}
	if l.given("API_TOKENS") || l.given(SigningName) {
		l.warn("HTTP_ADDR", "tokens of the API travel unencrypted over http", remedy)
	}
	l.warn("HTTP_ADDR", "other machines can reach it, and HTTP_TOKEN is not set: metrics and status are closed there",
		"to open them, set HTTP_TOKEN (openssl rand -hex 32) and give it to the clients, as a bearer token; or listen on "+
			"127.0.0.1:PORT")
}

// checkSigning warns of a secret that is not needed where there are public keys.
func (l *loader) checkSigning() {
	const problem = "it can make keys to every tenant of the project, and this worker has it"
	switch {
	case !l.given(SigningName):
	case l.given("SUPABASE_URL"):
		l.warn(SigningName, problem,
			"use asymmetric keys in the project (Supabase: JWT Keys), and unset it: the public keys are read then")
	default:
		l.warn(SigningName, problem, "let nobody but the worker read it; or unset it, and give the callers API_TOKENS")
	}
}

func (l *loader) checkNATS() {
	if !l.given("NATS_URL") {
		l.problem("NATS_URL", "it is not set, and QUEUE_BACKEND is nats", "set it to nats://HOST:4222")
		return
	}
	switch cert, key := l.given("NATS_CERT"), l.given("NATS_KEY"); {
	case cert != key:
		l.problem("NATS_CERT", "a certificate and its key belong together", "set both NATS_CERT and NATS_KEY, or neither")
	case cert && l.fine("NATS_CERT", "NATS_KEY"):
		if _, err := tls.X509KeyPair([]byte(l.cfg.NATS.Cert), []byte(l.cfg.NATS.Key.Reveal())); err != nil {
			l.problem("NATS_KEY", "it is not the key of NATS_CERT", "set it to the key (PEM) of that certificate")
		}
	}
	if l.cfg.NATS.unencrypted() {
		l.warn("NATS_URL", "tasks travel unencrypted, and so does a login", "use tls://, unless the network is trusted")
	}
}

// unencrypted reports whether a server on another machine is addressed without TLS.
func (n NATS) unencrypted() bool {
	for one := range strings.SplitSeq(n.URL.Reveal(), ",") {
		u, err := url.Parse(strings.TrimSpace(one))
		if err == nil && (u.Scheme == "nats" || u.Scheme == "ws") && !httpurl.Loopback(u.Hostname()) && n.CA == "" {
			return true
		}
	}
	return false
}

func (l *loader) checkAzure() {
	const conn, account = "AZURE_STORAGE_CONNECTION_STRING", "AZURE_STORAGE_ACCOUNT"
	switch {
	case !l.given(conn) && !l.given(account):
		const problem = "neither it nor AZURE_STORAGE_ACCOUNT is set"
		if backend := l.cfg.QueueBackend; backend != "" && backend != QueueAzure { // only the documents need it
			l.problem(conn, problem, "set the connection string, or AZURE_STORAGE_ACCOUNT on a machine with a managed "+
				"identity; or BLOB_BACKEND=dir and BLOB_DIR, for documents in a folder")
			return
		}
		l.problem(conn, problem,
			"set the connection string, or AZURE_STORAGE_ACCOUNT on a machine with a managed identity")
	case l.given(conn) && l.given(account) && l.fine(conn, account):
		if named := accountOf(l.cfg.Azure.ConnectionString); named != "" && named != l.cfg.Azure.Account {
			l.problem(account, "it names another account than AZURE_STORAGE_CONNECTION_STRING", "remove one")
			break
		}
		l.warn(account, "it has no effect: AZURE_STORAGE_CONNECTION_STRING is set, and the worker uses that",
			"remove one; without the connection string the worker uses the machine's managed identity")
	}
	l.checkSignatureExpiry(conn, l.cfg.Azure.ConnectionString)
}

// checkDocling demands an address if docling-serve is to do anything.
func (l *loader) checkDocling() {
	const remedy = "set DOCLING_URL to the address of a docling-serve such as http://docling:5001 (docs/docling.md " +
		"says how to start one), or "
	if !l.given("DOCLING_URL") {
		switch l.cfg.Extractor {
		case ExtractorDocling, ExtractorAuto:
			l.problem("EXTRACTOR", quoted(l.cfg.Extractor)+" needs a docling-serve, and DOCLING_URL is not set",
				remedy+"unset EXTRACTOR")
		}
		if l.cfg.OCREngine == OCRDocling {
			l.problem("OCR_ENGINE", quoted(OCRDocling)+" needs a docling-serve, and DOCLING_URL is not set",
				remedy+"unset OCR_ENGINE")
		}
		if l.given("DOCLING_API_KEY") {
			l.problem("DOCLING_URL", "there is a DOCLING_API_KEY but no address",
				"set it to the address of the docling-serve, or unset DOCLING_API_KEY")
		}
		return
	}
	if l.given("DOCLING_API_KEY") && httpurl.Exposed(l.cfg.Docling.URL) {
		l.warn("DOCLING_URL", "documents and the key travel unencrypted over http",
			"use https, unless the network between them is trusted")
	}
}

func accountOf(connection Secret) string {
	parts, _ := connectionParts(connection.Reveal())
	return parts["AccountName"]
}

func (l *loader) checkStore() {
	if l.given("DATABASE_URL") {
		return // SUPABASE_* is not used then
	}
	key := l.given("SUPABASE_KEY") || l.given("SUPABASE_SERVICE_ROLE_KEY")
	switch {
	case !l.given("SUPABASE_URL") && !key:
		l.problem("SUPABASE_URL", "no database is set: neither SUPABASE_URL with a key nor DATABASE_URL",
			"set SUPABASE_URL and SUPABASE_KEY (docs/database.md says how to make one for a tenant), or "+
				"DATABASE_URL")
		return
	case !l.given("SUPABASE_URL"):
		l.problem("SUPABASE_URL", "there is a key but no address", "set it to https://PROJECT.supabase.co")
	case !key:
		l.problem("SUPABASE_KEY", "there is an address but no key",
			"set it to a key for this tenant, or SUPABASE_SERVICE_ROLE_KEY to the project's service-role key")
	}
	name, renew := "SUPABASE_SERVICE_ROLE_KEY", "take the current key from the project"
	if l.cfg.Supabase.TenantKey {
		name, renew = "SUPABASE_KEY", "make another (async-worker token sign --role worker --expires 365d; docs/database.md)"
	}
	l.checkKeyExpiry(name, l.cfg.Supabase.Key, renew+", and restart the worker")
	l.checkKeyExpiry("SUPABASE_ANON_KEY", l.cfg.Supabase.AnonKey, "take the current key from the project, and restart the worker")
	if publicKey(l.cfg.Supabase.Key.Reveal()) {
		l.problem(name, "it is the public (anon or publishable) key, which may not write",
			"use a tenant-scoped key or the service-role (secret) key")
	}
	if httpurl.Exposed(l.cfg.Supabase.URL) {
		l.warn("SUPABASE_URL", "the key travels unencrypted over http", "use https")
	}
}

func (l *loader) warn(name, problem, remedy string) {
	l.cfg.warnings = append(l.cfg.warnings, Problem{name, problem, remedy})
}
