// Package pattern has regular expressions that are compiled when they are first used. There is a process for each
// tenant, most of them idle, and hundreds of expressions that only some documents need. Size measures those from outside.
package pattern

import (
	"regexp"
	"sync"
)

// Pattern is a regular expression; its methods are those of regexp.Regexp.
type Pattern struct{ compiled func() *regexp.Regexp }

// New returns the pattern of an expression. Its first use panics if the expression is wrong, as regexp.MustCompile does.
func New(expression string) *Pattern {
	return &Pattern{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })}
}

// Match reports whether b contains a match.
func (p *Pattern) Match(b []byte) bool { return p.compiled().Match(b) }

// FindSubmatch returns the first match in b and its groups.
func (p *Pattern) FindSubmatch(b []byte) [][]byte { return p.compiled().FindSubmatch(b) }

// MatchString reports whether s contains a match.
func (p *Pattern) MatchString(s string) bool { return p.compiled().MatchString(s) }

// FindString returns the first match in s.
func (p *Pattern) FindString(s string) string { return p.compiled().FindString(s) }

// FindStringIndex returns where the first match in s is.
func (p *Pattern) FindStringIndex(s string) []int { return p.compiled().FindStringIndex(s) }

// FindStringSubmatch returns the first match in s and its groups.
func (p *Pattern) FindStringSubmatch(s string) []string { return p.compiled().FindStringSubmatch(s) }

// FindStringSubmatchIndex returns where the first match in s and its groups are.
func (p *Pattern) FindStringSubmatchIndex(s string) []int {
	return p.compiled().FindStringSubmatchIndex(s)
}

// FindAllString returns the first n matches in s, all if n is negative.
func (p *Pattern) FindAllString(s string, n int) []string { return p.compiled().FindAllString(s, n) }

// FindAllStringIndex returns where they are.
func (p *Pattern) FindAllStringIndex(s string, n int) [][]int {
	return p.compiled().FindAllStringIndex(s, n)
}

// FindAllStringSubmatch returns them with their groups.
func (p *Pattern) FindAllStringSubmatch(s string, n int) [][]string {
	return p.compiled().FindAllStringSubmatch(s, n)
}

// FindAllStringSubmatchIndex returns where they and their groups are.
func (p *Pattern) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return p.compiled().FindAllStringSubmatchIndex(s, n)
}

// ReplaceAllString returns s with each match replaced; $1 is the match's first group.
func (p *Pattern) ReplaceAllString(s, by string) string { return p.compiled().ReplaceAllString(s, by) }

// ReplaceAllStringFunc returns s with each match replaced by what the function makes of it.
func (p *Pattern) ReplaceAllStringFunc(s string, by func(string) string) string {
	return p.compiled().ReplaceAllStringFunc(s, by)
}

// Split returns the parts of s between the first n matches, all if n is negative.
func (p *Pattern) Split(s string, n int) []string { return p.compiled().Split(s, n) }
