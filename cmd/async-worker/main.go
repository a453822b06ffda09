// Command async-worker does the document tasks of one tenant: the daemon (`run`) and the commands of
// the people around it. One file for each subcommand; internal/app does the wiring.
package main

import (
	"context"
	"os"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
}
