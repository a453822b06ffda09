package cli

import (
	"fmt"
	"strings"

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
func (l submission) repeatable(tenant string) submission {
	const most = 500 // bytes of a payload that fit a line that can be copied
	if len(l.task.Payload) > most {
		l.repeat = "the same command, which asks a second time if async-worker jobs get " + l.task.ID + " knows the first"
		return l
	}
	l.repeat = "async-worker enqueue --id " + l.task.ID
	if tenant != "" {
		l.repeat += " --tenant " + tenant
	}
	rest := fmt.Sprintf("--type %s --payload %s --watch", l.task.Type, shellQuoted(string(l.task.Payload)))
	l.repeat += " \\\n" + strings.ReplaceAll(rest, " ", noBreak) // a line break within quotes would change the payload
	return l
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
