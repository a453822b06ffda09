package config

import (
	"encoding/base64"
	"errors"
	"net/url"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/azure/connstring"
	"github.com/seed-7227ef26/async-worker/internal/store/databaseurl"
)

// connectionParts returns the parts of a storage connection string. It reports whether all are Name=Value.
func connectionParts(s string) (parts map[string]string, ok bool) {
	parts = map[string]string{}
	for part := range strings.SplitSeq(strings.TrimRight(s, ";"), ";") {
		name, value, ok := strings.Cut(part, "=")
		if !ok {
			return nil, false
		}
		parts[name] = value
	}
	return parts, true
}

// connectionString checks what both SDK clients need, as opening them does. Faults never quote a part of it. The remedy
// of a signature is another one: the account's key would give its owner every right.
func connectionString(c *Config, s string) *fault {
	remedy := "copy it whole from the storage account's page \"Access keys\" " +
		"(DefaultEndpointsProtocol=…;AccountName=…;AccountKey=…)"
	parts, ok := connectionParts(s)
	if parts["SharedAccessSignature"] != "" || strings.Contains(strings.ToLower(s), "sharedaccesssignature=") {
		remedy = "set it to BlobEndpoint=https://…;QueueEndpoint=https://…;SharedAccessSignature=sv=… (docs/azure.md says " +
			"how to issue one)"
	}
	if !ok {
		return &fault{"a part of it is not Name=Value", remedy}
	}
	switch {
	case strings.EqualFold(parts["UseDevelopmentStorage"], "true"): // connstring expands it
	case parts["SharedAccessSignature"] != "":
		if parts["QueueEndpoint"] == "" || parts["BlobEndpoint"] == "" {
			return &fault{"it has a SharedAccessSignature but not both QueueEndpoint and BlobEndpoint", remedy}
		}
	case parts["AccountName"] == "":
		return &fault{"it names no AccountName", remedy}
	case parts["AccountKey"] == "":
		return &fault{"it holds neither AccountKey nor SharedAccessSignature", remedy}
	default:
		if _, err := base64.StdEncoding.DecodeString(parts["AccountKey"]); err != nil {
			return &fault{"its AccountKey is not base64: was it cut off?", remedy}
		}
	}
	if _, err := connstring.Parse(s); err != nil {
		return &fault{err.Error(), remedy}
	}
	c.Azure.ConnectionString = NewSecret(s)
	return nil
}

// databaseURL checks the form, and the values that the driver does not take. Faults never quote the value.
func databaseURL(c *Config, s string) *fault {
	if strings.Contains(s, "://") {
		u, err := url.Parse(s)
		switch {
		case err != nil:
			return &fault{"it is not a URL", databaseurl.Form}
		case u.Scheme != "postgres" && u.Scheme != "postgresql":
			return &fault{"it does not begin with postgresql://", databaseurl.Form}
		case u.Hostname() == "" && u.Query().Get("host") == "":
			return &fault{"it names no host", databaseurl.Form}
		}
	} else if !strings.Contains(s, "=") {
		return &fault{"it is not a Postgres connection string", databaseurl.Form}
	}
	_, err := databaseurl.Pool(s)
	if bad, ok := errors.AsType[*databaseurl.Error](err); ok && !bad.OfMachine {
		return &fault{bad.Problem, bad.Remedy}
	}
	c.DatabaseURL = NewSecret(s)
	return nil
}

// checkDatabaseFiles looks for the files that DATABASE_URL names. Who is not the worker may lack some that it has: those of
// another root folder, of its unit's credentials, or named by its own PG… variables.
func (l *loader) checkDatabaseFiles() {
	if !l.given("DATABASE_URL") || !l.fine("DATABASE_URL") {
		return
	}
	_, err := databaseurl.Pool(l.cfg.DatabaseURL.Reveal())
	bad, ok := errors.AsType[*databaseurl.Error](err)
	switch {
	case !ok:
	case l.src.Hidden != nil:
		l.warn("DATABASE_URL", bad.Problem+" here", "make sure that the worker has it; else "+bad.Remedy)
	default:
		l.problem("DATABASE_URL", bad.Problem, bad.Remedy)
	}
}
