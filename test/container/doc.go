// Package container tests the image of packaging/container/Dockerfile: a container engine runs it as
// packaging/container/compose.yaml does, with Azurite and Postgres on the host, whose network it uses. It needs
// root and some minutes, and is not part of `make test`: `make container-check` builds the image and runs it.
package container
