package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/httpd"
)

// statusFlags select the workers.
type statusFlags struct {
	socket, addr string
	all          bool
	out          format
}

func (p *program) newStatusCommand() *cobra.Command {
	var f statusFlags
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the state of a running worker",
		Long: `status asks a tenant's worker for its state: over its socket in /run/async-worker/<client>, which
answers root, operators and the worker's own user, or over HTTP_ADDR with HTTP_TOKEN, if these are set and
the socket is missing. It exits with 0 when the worker is ready, and with 69 when it is not ready or not running.
With --all it asks the workers that run and those that start with the machine; of one that does not answer it
says what systemd does: activating (it waits for its services), failed, inactive, …`,
		Example: `  sudo async-worker status --tenant southhaven
  sudo async-worker status --all
  async-worker status --addr 127.0.0.1:9090 -o json`,
		Args: noArgs,
		RunE: p.action(func(cmd *cobra.Command, _ []string) error {
			if f.all {
				root, err := cmd.Flags().GetString("root")
				if err != nil {
					return err
				}
				return p.statusOfAll(cmd.Context(), root, f.out)
			}
			cfg, err := p.load(cmd, config.Tenant|config.HTTP)
			if err != nil {
				return err
			}
			status, err := askStatus(cmd.Context(), clientFor(f, cfg))
			if silent, ok := errors.AsType[*failure](err); ok && silent.next == nextStart && f.socket+f.addr == "" {
				silent.next = nextSilent(cmd, cfg)
			}
			if err != nil {
				return err
			}
			if f.out == asJSON {
				err = printJSON(p.stdout, status)
			} else {
				err = p.printStatus(status)
			}
			return errors.Join(err, readiness(status))
		}),
	}
	cmd.Flags().StringVar(&f.socket, "socket", "", "use this Unix socket")
	cmd.Flags().StringVar(&f.addr, "addr", "", "use this TCP address (HOST:PORT), with HTTP_TOKEN if it is set")
	cmd.Flags().BoolVar(&f.all, "all", false, "ask all workers that systemd runs on this machine, or should run")
	cmd.MarkFlagsMutuallyExclusive("socket", "addr", "all")
	addOutput(cmd, &f.out)
	addSettings(cmd, config.Tenant|config.HTTP)
	return cmd
}

// notReadyError: the worker answered that it is not ready. Its answer has been printed.
type notReadyError struct{ why []string }

func (e *notReadyError) Error() string { return "not ready: " + strings.Join(e.why, ", ") }

func readiness(s app.Status) error {
	if s.Ready && s.Alive {
		return nil
	}
	var why []string
	for _, c := range s.Checks {
		if c.State == httpd.Failed {
			why = append(why, c.Name)
		}
	}
	return &failure{
		s.ClientID, "the table says what to fix; see also docs/runbooks.md, AsyncWorkerNotReady", &notReadyError{why},
	}
}

// clientFor finds the worker: by the flags, at its tenant's socket, or at HTTP_ADDR.
func clientFor(f statusFlags, cfg config.Config) httpd.Client {
	switch {
	case f.socket != "":
		return httpd.Client{Socket: f.socket}
	case f.addr != "":
		return httpd.Client{Addr: reachable(f.addr), Token: cfg.HTTPToken.Reveal()}
	}
	socket := app.SocketOf(cfg.ClientID)
	if cfg.RuntimeDir != "" {
		socket = filepath.Join(cfg.RuntimeDir, app.SocketName)
	}
	if cfg.HTTPAddr != "" && !exists(socket) {
		return httpd.Client{Addr: reachable(cfg.HTTPAddr), Token: cfg.HTTPToken.Reveal()}
	}
	return httpd.Client{Socket: socket}
}

func exists(path string) bool {
	found, err := filepath.Glob(path)
	return err == nil && len(found) > 0
}

// reachable replaces the unspecified address, on which a worker may listen, with loopback.
func reachable(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip != nil && ip.IsUnspecified()) {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return addr
}

// What to do when a worker does not answer. nextStart is for an address or socket that the user gave.
const (
	nextAddress = "without systemd give --addr or --socket, as in the worker's log (listening)"
	nextStart   = "is the worker running? its log says at which address it listens (listening)"
	nextHung    = "if it is the worker's, the worker runs, and is stuck or overloaded: its log says more; to restart it: " +
		"sudo systemctl restart async-worker@TENANT"
)

// nextSilent is what to do when the worker of the settings does not answer.
func nextSilent(cmd *cobra.Command, cfg config.Config) string {
	if cfg.Given("CLIENT_ID") {
		return "is the worker running? systemctl status async-worker@" + cfg.ClientID + "; " + nextAddress
	}
	if cfg.HTTPAddr != "" {
		return nextStart
	}
	root, err := cmd.Flags().GetString("root")
	if err != nil {
		return nextStart
	}
	// The settings in the environment name a service, but no tenant.
	if names, err := tenantNames(root); err != nil || len(names) > 0 {
		return "choose the worker with --tenant NAME; sudo async-worker tenant list shows the tenants; " + nextAddress
	}
	return nextNoTenant + "; a worker without systemd is found " +
		"with --addr or --socket, as in its log (listening)"
}

// askStatus asks one worker. Its error says why there is no answer.
func askStatus(ctx context.Context, c httpd.Client) (app.Status, error) {
	var s app.Status
	err := c.Get(ctx, "/status", &s)
	if err == nil {
		return s, nil
	}
	where := c.Addr + c.Socket
	refused, known := errors.AsType[*httpd.StatusError](err)
	switch {
	case errors.Is(err, context.Canceled):
		return s, err
	case errors.Is(err, fs.ErrPermission):
		return s, &failure{"ask " + where, nextOperator, err}
	case known && refused.Code == 403:
		return s, &failure{"ask " + where, nextOperator, &deniedError{err}}
	case known && refused.Code == 401:
		return s, &failure{"ask " + where, "set HTTP_TOKEN to the worker's token; if it has none, set one there", &deniedError{err}}
	}
	if _, hung := errors.AsType[*httpd.HungError](err); hung {
		return s, &failure{"ask " + where, nextHung, &unansweredError{err}}
	}
	if transport, ok := errors.AsType[*url.Error](err); ok {
		err = transport.Err // for a socket, the URL is a placeholder
	}
	if dial, ok := errors.AsType[*os.SyscallError](err); ok {
		err = dial.Err // the address is said already
	}
	return s, &failure{
		"ask " + where, nextStart, &unansweredError{err},
	}
}

// unansweredError: no worker answers. deniedError: it refuses this user or token.
type (
	unansweredError struct{ error }
	deniedError     struct{ error }
)

func (e *unansweredError) Unwrap() error { return e.error }
func (e *deniedError) Unwrap() error     { return e.error }

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

// statusVerdict is verdictOf for the errors of status.
func statusOutcome(err error, next string) (verdict, bool) {
	_, denied := errors.AsType[*deniedError](err)
	_, silent := errors.AsType[*unansweredError](err)
	_, waits := errors.AsType[*notReadyError](err)
	switch {
	case errors.Is(err, context.Canceled):
		return verdict{}, false
	case denied:
		return verdict{exitPermission, next}, true
	case silent, waits:
		return verdict{exitUnavailable, next}, true
	}
	return verdict{}, false
}
