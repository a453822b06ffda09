package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Checks of a command's arguments, with messages for operators instead of cobra's.

// noArgs is for a command without arguments.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return badUsage(usageHint(cmd), "%s takes no arguments, got %q", nameOf(cmd), args[0])
}

// oneArg is for a command with one argument, described by what.
func oneArg(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch len(args) {
		case 0:
			return badUsage(usageHint(cmd), "%s needs %s", nameOf(cmd), what)
		case 1:
			return nil
		}
		return badUsage(usageHint(cmd), "%s takes only %s, got also %q", nameOf(cmd), what, args[1])
	}
}

// someArgs is for a command with one or more arguments, described by what.
func someArgs(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return nil
		}
		return badUsage(usageHint(cmd), "%s needs %s", nameOf(cmd), what)
	}
}

// needsSubcommand is for a command that only groups others.
func needsSubcommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	next := cmd.CommandPath() + " --help lists the commands"
	for slips := 1; slips <= 2; slips++ {
		cmd.SuggestionsMinimumDistance = slips
		if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
			next = "did you mean " + cmd.CommandPath() + " " + strings.Join(near, " or ") + "?"
			break
		}
	}
	if !cmd.HasParent() {
		return badUsage(next, "there is no command %q", args[0])
	}
	return badUsage(next, "%s has no command %q", nameOf(cmd), args[0])
}

// nameOf is a command's name without the program's, which precedes every error.
func nameOf(cmd *cobra.Command) string {
	return strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
}

func usageHint(cmd *cobra.Command) string {
	return "usage: " + cmd.UseLine() + "; " + cmd.CommandPath() + " --help shows more"
}

// wrongFlag turns pflag's error into a usageError.
func wrongFlag(cmd *cobra.Command, err error) error {
	next := cmd.CommandPath() + " --help lists the flags"
	invalid, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return &usageError{err, next}
	}
	f := invalid.GetFlag()
	why := invalid.Unwrap().Error()
	switch f.Value.Type() {
	case "int", "int64":
		why = "it is not a whole number"
		if e, ok := errors.AsType[*strconv.NumError](err); ok && errors.Is(e, strconv.ErrRange) {
			why = "the number is too large"
		}
	case "duration":
		why = "it is not a duration, such as 90s, 15m or 24h"
	case "bool":
		why = "it is neither true nor false"
	}
	return &usageError{fmt.Errorf("--%s %q: %s", f.Name, invalid.GetValue(), why), next}
}
