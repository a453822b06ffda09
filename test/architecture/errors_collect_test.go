package architecture_test

import (
	"cmp"
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// sentence is an error of the program, as in the code; … stands for variable parts. class is that of a task's error, the
// code of an answer, or the name of a setting.
type sentence struct{ class, text, remedy, where string }

// collector has the sentences, by who reads them.
type collector struct {
	tasks     []sentence        // taskerr.Error
	messages  []sentence        // task.Invalid
	settings  []sentence        // problems of the settings
	usage     []sentence        // of command lines
	answers   []sentence        // of the API, the dashboard and the proxy
	commands  []sentence        // of what a command or the start of the worker was doing
	causes    []sentence        // errors that end a sentence of others
	database  []sentence        // of the database's functions, by SQLSTATE
	lines     []sentence        // of the log
	doctor    []sentence        // what doctor fails or warns about
	byClass   map[string]string // the engine's hints
	knownNext map[string]string // what to do about a declared error, by its name
	noAnswer  string            // what doctor says of a service that is silent
}

// collect finds the sentences of the program.
func collect(t *testing.T) *collector {
	t.Helper()
	r := &raiser{t: t, reader: reader{code: program(t), used: map[ast.Node]bool{}, texts: map[ast.Expr][]string{}}}
	c := &collector{byClass: r.hints(), knownNext: r.verdicts()}
	raises := r.all()
	for _, e := range slices.Concat(raises, r.ofTypes()) {
		c.add(e)
	}
	for u := range r.packages {
		c.declared(r, r.packages[u])
	}
	c.sql(t, r.constant("internal/doctor", "migrate"))
	c.noAnswer = r.constant("internal/doctor", "unanswered")
	c.flags(t)
	c.dropParts(r.parts())
	c.doctor = merged(c.doctor)
	c.settings, c.usage = dropOpen(c.settings), dropOpen(c.usage)
	return c
}

// add sorts an error by its type.
func (c *collector) add(e raised) {
	f := e.fields
	s := sentence{where: e.path}
	into := &c.causes
	if folder := path.Dir(e.path); folder == "internal/cli" || folder == "internal/app" || folder == "internal/tenants" {
		into = &c.commands
	}
	switch e.of {
	case "internal/taskerr.Error":
		into, s.class, s.text, s.remedy = &c.tasks, f["Class"], f["Message"], f["Hint"]
	case "internal/task.Invalid":
		into, s.text, s.remedy = &c.messages, cmp.Or(f["Field"], "the message")+" "+f["Problem"], f["Remedy"]
		if strings.Trim(f["Problem"], "… ") == "" {
			return
		}
	case "internal/api.Problem", "internal/front.problem":
		into, s.class, s.text = &c.answers, f["Code"], f["Detail"]
	case answered:
		into, s.text = &c.answers, f[whole]
	case logged:
		into, s.text, s.remedy = &c.lines, f[whole], f["Remedy"]
	case "internal/dashboard.login":
		into, s.text = &c.answers, f["Error"]
	case "internal/store.Finding":
		into, s.text, s.remedy = &c.doctor, "a finding of the database: …: "+f["Problem"], f["Mend"]
		if strings.Trim(f["Problem"], "… ") == "" {
			return
		}
	case "internal/httpd.Check":
		into, s.text = &c.causes, f["Name"]+": "+f["Hint"]
		if !worded.MatchString(f["Hint"]) {
			return
		}
	case "internal/config.Problem":
		into, s.class, s.text, s.remedy = &c.settings, f["Name"], f["Problem"], f["Remedy"]
	case "internal/config.fault":
		into, s.text, s.remedy = &c.settings, f["problem"], f["remedy"]
	case "internal/cli.usageError":
		into, s.text, s.remedy = &c.usage, f["err"], f["next"]
	case "internal/doctor.Result":
		if state := f["State"]; state != "fail" && state != "warn" {
			return
		}
		into, s.text, s.remedy = &c.doctor, f["Check"]+": "+f["Seen"], f["Remedy"]
	case "internal/cli.failure", "internal/app.ServiceError":
		into, s.text, s.remedy = &c.commands, f["doing"]+": "+f["err"], f["next"]
	default:
		s.text, s.remedy = f[whole], f["Remedy"]
		if !worded.MatchString(s.text) {
			return
		}
	}
	if into != &c.lines { // they say what the worker does
		s = s.split()
	}
	if into != &c.settings && into != &c.usage && strings.Trim(s.remedy, "… ") == "" {
		s.remedy = "" // the class, the cause or the action has it
	}
	if !c.empty(s, into) && !s.again() {
		*into = append(*into, s)
	}
}

var (
	// action is what failed, without why: "open the blob: …".
	action = regexp.MustCompile(`^[^:;]*(: …)+$`)
	// claim is what is wrong, with a cause behind it: "the response is not a worker's: …".
	claim = regexp.MustCompile(`^(the|a|an|its|it|this|there|element|landlock) `)
	// cause follows what to do: "is it running?: dial: …".
	cause = regexp.MustCompile(`(: [^:?]*)?: …$| \([^()]*…\)$`)
	// onService is an action on a queue, a container or a folder, which precedes the errors of all classes.
	onService = regexp.MustCompile(`^(create|delete|extend|get|list|look|open|peek|read|receive|release|remove|send|write)[ :]`)
)

// empty reports whether a text says nothing by itself.
func (c *collector) empty(s sentence, into *[]sentence) bool {
	if strings.Trim(s.text, "… :;()\"-") == "" || strings.Contains(s.text+" ", "  ") { // a part of it is empty
		return true
	}
	if s.remedy != "" || !action.MatchString(s.text) || claim.MatchString(s.text) {
		return false
	}
	return into == &c.commands || into == &c.causes || into == &c.doctor || into == &c.tasks && onService.MatchString(s.text)
}

// split parts what to do from a text that says it.
func (s sentence) split() sentence {
	if strings.Trim(s.remedy, "… ") != "" {
		return s
	}
	for i := range s.text {
		text, remedy := s.text[:i], s.text[i:]
		whole := strings.Count(text, "(") == strings.Count(text, ")")
		if strings.HasPrefix(remedy, "; ") && !strings.HasPrefix(remedy, "; else ") && whole && worded.MatchString(text) {
			s.text, s.remedy = text, cause.ReplaceAllString(remedy[len("; "):], "")
			break
		}
	}
	return s
}

// again reports whether a sentence begins with the same action twice: a variable that has its own former text in it.
func (s sentence) again() bool {
	for i := range s.text {
		if strings.HasPrefix(s.text[i:], ": "+s.text[:i]+": ") {
			return i > 0 && s.text[:i] != "…"
		}
	}
	return false
}

// lacks reports whether nothing says what to do.
func (s sentence) lacks() bool { return strings.Trim(s.remedy, "… :") == "" }

// declared adds what to do about the errors that a package declares.
func (c *collector) declared(r *raiser, u *unit) {
	for name := range u.variables {
		next := c.knownNext[path.Base(u.folder)+"."+name]
		text := bare(r.declared(u, name)[0])
		for i, s := range c.causes {
			if next != "" && s.text == text && path.Dir(s.where) == u.folder {
				c.causes[i].remedy = next
			}
		}
	}
}

// dropParts removes errors that are only a part of other sentences, which show them.
func (c *collector) dropParts(parts map[string]bool) {
	whole := func(other, s sentence) bool { return !other.lacks() && strings.HasSuffix(other.text, ": "+s.text) }
	shown := slices.Concat(c.tasks, c.messages, c.settings, c.usage, c.answers, c.commands, c.causes)
	part := func(s sentence) bool {
		return (parts[s.text] || s.lacks()) && slices.ContainsFunc(shown, func(other sentence) bool {
			return other.text+other.remedy != s.text+s.remedy && path.Dir(other.where) == path.Dir(s.where) &&
				strings.Contains(other.text, s.text) && (parts[s.text] || whole(other, s))
		})
	}
	c.commands, c.causes = slices.DeleteFunc(c.commands, part), slices.DeleteFunc(c.causes, part)
}

// merged has one sentence for those that differ only in the check, if there are many.
func merged(all []sentence) []sentence {
	const many = 4
	checks := map[string]int{}
	rest := func(s sentence) string { _, text, _ := strings.Cut(s.text, ": "); return text + "\x00" + s.remedy }
	for _, s := range all {
		checks[rest(s)]++
	}
	for i, s := range all {
		if _, text, ok := strings.Cut(s.text, ": "); ok && checks[rest(s)] >= many {
			all[i].text = "several checks: " + text
		}
	}
	return all
}

// dropOpen removes sentences whose end and remedy come from elsewhere: other rows have them.
func dropOpen(all []sentence) []sentence {
	return slices.DeleteFunc(all, func(s sentence) bool {
		return s.lacks() && s.remedy != "" && (strings.HasSuffix(s.text, "…") || strings.HasSuffix(s.text, "(from …)") ||
			slices.ContainsFunc(all, func(other sentence) bool { return other.text == s.text && !other.lacks() }))
	})
}

// parts are the texts of errors that others have in them.
func (r *raiser) parts() map[string]bool {
	texts := map[string]bool{}
	for _, f := range r.functions {
		for _, node := range f.body {
			ast.Inspect(node, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok && r.used[call] {
					for _, text := range r.made(call, f) {
						texts[sentence{text: bare(text)}.split().text] = true
					}
				}
				_, literal := n.(*ast.FuncLit)
				return !literal
			})
		}
	}
	return texts
}
