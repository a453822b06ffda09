package cli

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/httpd"
	"github.com/seed-7227ef26/async-worker/internal/tenants"
)

// tenantStatus is a row of status --all.
type tenantStatus struct {
	ClientID string      `json:"client_id"`
	Status   *app.Status `json:"status,omitempty"`
	Error    string      `json:"error,omitempty"`
	// of systemctl, for a worker that does not answer: activating, inactive, failed, …; empty: there is no service manager
	Active string `json:"active,omitempty"`
}

// statusOfAll asks the workers of the machine with this root folder: those that start with it, and those that have a socket.
func (p *program) statusOfAll(ctx context.Context, root string, out format) error {
	names, err := workersOf(root)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return &failure{
			"ask all workers", "start one: sudo systemctl enable --now async-worker@TENANT",
			&unansweredError{errors.New("no worker is enabled or has a socket in " + filepath.Dir(filepath.Dir(socketBelow(root, "*"))))},
		}
	}
	rows, worst := askAll(ctx, root, names)
	worst = errors.Join(worst, p.addStates(ctx, root, rows))
	if out == asJSON {
		return errors.Join(printJSON(p.stdout, rows), worst)
	}
	var cells [][]string
	for _, r := range rows {
		state, line, since := cmp.Or(r.Active, "silent"), r.Error, ""
		if r.Status != nil {
			state, line, since = stateOf(*r.Status), r.Status.Line, formatTime(r.Status.Started)
		}
		cells = append(cells, []string{r.ClientID, state, since, line})
	}
	return errors.Join(table(p.stdout, []string{"TENANT", "STATE", "STARTED", "DOING"}, cells), worst)
}

// workersOf are the tenants whose workers run or should. A worker has no socket before all of its services have answered,
// and none once it has ended. Everybody may list these folders, also operators who may not list the settings.
func workersOf(root string) (names []string, err error) {
	err = onMachine(root, func(m *tenants.Machine) (err error) {
		names, err = m.AllEnabled()
		return err
	})
	if err != nil {
		return nil, err
	}
	folders, err := filepath.Glob(filepath.Dir(socketBelow(root, "*")))
	for _, folder := range folders { // operators may enter them, but not list them
		if exists(filepath.Join(folder, app.SocketName)) {
			names = append(names, filepath.Base(folder))
		}
	}
	slices.Sort(names)
	return slices.Compact(names), err
}

func socketBelow(root, name string) string { return filepath.Join(root, app.SocketOf(name)) }

// askAll asks one after the other. worst is the last error, nil when all are ready.
func askAll(ctx context.Context, root string, names []string) (rows []tenantStatus, worst error) {
	for _, name := range names {
		row := tenantStatus{ClientID: name}
		s, err := askStatus(ctx, httpd.Client{Socket: socketBelow(root, name)})
		if err != nil {
			row.Error = err.Error()
		} else {
			row.Status, err = &s, readiness(s)
		}
		if silent, ok := errors.AsType[*failure](err); ok && silent.next == nextStart {
			silent.next = "is the worker running? systemctl status " + unitOf(name)
		}
		if err != nil {
			worst = err
		}
		rows = append(rows, row)
	}
	return rows, worst
}

// addStates adds what the service manager says of the workers that did not answer.
func (p *program) addStates(ctx context.Context, root string, rows []tenantStatus) error {
	var silent []string
	for _, r := range rows {
		if r.Status == nil {
			silent = append(silent, r.ClientID)
		}
	}
	states, err := p.managerOf(root).states(ctx, silent...)
	for i := range rows {
		rows[i].Active = states[rows[i].ClientID]
	}
	return err
}
