package cli

import (
	"fmt"
	"strings"
	"unicode/utf16"

	"github.com/seed-7227ef26/async-worker/internal/app"
)

// again is the command that sends the same task again: the id makes it the same.
func (l submission) again() string {
	switch {
	case l.repeat != "":
		return l.repeat
	case l.file != "":
		return "async-worker enqueue " + shellQuoted(l.file)
	case l.upload != "": // of several, each is repeated alone
		return "async-worker enqueue --id " + l.task.ID + " --upload " + shellQuoted(l.upload) + " …"
	}
	return "async-worker enqueue --id " + l.task.ID + " …"
}

// repeatable makes again the whole command, for a task of a command that has no flag for the id.
func (l submission) repeatable() submission {
	const most = 500 // bytes of a payload that fit a line that can be copied
	payload := inASCII(string(l.task.Payload))
	if len(payload) > most {
		l.repeat = "the same command, which asks a second time if async-worker jobs get " + l.task.ID +
			" knows the first"
		return l
	}
	l.repeat = "async-worker enqueue --id " + l.task.ID
	rest := fmt.Sprintf("--type %s --payload %s --watch", l.task.Type, shellQuoted(payload))
	l.repeat += " \\\n" + strings.ReplaceAll(rest, " ", noBreak) // a line break within quotes would change the payload
	return l
}

// inASCII is JSON with the same value: a line may break at white space of any script, and what nobody sees is not printed.
func inASCII(text string) string {
	var out strings.Builder
	for _, r := range text {
		if r < 0x7f {
			out.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&out, `\u%04x`, unit)
		}
	}
	return out.String()
}

// warnUnread tells what the worker will ignore: it only logs it, and the sender believes that it counts.
func (p *program) warnUnread(letters []submission) {
	told := map[string]bool{}
	for _, l := range letters {
		text := strings.Join(app.Unread(l.task), ", ")
		if text == "" || told[text] {
			continue
		}
		told[text] = true
		printWrapped(p.stderr, "warning: ", printable(fmt.Sprintf("the worker ignores %s: a task of the type %s has no such field",
			text, l.task.Type)))
	}
}
