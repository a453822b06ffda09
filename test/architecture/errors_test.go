package architecture_test

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/test/generated"
)

// meant has the remedies for the classes of which the engine has no hint, since they don't require a change of the
// worker.
func meant() map[string]string {
	const again = "the same id with the same payload is the same task, so send it under a new task_id or with " +
		"hints.force"
	return map[string]string{
		"content_missing":     "The document is missing or has no text: upload it; " + again,
		"corruption_detected": "The document is damaged or protected: repair it, then upload it; " + again,
		"quota_exceeded": "It is larger than allowed: split it, or raise the limit if the sentence names " +
			"a setting; " + again,
		"unsupported_format": "Convert the document to a format that is read, and upload it; " + again,
		"validation_error":   "The message requests what can't be done: correct it and send it under a new task_id",
		"worker_lost": "Each attempt lost its worker: find out why in its log and the kernel's (killed, out " +
			"of memory), and replay the dead letter",
		"wait_exceeded": "A service was down for longer than WAIT_MAX_HOURS: repair it, and replay the dead letter",
	}
}

// TestErrorList: each error of a task, a message, a setting, a command line, a command or an answer is in
// docs/errors.md, with a remedy if somebody has to act.
func TestErrorList(t *testing.T) {
	t.Parallel()
	c := collect(t)
	for of, n := range map[string][2]int{"the database": {len(c.database), 90}, "doctor": {len(c.doctor), 300}} {
		if n[0] < n[1] {
			t.Errorf("found %d sentences of %s, want %d or more: the search is broken", n[0], of, n[1])
		}
	}
	ofCause := slices.DeleteFunc(slices.Clone(c.tasks), func(s sentence) bool { return s.class != "…" })
	for _, s := range slices.Concat(ofCause, c.usage, c.settings, c.doctor, c.answers, c.commands, c.lines) {
		if s.lacks() && !saysIt(s) {
			t.Errorf("%s: %s %q lacks what to do", s.where, s.class, s.text)
		}
	}
	for _, s := range slices.Concat(c.tasks, c.messages, c.settings, c.usage, c.answers, c.commands, c.doctor, c.causes) {
		if s.again() {
			t.Errorf("%s: %q says it twice", s.where, s.text)
		}
		if strings.HasSuffix(s.remedy, ": …") && !listed.MatchString(s.remedy) {
			t.Errorf("%s: a cause follows what to do: %q", s.where, s.remedy)
		}
	}
	generated.File(t, filepath.Join(root, "docs", "errors.md"), c.document())
	for _, s := range c.tasks {
		if s.class != "…" && c.byClass[s.class] == "" && meant()[s.class] == "" {
			t.Errorf("there is no remedy for %s", s.class)
		}
	}
	for _, s := range c.database {
		if states()[s.class] == "" {
			t.Errorf("there is no remedy for %s: %q", s.class, s.text)
		}
	}
}

// saysIt reports whether nobody needs a remedy beside a sentence.
func saysIt(s sentence) bool {
	switch s.class {
	case "VALIDATION_ERROR": // it names the field, and what that may have
		return true
	case "METHOD_NOT_ALLOWED": // it has the methods
		return true
	}
	return said.MatchString(s.text)
}

// listed ends with the tenants to choose from, or with commands.
var listed = regexp.MustCompile(`(--tenant|as root|or|to them): …$`)

// said are sentences that say in their own words what to do, and those with which there is nothing to do.
var said = regexp.MustCompile(strings.Join([]string{
	`\. [A-Z][^.]+\.$`, `\b[Tt]ry again`, `\b[Ss]end `, `\bset HTTP_TOKEN`, ` needs? the scope `, ` must be `, `: edit `, `\(with --`, // to do
	`^check the store: `, `^it did not answer within `, ` is also set by `, // causes of what has a remedy
	`^the request is not valid: `, `^Nobody can sign in with this token: `, // the reason follows
	`^failed to run \(`, `^this system was not started by systemd$`, // that doctor shows beside its own
	`^a check failed: `, `^the daemon does not ask for the settings: `, ` these settings would change: `, // the action's remedy
	`; cancel the job, or `, `; mend it, and resume it$`, `systemd aborts it`, // lines of the log
	`^not every job succeeded$`, `^some dead letters were not replayed$`, // the output has shown why
	`^stopped by a third signal$`, // nothing is lost
}, "|"))

const head = `# What can go wrong, and what to do

<!-- made by: make docs (TestErrorList of test/architecture) -->

Every error sentence of the program, as the code has it. … stands for what is filled in. Commands are in
[commands.md](commands.md), checks of the live services in [doctor.md](doctor.md), alerts in [runbooks.md](runbooks.md).

Not here are:

- the words of others that a sentence quotes: of the operating system, the database, Azure, NATS, a model's service, and
  of the library that checks the form of an API request;
- the action that precedes a cause, such as "open the blob: …", where it has no remedy of its own;
- lines of the log below the level error, and the output of make run;
- what the dashboard's JavaScript says in the browser, and what the scripts of the Debian package print.
`

func (c *collector) document() string {
	var b strings.Builder
	b.WriteString(head)
	b.WriteString("\n## Tasks, by error class\n\nThe contract has the classes and their codes. A row " +
		"without a remedy has that of its class.\n")
	grouped(&b, c.tasks, func(class string) string { return cmp.Or(c.byClass[class], meant()[class]) })
	b.WriteString("\n## Functions of the database, by SQLSTATE\n\nA call of a function has the sentence as the message of " +
		"its error, PostgREST as `message` beside `code`. Commands,\nthe log and tasks' errors end with it. A row without a " +
		"remedy has that of its SQLSTATE. Those of PostgreSQL itself are in\nits own manual.\n")
	grouped(&b, c.database, func(state string) string { return states()[state] })
	for _, part := range []struct {
		title, about string
		all          []sentence
	}{
		{"Messages", "A message that can't become a task is a dead letter. The … before a field's name is the object that " +
			"it is in, such as hints.", c.messages},
		{"Settings", "", c.settings},
		{"Command lines", "", c.usage},
		{"Answers of the API, the dashboard and the proxy", "The API doesn't repeat values: it shows … or \"is not valid\" " +
			"in their place. A refused payload has the sentence of its task's error. A row without a remedy says it itself.", c.answers},
		{"Commands, and the start of the worker", "They begin with what was being done. The cause follows; a row without a " +
			"remedy comes with that of the action that failed, or says it itself.", c.commands},
		{"Doctor", "They begin with the check; [doctor.md](doctor.md) says what each tries. … in place of a sentence is the " +
			"error of a\nservice, whose own remedy comes first. With no remedy at all, " + c.noAnswer + ".", c.doctor},
		{"Lines of the log at level error", "`journalctl -x` shows the catalog's entry: what happened, and what to do. Others have what to do as " +
			"`hint`, or\nin their words.", c.lines},
		{"Causes", "What the sentences above, and lines of the log, end with. Unless it is here, what to do is with the " +
			"sentence that has the cause in it.", c.causes},
	} {
		fmt.Fprintf(&b, "\n## %s\n\n", part.title)
		if part.about != "" {
			b.WriteString(part.about + "\n\n")
		}
		rows(&b, part.all)
	}
	return b.String()
}

// grouped writes a table for each class, below what to do about it.
func grouped(b *strings.Builder, all []sentence, remedy func(class string) string) {
	by := map[string][]sentence{}
	for _, s := range all {
		class := s.class
		s.class = ""
		by[class] = append(by[class], s)
	}
	for _, class := range slices.Sorted(maps.Keys(by)) {
		title := "`" + class + "`"
		if class == "…" {
			title = "Of a class that follows from the cause"
		}
		fmt.Fprintf(b, "\n### %s\n\n", title)
		if r := remedy(class); r != "" {
			fmt.Fprintf(b, "%s.\n\n", strings.ToUpper(r[:1])+r[1:])
		}
		rows(b, by[class])
	}
}

// rows writes each sentence once.
func rows(b *strings.Builder, all []sentence) {
	b.WriteString("| error | what to do | where |\n|---|---|---|\n")
	seen := map[string]bool{}
	var lines []string
	for _, s := range all {
		text := s.text
		if s.class != "" && s.class == strings.ToUpper(s.class) && s.class != "…" {
			text = "`" + s.class + "`: " + text
		}
		line := fmt.Sprintf("| %s | %s | %s |\n", cell(text), cell(s.remedy), filepath.ToSlash(filepath.Dir(s.where)))
		if !seen[line] && strings.Trim(s.text, "… :") != "" {
			seen[line] = true
			lines = append(lines, line)
		}
	}
	slices.Sort(lines)
	b.WriteString(strings.Join(lines, ""))
}

func cell(s string) string {
	return strings.TrimSpace(strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;").Replace(s))
}

// An error whose class says what to do about another cause has what to do of its own: a matter of the worker is not the
// sender's, a file that is whole is not to be repaired, and a message that is right not to be corrected.
func TestErrorsWithOwnRemedy(t *testing.T) {
	t.Parallel()
	tasks := collect(t).tasks
	for _, text := range []string{
		"could not be read by OCR", "the worker has no OCR", "the worker has no font", "the folder of the blobs is a file",
		"a link leads out of the folder", "the identity may not sign", "content filter refused", "the model refused",
		"the model refuses to answer", "looks like a zip bomb",
	} {
		found := false
		for _, s := range tasks {
			if !strings.Contains(s.text, text) {
				continue
			}
			if found = true; strings.Trim(s.remedy, "… ") == "" {
				t.Errorf("%s: %q has the remedy of %s", s.where, s.text, s.class)
			}
		}
		if !found {
			t.Errorf("no error says %q", text)
		}
	}
}
