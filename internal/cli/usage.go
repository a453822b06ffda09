package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed-7227ef26/async-worker/internal/config"
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
	if words := cmd.Flags().Args(); cmd.HasSubCommands() && len(words) > 0 { // the flag is the unknown subcommand's
		return needsSubcommand(cmd, words)
	}
	next := cmd.CommandPath() + " --help lists the flags"
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		if near := nearFlags(cmd, unknown.GetSpecifiedName()); len(near) > 0 {
			return &usageError{err, "did you mean --" + strings.Join(near, " or --") + "? " + next}
		}
	}
	invalid, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return &usageError{err, next}
	}
	f := invalid.GetFlag()
	if own, ok := errors.AsType[*usageError](invalid.Unwrap()); ok { // it names the value and knows what to do
		return &usageError{fmt.Errorf("--%s: %w", f.Name, own.err), own.next}
	}
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

// checkName refuses the value of a flag that is not among the known ones; empty: the flag is not given.
func checkName(flag, value string, known []string) error {
	if value == "" || slices.Contains(known, value) {
		return nil
	}
	next := "give one of " + strings.Join(known, ", ")
	near := slices.MinFunc(known, func(a, b string) int {
		return cmp.Compare(config.EditDistance(value, a), config.EditDistance(value, b))
	})
	if config.EditDistance(value, near) < 3 {
		next = "did you mean " + near + "? " + next
	}
	return badUsage(next, "--%s %q is not a %s of dead letters", flag, value, flag)
}

// nearFlags are the flags of a command that a name may mean: one or two letters away, or else those of which it is a part,
// or that are a part of it, between hyphens.
func nearFlags(cmd *cobra.Command, name string) (near []string) {
	var parts []string
	least := 3
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		switch d := config.EditDistance(name, f.Name); {
		case d < least && 2*d < len(name):
			near, least = []string{f.Name}, d
		case d == least && 2*d < len(name):
			near = append(near, f.Name)
		}
		if strings.Contains("-"+name+"-", "-"+f.Name+"-") || strings.Contains("-"+f.Name+"-", "-"+name+"-") {
			parts = append(parts, f.Name)
		}
	})
	if len(near) == 0 && len(parts) <= 3 {
		return parts
	}
	return near
}
