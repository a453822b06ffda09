// Package boot tests the installed package: a real Debian 12 and a real Debian 13, each booted with systemd as PID
// 1 in a container (debootstrap, systemd-nspawn), with tenants whose Azurite, Postgres, PostgREST, model and
// webhook receiver are on the host, whose network the container uses. They need root and some minutes, and are not
// part of `make test`: `make boot-test` runs them, and each prints its measurements.
package boot
