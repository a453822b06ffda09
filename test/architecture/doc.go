// Package architecture has no code of its own: its tests hold the repository to its plan, the direction
// of imports, the size of files and a comment for every package. rules_test.go is the plan as a table.
package architecture
