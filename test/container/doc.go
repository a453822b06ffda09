// Package container has the test of the image that packaging/container/Dockerfile makes: a container engine runs it as
// packaging/container/compose.yaml does, against Azurite and Postgres on the host, whose network it has. It needs root
// and some minutes, and is not part of `make test`: `make container-check` builds the image and runs it.
package container
