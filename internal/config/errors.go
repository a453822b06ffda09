package config

import (
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing wrong with the settings. Its texts never hold the value of a secret.
type Problem struct {
	Name    string `json:"name"`    // of the variable
	Problem string `json:"problem"` // what is wrong
	Remedy  string `json:"remedy"`  // what to do
}

func (p Problem) String() string { return p.Name + ": " + p.Problem + "; " + p.Remedy }

// Errors is everything that Load found wrong, in the order of Settings.
type Errors struct {
	Problems []Problem
}

// Has reports whether a setting has a problem.
func (e *Errors) Has(name string) bool {
	return slices.ContainsFunc(e.Problems, func(p Problem) bool { return p.Name == name })
}

func (e *Errors) Error() string {
	if len(e.Problems) == 1 {
		return "configuration: " + e.Problems[0].String()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "configuration: %d problems", len(e.Problems))
	for _, p := range e.Problems {
		b.WriteString("\n  " + p.String())
	}
	return b.String()
}

// fault is a Problem of a setting that is not known yet.
type fault struct{ problem, remedy string }

func (f *fault) Error() string { return f.problem }
