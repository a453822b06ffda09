package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// A reload takes two processes, because a daemon's environment never changes: systemd reads the unit's
// EnvironmentFile= again for the command `reload` (ExecReload=). This listens on a socket beside the daemon's and
// sends the daemon SIGHUP. The daemon connects, reads a reloadRequest and answers with a reloadAnswer, as JSON.
const reloadSocket = "reload.sock" // in $RUNTIME_DIRECTORY

// reloadTimeout bounds the whole exchange.
const reloadTimeout = 30 * time.Second

type reloadRequest struct {
	Environ []string `json:"environ"` // only settings; it contains secrets
}

// reloadAnswer is the result of a reload.
type reloadAnswer struct {
	config.Changes
	Problems []config.Problem `json:"problems,omitempty"` // the settings are invalid
	Error    string           `json:"error,omitempty"`    // they are valid but could not be applied
}

func (p *program) newReloadCommand() *cobra.Command {
	var pid int
	cmd := &cobra.Command{
		Use:   "reload",
		Short: "Send new settings to the running daemon (the unit's ExecReload)",
		Long: `reload sends the settings of its environment to the daemon, which also has the credentials and checks
them. If they are wrong, reload prints every problem and exits with 78, and the daemon keeps its settings.
Otherwise it prints what is in force now and what needs a restart. It warns of names that are close to a
setting's, and ignores them.

It is for systemctl reload: systemd passes it the new contents of the unit's EnvironmentFile. systemd reads
secrets in LoadCredential only at the start, so a new one needs a restart. Without systemd, SIGHUP makes the
daemon read again the files that NAME_FILE settings name.`,
		Example: `  systemctl reload async-worker@southhaven`,
		Args:    noArgs,
		RunE: p.action(func(cmd *cobra.Command, _ []string) error {
			dir, _, _ := strings.Cut(p.getenv("RUNTIME_DIRECTORY"), ":")
			if pid == 0 {
				pid, _ = strconv.Atoi(p.getenv("MAINPID"))
			}
			if dir == "" || pid <= 1 {
				return badUsage("as root: systemctl reload "+p.unitNamed(cmd),
					"systemd runs reload and sets $MAINPID and $RUNTIME_DIRECTORY, which are missing here")
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), reloadTimeout)
			defer cancel()
			return p.reload(ctx, filepath.Join(dir, reloadSocket), func() error { return syscall.Kill(pid, syscall.SIGHUP) })
		}),
	}
	addSettings(cmd, config.All)
	cmd.Flags().IntVar(&pid, "pid", 0, "the daemon's process (default $MAINPID)")
	return cmd
}

// reload sends the settings of the command's environment to the daemon that call calls. It warns of misspelled ones itself:
// they are not sent.
func (p *program) reload(ctx context.Context, socket string, call func() error) error {
	for _, w := range config.Misspelled(p.env) {
		p.printWarning(w)
	}
	answer, err := sendSettings(ctx, socket, reloadRequest{config.Environ(p.env)}, call)
	if err != nil {
		return &failure{
			"send the settings to the daemon",
			"the unit's journal shows what the daemon does; a restart applies all settings", err,
		}
	}
	return p.printReloaded(answer)
}

// unitNamed is the unit of the tenant that the command line or the environment names.
func (p *program) unitNamed(cmd *cobra.Command) string {
	name, _ := p.client(cmd)
	if flag := cmd.Flags().Lookup("tenant"); flag != nil && flag.Changed {
		name = flag.Value.String()
	}
	if name == "" || task.ValidClientID(name) != nil {
		name = "TENANT"
	}
	return "async-worker@" + name
}

func (p *program) printReloaded(a reloadAnswer) error {
	switch {
	case len(a.Problems) > 0:
		return &config.Errors{Problems: a.Problems}
	case a.Error != "":
		return &failure{"apply the settings", "the daemon keeps the old ones", errors.New(a.Error)}
	}
	lines := []string{"no setting was changed"}
	if len(a.Live) > 0 {
		lines[0] = "in force now: " + strings.Join(a.Live, ", ")
	}
	if len(a.Restart) > 0 {
		lines = append(lines, "a restart is needed for: "+strings.Join(a.Restart, ", "))
	}
	_, err := fmt.Fprintln(p.stdout, strings.Join(lines, "\n"))
	return err
}

// sendSettings listens at path, calls the daemon and sends it the request when it connects.
func sendSettings(
	ctx context.Context, path string, request reloadRequest, call func() error,
) (answer reloadAnswer, err error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) { // left by a killed reload
		return answer, err
	}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return answer, err
	}
	defer listener.Close()
	if err := os.Chmod(path, 0o600); err != nil {
		return answer, err
	}
	if deadline, ok := ctx.Deadline(); ok {
		if err := listener.SetDeadline(deadline); err != nil {
			return answer, err
		}
	}
	if err := call(); err != nil {
		return answer, fmt.Errorf("send SIGHUP: %w", err)
	}
	conn, err := listener.AcceptUnix()
	if err != nil {
		return answer, fmt.Errorf("the daemon does not ask for the settings: %w", err)
	}
	defer conn.Close()
	if deadline, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(deadline); err != nil {
			return answer, err
		}
	}
	if err := json.NewEncoder(conn).Encode(request); err != nil {
		return answer, err
	}
	if err := json.NewDecoder(conn).Decode(&answer); err != nil {
		return answer, fmt.Errorf("read the daemon's answer: %w", unexpectedEOF(err))
	}
	return answer, nil
}

func unexpectedEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
