// Package models tests how tasks of all types share one model service: its limits, its refusals and its streams.
package models
