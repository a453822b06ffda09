// Package databaseurl parses DATABASE_URL, as a URL or as keyword=value pairs. An error says which part is wrong, and
// quotes neither the URL nor a value: pgx's errors may hold a part of a password that is not escaped.
package databaseurl

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Error says what is wrong with DATABASE_URL.
type Error struct {
	Problem string // such as: the file /etc/ssl/db.crt of its sslrootcert does not exist
	Remedy  string
	// OfMachine is the fault of a file that is not there, or not as it should be: on another machine it may be.
	OfMachine bool
}

func (e *Error) Error() string { return "DATABASE_URL: " + e.Problem + "; " + e.Remedy }

// Form is the remedy of what is not of the form of a URL.
const Form = "set it to postgresql://USER:PASSWORD@HOST:5432/DATABASE (special characters of the password percent-encoded)"

// Pool parses the URL for a pool of connections. An error is an *Error.
func Pool(url string) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, explain(err)
	}
	return config, nil
}

// Conn parses the URL for one connection. An error is an *Error.
func Conn(url string) (*pgx.ConnConfig, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, explain(err)
	}
	return config, nil
}

// known are causes by a phrase of pgx that quotes nothing.
var known = []struct {
	phrase, problem, remedy string
	ofMachine               bool
}{
	{
		"sslmode is invalid", "its sslmode is not one that there is",
		"use disable, allow, prefer, require, verify-ca or verify-full, in it or in PGSSLMODE", false,
	},
	{`both "sslcert" and "sslkey"`, "it has only one of sslcert and sslkey", "give both, or neither", true},
	{
		"unable to add CA", "the file of its sslrootcert holds no certificate",
		"put the authority's certificate (PEM) there, or correct the path", true,
	},
	{"failed to decode sslkey", "the file of its sslkey holds no key", "put the key (PEM) of the sslcert there", true},
	{"decrypt key", "the key of its sslkey can't be decrypted", "correct the sslpassword", true},
	{"sslpassword", "the key of its sslkey is encrypted, and there is no sslpassword", "add the sslpassword", true},
	{"unable to load cert", "its sslcert and sslkey do not belong together", "use the key (PEM) of that certificate", true},
	{
		"failed to read service", "the service that it or PGSERVICE names is in no file that can be read",
		"correct service and servicefile, or write the address itself", true,
	},
	{
		"invalid port", "its port is not a number from 1 to 65535",
		"correct the port; if there is none, percent-encode the special characters of the password", false,
	},
	{"port numbers", "it has more ports than hosts", "give one port, or one for each host", false},
	{"in password", "its password has a space or a % that is not percent-encoded", "write %20 for a space and %25 for a %", false},
}

// parameters are those whose value may be wrong.
var parameters = []string{
	"pool_max_conns", "pool_min_conns", "pool_min_idle_conns", "pool_max_conn_lifetime", "pool_max_conn_lifetime_jitter",
	"pool_max_conn_idle_time", "pool_health_check_period", "pool_ping_timeout", "default_query_exec_mode",
	"statement_cache_capacity", "description_cache_capacity", "connect_timeout", "sslcertmode", "target_session_attrs",
	"channel_binding", "require_auth", "min_protocol_version", "max_protocol_version",
}

// explain turns pgx's error into an *Error.
func explain(err error) *Error {
	if file, ok := errors.AsType[*fs.PathError](err); ok {
		return explainFile(file, err.Error())
	}
	what := err.Error()
	what = what[strings.LastIndex(what, "`: ")+1:] // before it is the URL
	for _, k := range known {
		if strings.Contains(what, k.phrase) {
			return &Error{k.problem, k.remedy, k.ofMachine}
		}
	}
	words := strings.FieldsFunc(what, func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') })
	for _, word := range words[:min(3, len(words))] {
		if slices.Contains(parameters, word) {
			return &Error{
				Problem: "its parameter " + word + " has a value that can't be used",
				Remedy:  "correct it or leave it out; the driver, pgx, documents its values",
			}
		}
	}
	return &Error{Problem: "it is not a Postgres connection string", Remedy: Form}
}

// explainFile is of a file that the URL names, or a variable such as PGSSLROOTCERT.
func explainFile(file *fs.PathError, text string) *Error {
	parameter := "sslcert"
	switch {
	case strings.Contains(text, "unable to read CA file"):
		parameter = "sslrootcert"
	case strings.Contains(text, "unable to read sslkey"):
		parameter = "sslkey"
	}
	return &Error{
		fmt.Sprintf("the file %s of its %s %s", file.Path, parameter, whyUnread(file.Err)),
		"correct the path, or put the file where the worker's user can read it, such as below /etc/ssl", true,
	}
}

func whyUnread(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "does not exist"
	case errors.Is(err, fs.ErrPermission):
		return "may not be read by this user"
	}
	return "can't be read: " + err.Error()
}
