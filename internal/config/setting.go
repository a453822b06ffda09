package config

import "strings"

// Group is a set of settings that a kind of work needs; groups are joined with |.
type Group uint

// The groups.
const (
	Tenant   Group = 1 << iota // who: CLIENT_ID
	Queue                      // the queues
	Blob                       // the container
	Store                      // the tables, through Supabase or Postgres
	Database                   // Postgres itself: DATABASE_URL is required
	Schema                     // what the SQL depends on
	Models                     // embeddings and chat
	Extract                    // what reads documents
	Worker                     // concurrency, leases, retries, timeouts
	Webhooks                   // signing and guarding
	Publish                    // where lifecycle events go
	Cognee                     // where documents go
	HTTP                       // health and metrics
	Log                        // level and format

	// All is what `run` and `check-config` need.
	All = Tenant | Queue | Blob | Store | Schema | Models | Extract | Worker | Webhooks | Publish | Cognee | HTTP |
		Log
)

// Setting is a row of the table.
type Setting struct {
	Name    string // of the variable, of the credential, and (with _FILE) of the variable that names a file
	Default string // as a user would write it; empty: none
	Shown   string // the default in words, if it is computed and Default is empty
	Unit    string // empty: none
	Help    string // one sentence without a full stop
	Secret  bool   // it has no flag and is never shown
	Live    bool   // a reload applies it; otherwise a change needs a restart
	Groups  Group  // it is read when one of them is requested

	Values []string // all that it can be, in any case; empty: they can't be listed

	choice func(c *Config) *string // the field, for one of Values
	later  []string                // values that the documents announce for later versions
	parse  parser                  // Settings makes that of a choice
}

// Flag returns the name of the command-line flag without its dashes; empty for a secret, which would be readable in
// the list of processes.
func (s Setting) Flag() string {
	if s.Secret {
		return ""
	}
	return strings.ReplaceAll(strings.ToLower(s.Name), "_", "-")
}

// Subjects returns the headings of the settings, in the order of the documents.
func Subjects() []string {
	return []string{
		subjectTenant, subjectStorage, subjectDatabase, subjectModels, subjectDocuments, subjectGateway, subjectPII,
		subjectWork,
		subjectWebhooks, subjectEvents, subjectCognee, subjectHealth, subjectLog,
	}
}

const (
	subjectTenant    = "Tenant"
	subjectStorage   = "Storage account"
	subjectDatabase  = "Database"
	subjectModels    = "Models"
	subjectDocuments = "Reading documents"
	subjectPII       = "Personal data"
	subjectGateway   = "XML of invoices"
	subjectWork      = "Work"
	subjectWebhooks  = "Webhooks"
	subjectEvents    = "Lifecycle events"
	subjectCognee    = "Cognee"
	subjectHealth    = "Health, metrics and traces"
	subjectLog       = "Log"
)

// Subject returns the one of Subjects that the setting belongs to.
func (s Setting) Subject() string {
	switch {
	case strings.HasPrefix(s.Name, "PII_"):
		return subjectPII
	case strings.HasPrefix(s.Name, "OTEL_"):
		return subjectHealth
	case strings.HasPrefix(s.Name, "EVENTS_"):
		return subjectEvents
	case strings.HasPrefix(s.Name, "GATEWAY_"), strings.HasPrefix(s.Name, "CHECK_"):
		return subjectGateway
	}
	for _, by := range []struct {
		group   Group
		subject string
	}{
		{Tenant, subjectTenant},
		{Log, subjectLog},
		{HTTP, subjectHealth},
		{Webhooks, subjectWebhooks},
		{Publish, subjectEvents},
		{Cognee, subjectCognee},
		{Models, subjectModels},
		{Extract, subjectDocuments},
		{Worker, subjectWork},
		{Store | Database | Schema, subjectDatabase},
	} {
		if s.Groups&by.group != 0 {
			return by.subject
		}
	}
	return subjectStorage
}

// DefaultText returns the default for the documents.
func (s Setting) DefaultText() string {
	switch {
	case s.Default != "":
		return s.Default
	case s.Shown != "":
		return s.Shown
	}
	return "none"
}

// Settings returns the table, in the order of the documents.
func Settings() []Setting {
	var all []Setting
	for _, part := range [][]Setting{services(), models(), documents(), gateways(), worker(), outside()} {
		all = append(all, part...)
	}
	for i, s := range all {
		if s.choice != nil {
			all[i].parse = oneOf(s.choice, s.Values, s.later)
		}
	}
	return all
}
