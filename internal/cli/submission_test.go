package cli

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/task"
)

// What is printed, pasted into a shell, sends the same payload: also with white space and signs that nobody sees.
func TestPrintedTaskIsTheSame(t *testing.T) {
	t.Parallel()
	for _, prompt := range []string{
		"why", "it's `so`; (really), \"isn't it\"? $HOME \\n", "O\u00f9 est\u00a0le port\u3000?", "a\u200db \U0001f469\u200d\U0001f52c \u007f\u2028",
		strings.Repeat("\u00a0why ", 25),
	} {
		payload, err := json.Marshal(map[string]string{"prompt": prompt})
		if err != nil {
			t.Fatal(err)
		}
		l := submission{task: task.Task{ID: "00000000-0000-0000-0000-000000000000", Type: task.Agent, Payload: payload}}
		var printed bytes.Buffer
		p := &program{tenant: "southhaven"}
		printWrapped(&printed, "  what to do: ", p.addressed("is it up? to repeat the same task: "+l.repeatable().again()))
		_, command, _ := strings.Cut(printed.String(), "async-worker ")
		out, err := exec.CommandContext(t.Context(), "sh", "-c", `printf '%s\0' `+command).Output()
		if err != nil {
			t.Fatalf("%s: %v", printed.String(), err)
		}
		args := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
		at := slices.Index(args, "--payload")
		if want := []string{"enqueue", "--tenant", "southhaven", "--id", l.task.ID, "--type", "agent"}; at < 0 || !slices.Equal(args[:at], want) {
			t.Fatalf("%q of %s", args, printed.String())
		}
		var got, sent any
		if err := json.Unmarshal([]byte(args[at+1]), &got); err != nil {
			t.Fatalf("%s: %v", args[at+1], err)
		}
		if err := json.Unmarshal(payload, &sent); err != nil || !reflect.DeepEqual(got, sent) {
			t.Errorf("%q became %q", sent, got)
		}
	}
}
