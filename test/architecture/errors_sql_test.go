package architecture_test

import (
	"cmp"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	schemaFolder = "internal/store/schema"
	literalSQL   = `'(?:[^']|''|'\s*\n\s*')*'` // or several in lines of their own, which are one
)

var (
	// inSQL is a task's error that a function of the database makes: its class and its sentence.
	inSQL = regexp.MustCompile(`'class', '([a-z_]+)',[^;]*?'message', format\((` + literalSQL + `)`)
	// raiseSQL is a sentence, and what it is raised with.
	raiseSQL  = regexp.MustCompile(`raise exception (` + literalSQL + `)((?:[^';]|` + literalSQL + `)*);`)
	raisedAs  = regexp.MustCompile(`errcode = '(\w+)'`)
	raiseHint = regexp.MustCompile(`hint = (?:format\()?(` + literalSQL + `)`)
	// placeholder is one of raise, or in a script that the program prints.
	placeholder = regexp.MustCompile(`%(?:\[\d+\][sd]|%)?`)
	// defined is where a function or a block begins. A later definition of the same function replaces an earlier one.
	defined = regexp.MustCompile(`(?m)^(?:create (?:or replace )?function (?:\{\{ \.schema \}\}\.)?(\w+\([^)]*\))|do \$)`)
	// answers are the texts that a function returns.
	answers = regexp.MustCompile(`(?:then|return)\s+(?:format\()?(` + literalSQL + `)`)
	// findings are what aw_examine tells doctor.
	findings = regexp.MustCompile(`'subject', '?[\w.]+'?,\s*'problem', ((?:[^';]|` + literalSQL + `)*)`)
	mending  = regexp.MustCompile(`v_mend text := format\((` + literalSQL + `)`)
	literals = regexp.MustCompile(literalSQL)
	joined   = regexp.MustCompile(`'\s*\n\s*'`)
)

// textSQL is the text of a literal.
func textSQL(literal string) string {
	literal = joined.ReplaceAllString(literal, "")
	return strings.ReplaceAll(literal[1:len(literal)-1], "''", "'")
}

// formatSQL is the text of a literal that may be a format, such as %s or %1$I.
func formatSQL(literal string) string {
	return bare(verb.ReplaceAllString(regexp.MustCompile(`%\d+\$`).ReplaceAllString(textSQL(literal), "%"), "…"))
}

// definitions are the functions and blocks of the schema's scripts by their names, as the last script leaves them.
func definitions(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, pattern := range []string{"migrations/*.sql", "functions/*.sql", "print.go"} {
		paths, err := filepath.Glob(filepath.Join(root, schemaFolder, pattern))
		if err != nil || len(paths) == 0 {
			t.Fatalf("%v: %v", paths, err)
		}
		for _, p := range paths {
			script, err := os.ReadFile(p)
			if err != nil {
				t.Fatal(err)
			}
			text, end := string(script), len(script)
			for _, at := range slices.Backward(append([][]int{{0, 0, -1, -1}}, defined.FindAllStringSubmatchIndex(text, -1)...)) {
				name := p + text[at[0]:end] // of a block, which nothing replaces
				if at[2] >= 0 {
					name = text[at[2]:at[3]]
				}
				all[name], end = text[at[0]:end], at[0]
			}
		}
	}
	return all
}

// sql collects the sentences of the database's functions. mend is what doctor says of a finding without a statement.
func (c *collector) sql(t *testing.T, mend string) {
	t.Helper()
	where := path.Join(schemaFolder, "functions/*.sql")
	for name, text := range definitions(t) {
		for _, m := range inSQL.FindAllStringSubmatch(text, -1) {
			c.tasks = append(c.tasks, sentence{m[1], formatSQL(m[2]), "", where}.split())
		}
		c.raises(t, text, where)
		name, _, _ = strings.Cut(name, "(")
		if state := passedOn()[name]; state != "" {
			for _, m := range answers.FindAllStringSubmatch(text, -1) {
				c.database = append(c.database, sentence{state, formatSQL(m[1]), "", where}.split())
			}
		}
		if m := mending.FindStringSubmatch(text); m != nil {
			text = strings.ReplaceAll(text, "'mend', v_mend", "'mend', "+m[1])
		}
		for _, m := range findings.FindAllStringSubmatch(text, -1) {
			c.doctor = append(c.doctor, finding(m[1], mend, where))
		}
	}
}

// passedOn are the functions whose text another one raises as it is, with its SQLSTATE.
func passedOn() map[string]string {
	return map[string]string{"aw_task_problem": "AW006", "aw_unstorable": "AW006", "aw_replay_refusal": "AW012"}
}

// raises collects what a definition raises, but for a state that it catches itself.
func (c *collector) raises(t *testing.T, text, where string) {
	t.Helper()
	all := raiseSQL.FindAllStringSubmatch(text, -1)
	if want := strings.Count(text, "raise exception '"); len(all) != want {
		t.Errorf("found %d of %d sentences in: %s", len(all), want, text)
	}
	for _, m := range all {
		s := sentence{"P0001", placeholder.ReplaceAllString(textSQL(m[1]), "…"), "", where}
		if state := raisedAs.FindStringSubmatch(m[2]); state != nil {
			s.class = state[1]
		}
		if hint := raiseHint.FindStringSubmatch(m[2]); hint != nil {
			s.remedy = formatSQL(hint[1])
		}
		switch {
		case strings.Contains(text, "when sqlstate '"+s.class+"'"):
			continue
		case s.text == "…" && strings.Contains(m[2], "'retry_after_ms'"):
			s.text = `{"job_id": "…", "retry_after_ms": …}`
		case s.text == "…":
			if !strings.Contains(m[2], "refusal") && !strings.Contains(m[2], "problem") {
				t.Errorf("whose text is this? %s", m[0])
			}
			continue
		}
		c.database = append(c.database, s.split())
	}
}

// finding is what aw_examine says is wrong with a subject, and the statement that mends it.
func finding(text, byDoctor, where string) sentence {
	problem, mend, _ := strings.Cut(text, "'mend'")
	first := func(text string) string {
		for _, literal := range literals.FindAllString(text, -1) {
			if worded.MatchString(literal) {
				return formatSQL(literal)
			}
		}
		return ""
	}
	s := sentence{"", first(problem), cmp.Or(first(mend), byDoctor), where}
	if strings.HasPrefix(s.text, " ") { // what isn't granted
		s.text = "…" + s.text
	}
	if strings.HasSuffix(s.text, "(") {
		s.text += "…)"
	}
	s.text = "a finding of the database: …: " + s.text
	return s
}

// states says what the SQLSTATEs of the functions mean, and what to do.
func states() map[string]string {
	const report = "it is a defect: please report it with the lines of the worker's log"
	return map[string]string{
		"AW001": "The lease has ended and somebody else may have the job, the delivery or the version: the worker gives its " +
			"attempt up, and there is nothing to do",
		"AW002": "This client has none with this id: correct the id. A job that was just sent may not be there yet: ask again",
		"AW003": "Another task has this id: choose another id",
		"AW004": "The session belongs to another client, or to none: use a key or a login of this client (docs/database.md)",
		"AW005": "The job has ended: there is nothing to cancel. To do its task again, send it with hints.force",
		"AW006": "An argument is missing or wrong: correct what the sentence names. If a worker says it, " + report,
		"AW007": "Another job works on the document: wait for its end, or for the milliseconds, and repeat the call; a " +
			"worker does so by itself",
		"AW008": "The index of a document is not complete, so it was not put into use: " + report,
		"AW010": "A state that a job can't go to: change rows by the functions only. If a worker says it, " + report,
		"AW011": "What never goes back would go back: change rows by the functions only. If a worker says it, " + report,
		"AW012": "The dead letter was replayed, or its job was started again: look at that job. To do the task once more, ask " +
			"for it with again, as async-worker dlq replay --again does",
		"AW013": "The job has no attempt left: reset its attempts, as async-worker jobs retry --reset-attempts does",
		"AW014": "Only a failed job can be retried: to do the task of another one again, send it with hints.force",
		"AW015": "The webhook can't be sent again, or not yet: async-worker webhooks list shows its state",
		"AW016": "The webhook was delivered: to send it again, ask for it with delivered, as async-worker webhooks resend " +
			"--delivered does",
		"AW017": "The idempotency key belongs to another request: use a new key for a new request",
		"AW018": "The queue is not in this database: start a worker of the client with QUEUE_BACKEND=postgres, which creates it",
		"AW019": "The message is too large: put it into a blob, and send a claim check (docs/postgres-queue.md)",
		"AW021": "Another worker publishes the events: there is nothing to do",
		"AW022": "The id belongs to another schedule: change that one, or choose another id",
		"AW028": "A deck with this id was recorded before: " + report,
		"AW030": "The lease has ended and another worker may send the document to Cognee: there is nothing to do",
		"AW031": "The question is too long: leave some of it out, or ask several questions",
		"AW032": "One more run of the job waits already: wait for it, or cancel the job, which also stops the run under way",
		"AW033": "The client has too many jobs with a run_at: send this one when some of them have begun",
		"P0001": "The schema is not migrated: do what the row says, and migrate again (async-worker migrate)",
	}
}
