package cli

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

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
