// Package e2e tests the whole program from outside: the daemon as a child process, real Azurite, PostgREST and
// Postgres, messages of foreign clients, and a receiver of webhooks that checks signatures with the reference
// library.
package e2e
