// Package architecture checks the repository's structure: the direction of imports, the size of files and a comment
// for every package. rules_test.go has the rules as a table.
package architecture
