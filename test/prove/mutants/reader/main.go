// Command reader reads files as the worker does, one for each line on its standard input. It is a process of its
// own so that a panic, a hang and its memory can be observed from outside.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/seed-7227ef26/async-worker/test/prove/mutants"
)

func main() {
	if err := mutants.Serve(context.Background(), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "reader:", err)
		os.Exit(1)
	}
}
