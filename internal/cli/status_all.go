package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/httpd"
)

// tenantStatus is a row of status --all.
type tenantStatus struct {
	ClientID string      `json:"client_id"`
	Status   *app.Status `json:"status,omitempty"`
	Error    string      `json:"error,omitempty"`
}

// statusOfAll asks every worker whose socket is in /run/async-worker.
func (p *program) statusOfAll(ctx context.Context, out format) error {
	sockets, err := socketsBelow(filepath.Dir(filepath.Dir(app.SocketOf("*"))))
	if err != nil {
		return err
	}
	if len(sockets) == 0 {
		return &failure{
			"ask all workers", "start one: sudo systemctl enable --now async-worker@TENANT",
			&unansweredError{errors.New("no worker has a socket in " + filepath.Dir(filepath.Dir(app.SocketOf("*"))))},
		}
	}
	rows, worst := askAll(ctx, sockets)
	if out == asJSON {
		return errors.Join(printJSON(p.stdout, rows), worst)
	}
	var cells [][]string
	for _, r := range rows {
		state, line, since := "silent", r.Error, ""
		if r.Status != nil {
			state, line, since = stateOf(*r.Status), r.Status.Line, formatTime(r.Status.Started)
		}
		cells = append(cells, []string{r.ClientID, state, since, line})
	}
	return errors.Join(table(p.stdout, []string{"TENANT", "STATE", "STARTED", "DOING"}, cells), worst)
}

// socketsBelow are the sockets of a machine's workers. Operators may enter their folders but not list them.
func socketsBelow(dir string) (sockets []string, err error) {
	folders, err := filepath.Glob(filepath.Join(dir, "*"))
	for _, folder := range folders {
		if socket := filepath.Join(folder, app.SocketName); exists(socket) {
			sockets = append(sockets, socket)
		}
	}
	return sockets, err
}

// askAll asks one after the other. worst is the last error, nil when all are ready.
func askAll(ctx context.Context, sockets []string) (rows []tenantStatus, worst error) {
	slices.Sort(sockets)
	for _, socket := range sockets {
		row := tenantStatus{ClientID: filepath.Base(filepath.Dir(socket))}
		s, err := askStatus(ctx, httpd.Client{Socket: socket})
		if err != nil {
			row.Error = err.Error()
		} else {
			row.Status, err = &s, readiness(s)
		}
		if err != nil {
			worst = err
		}
		rows = append(rows, row)
	}
	return rows, worst
}

func stateOf(s app.Status) string {
	switch {
	case !s.Alive:
		return "stuck"
	case s.Engine.Draining:
		return "draining"
	case !s.Ready:
		return "not ready"
	default:
		return "ready"
	}
}

func (p *program) printStatus(s app.Status) error {
	up := time.Since(s.Started).Round(time.Second)
	fmt.Fprintf(p.stdout, "%s  %s\n%s\n", printable(s.ClientID), stateOf(s), printable(s.Line))
	fmt.Fprintf(p.stdout, "version %s, worker %s, up %v since %s\n\n", printable(s.Version), printable(s.Worker), up,
		formatTime(s.Started))
	var rows [][]string
	for _, c := range s.Checks {
		rows = append(rows, []string{c.Name, string(c.State), formatTime(c.Since), c.Class, c.Hint})
	}
	if err := table(p.stdout, []string{"CHECK", "STATE", "SINCE", "ERROR", "WHAT TO DO"}, rows); err != nil {
		return err
	}
	if len(s.Engine.Types) == 0 {
		return nil
	}
	rows = nil
	for _, t := range s.Engine.Types {
		trouble := ""
		if t.Trouble != nil {
			trouble = string(t.Trouble.Class)
		}
		rows = append(rows, []string{string(t.Type), strconv.Itoa(t.Running), strconv.Itoa(t.Limit), trouble})
	}
	fmt.Fprintln(p.stdout)
	return table(p.stdout, []string{"TASK TYPE", "RUNNING", "AT MOST", "LAST ERROR"}, rows)
}
