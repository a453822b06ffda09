package main

import (
	"errors"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// calls is the number of calls of back ends among the points.
func calls(points []string) (n int) {
	for _, point := range points {
		if strings.HasSuffix(point, ":before") {
			n++
		}
	}
	return n
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

// resultOf returns the trace's result of a point, "" if it was not met.
func resultOf(trace, point string) string {
	text, err := os.ReadFile(trace)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, point+" "); ok {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}
