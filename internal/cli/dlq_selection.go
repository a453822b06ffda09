package cli

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// selection is the set of dead letters that the flags select.
type selection struct {
	job, kind, class, reason, replayed string
	before                             string
	olderThan, newerThan               ageFlag
	all                                bool
	limit                              int // 0: no limit

	flagged func(name string) bool // whether a flag was given
	empty   func(name string) bool // whether it was given, and with nothing in it
}

// selectingFlags are the flags that select dead letters.
func selectingFlags() []string {
	return []string{"job", "type", "class", "reason", "replayed", "before", "older-than", "newer-than"}
}

func (s *selection) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&s.job, "job", "", "only those of this job")
	f.StringVar(&s.kind, "type", "", "only those of this task type")
	f.StringVar(&s.class, "class", "", "only those of this error class, e.g. validation_error")
	f.StringVar(&s.reason, "reason", "",
		"only those for this reason, e.g. exhausted, permanent, timeout, malformed, conflict")
	f.StringVar(&s.replayed, "replayed", "", "only replayed ones (yes), or only the others (no)")
	f.StringVar(&s.before, "before", "", "only those created before this time, e.g. 2026-03-01T12:00:00Z")
	f.Var(&s.olderThan, "older-than", "only those at least this old, e.g. 90m, 36h or 7d")
	f.Var(&s.newerThan, "newer-than", "only those at most this old")
	s.flagged = cmd.Flags().Changed
	s.empty = func(name string) bool { return f.Changed(name) && f.Lookup(name).Value.String() == "" }
}

// addBulkFlags is for commands that change the selected dead letters.
func (s *selection) addBulkFlags(cmd *cobra.Command) {
	s.addFlags(cmd)
	cmd.Flags().BoolVar(&s.all, "all", false, "all dead letters, if no other flag selects")
	cmd.Flags().IntVarP(&s.limit, "limit", "n", 0, "the maximum number, the oldest first; 0: no limit")
}

func (s *selection) filter(now time.Time) (store.DeadLetterFilter, error) {
	f := store.DeadLetterFilter{JobID: s.job, Type: s.kind, Class: s.class, Reason: s.reason, Replayed: s.replayed}
	if !slices.Contains([]string{"", "yes", "no"}, s.replayed) {
		return f, badUsage("give yes or no", "--replayed %q is neither yes nor no", s.replayed)
	}
	err := s.checkNames()
	if err != nil {
		return f, err
	}
	if f.Before, err = parseTime("before", s.before); err != nil {
		return f, err
	}
	if s.olderThan > 0 {
		if at := now.Add(-time.Duration(s.olderThan)); f.Before.IsZero() || at.Before(f.Before) {
			f.Before = at
		}
	}
	if s.newerThan > 0 {
		f.Since = now.Add(-time.Duration(s.newerThan))
	}
	return f, nil
}

// checkNames refuses a reason and a class that no dead letter has: a list of none would look like an answer. Any message
// can name a type.
func (s *selection) checkNames() error {
	known := flagValues()
	if err := checkName("class", s.class, known["class"]); err != nil {
		return err
	}
	// a claim check whose blob can't be read has its error class for a reason
	if slices.Contains(known["class"], s.reason) {
		return nil
	}
	return checkName("reason", s.reason, known["reason"])
}

// check wants an explicit selection.
func (s *selection) check(ids []string) error {
	const help = "give ids, flags such as --type, --class, --reason or --older-than, or --all"
	narrowed := slices.ContainsFunc(selectingFlags(), s.flagged)
	if i := slices.IndexFunc(selectingFlags(), s.empty); i >= 0 { // as of a shell's variable that is not set: it selects all
		return badUsage("give it a value, or leave it out; --all selects all dead letters", "--%s is empty", selectingFlags()[i])
	}
	switch {
	case s.limit < 0:
		return badUsage("give 0 or more", "--limit %d is out of range", s.limit)
	case len(ids) > 0 && (narrowed || s.all || s.limit > 0):
		return badUsage(help, "ids can't be combined with flags that select")
	case len(ids) == 0 && !narrowed && !s.all:
		return badUsage(help, "no dead letters are selected")
	}
	return nil
}

// choose returns the selected dead letters, the oldest first, without their messages to save memory. unknown is
// what to do about an id that there is not.
func (s *selection) choose(
	ctx context.Context, r store.Reader, ids []string, f store.DeadLetterFilter, unknown string,
) ([]store.DeadLetter, error) {
	var chosen []store.DeadLetter
	for i, id := range ids {
		if slices.Contains(ids[:i], id) {
			continue
		}
		d, err := r.DeadLetter(ctx, id)
		if errors.Is(err, store.ErrNotFound) {
			return nil, &failure{"find dead letter " + strconv.Quote(id), unknown, &notFoundError{err}}
		}
		if err != nil {
			return nil, &failure{"find dead letter " + strconv.Quote(id), nextStore, err}
		}
		d.Original = ""
		chosen = append(chosen, d)
	}
	if len(ids) == 0 {
		f.Brief = true
		for d, err := range store.WalkDeadLetters(ctx, r, f) {
			if err != nil {
				return nil, &failure{"list dead letters", nextStore, err}
			}
			d.Original = "" // an older database sends it
			chosen = append(chosen, d)
		}
		slices.Reverse(chosen)
	}
	if s.limit > 0 && len(chosen) > s.limit {
		chosen = chosen[:s.limit]
	}
	return chosen, nil
}

// ageFlag is a duration that may also be in days.
type ageFlag time.Duration

func (a *ageFlag) String() string { return time.Duration(*a).String() }
func (*ageFlag) Type() string     { return "age" }

func (a *ageFlag) Set(text string) error {
	days, ok := strings.CutSuffix(text, "d")
	d, err := time.ParseDuration(text)
	if n, bad := strconv.ParseUint(days, 10, 16); ok && bad == nil {
		d, err = time.Duration(n)*24*time.Hour, nil
	}
	if err != nil || d <= 0 {
		return badUsage("write it like 90m, 36h or 7d", "%q is not an age", text)
	}
	*a = ageFlag(d)
	return nil
}
