// Package container tests the image of packaging/container/Dockerfile: podman runs it as
// packaging/container/compose.yaml does, and Docker's Compose by that file itself, with Azurite and Postgres on the
// host, whose network they use. It needs root and some minutes, and is not part of `make test`: `make
// container-check` builds the image and runs it.
package container
