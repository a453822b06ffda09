package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
)

func (c *crasher) liveOn(ctx context.Context, t *tenant, env []string, log *string) ([]string, error) {
	if err := t.expireClaims(ctx); err != nil {
		return nil, err
	}
	p, err := start(ctx, c.file, env)
	if err != nil {
		return nil, err
	}
	drained := t.drainOrHooks(ctx, recovery, p.Done())
	err = p.end()
	*log += "next life:\n" + p.log.String()
	switch code := p.code(); {
	case errors.Is(drained, errNotDrained):
		return []string{"I1 " + drained.Error()}, err
	case drained != nil || err != nil:
		return nil, errors.Join(drained, err)
	case code != 0 && code != endedAtStart:
		return []string{fmt.Sprintf("a process that got SIGTERM exits with %d, want 0", code)}, nil
	}
	return nil, nil
}

// endedAtStart is the exit code of a process that got SIGTERM before it handled signals.
const endedAtStart = 128 + int(syscall.SIGTERM)

// calls is the number of calls of back ends among the points.
func calls(points []string) (n int) {
	for _, point := range points {
		if strings.HasSuffix(point, ":before") {
			n++
		}
	}
	return n
}

func deaths(died bool) int {
	if died {
		return 1
	}
	return 0
}

// idle are points that are met by chance while there is nothing to do; only the first two of each are walked.
var idle = regexp.MustCompile(`^(queue\.Receive\[|store\.ClaimDeliveries|store\.ExtendDeliveries|store\.Sweep|store\.Canceling).*#(\d+):`)

// met reads the points of a trace, each once.
func met(trace string) ([]string, error) {
	text, err := os.ReadFile(trace)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var points []string
	seen := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		point, _, _ := strings.Cut(line, " ")
		if m := idle.FindStringSubmatch(point); m != nil {
			if n, err := strconv.Atoi(m[2]); err != nil || n > 2 {
				continue
			}
		}
		if !seen[point] {
			seen[point] = true
			points = append(points, point)
		}
	}
	return points, nil
}
