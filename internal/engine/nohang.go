//go:build !hang

package engine

// hang does nothing but in a build for tests of the watchdog (build tag hang).
func hang() {}
