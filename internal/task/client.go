package task

import (
	"fmt"
	"regexp"
	"strings"
)

// clientID leaves room for the longest derived name: Azure allows a queue or container 63 characters of lower case,
// digits and single hyphens.
const maxClientID = 28

var clientID = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`)

// ValidClientID returns what is wrong with a client's (tenant's) id, or nil.
func ValidClientID(id string) error {
	switch {
	case id == "":
		return fmt.Errorf("the client id is empty; use 1 to 28 of a-z, 0-9 and -")
	case strings.Contains(id, "--"):
		return fmt.Errorf("the client id %s has two hyphens in a row, which a queue's name can't have; use single ones",
			quote(id))
	case len(id) > maxClientID, !clientID.MatchString(id):
		return fmt.Errorf("the client id %s is not 1 to 28 of a-z, 0-9 and -, beginning and ending with a letter or "+
			"digit", quote(id))
	}
	return nil
}

// Queues are the names of a client's queues.
type Queues struct {
	High, Normal, Low string
	DeadLetter        string
}

// QueueNames returns the names of a client's queues; the id must be a valid one.
func QueueNames(client string) Queues {
	normal := client + "-tasks"
	return Queues{High: normal + "-high", Normal: normal, Low: normal + "-low", DeadLetter: normal + "-deadletter"}
}

// For returns the queue of a priority; the normal queue for an unknown one.
func (q Queues) For(p Priority) string {
	switch p {
	case PriorityHigh:
		return q.High
	case PriorityLow:
		return q.Low
	default:
		return q.Normal
	}
}

// Work lists the queues with tasks, the one to serve first in front.
func (q Queues) Work() []string { return []string{q.High, q.Normal, q.Low} }
