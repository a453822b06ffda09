package stack

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const postgresPrefix = "async-worker-postgres-"

// Postgres is a private Postgres cluster in a temporary folder, for tests. By default it trades durability for speed.
type Postgres struct {
	process  *Process
	again    Command // starts it again at the same address
	dir      *TempDir
	port     int
	password string
}

// PostgresOptions configure StartPostgres. The zero value is valid.
type PostgresOptions struct {
	Bin string    // folder of initdb and postgres; empty: the newest that FindPostgres finds
	Log io.Writer // gets the server's log; may be nil
	// Durable writes every commit to its log before it is answered: what is committed outlives Crash.
	Durable bool
	// Memory keeps the cluster's files in memory if there is room; else they are in the temporary folder, as without it.
	Memory bool
	// Settings are more of the server's, as name=value. They win over ours: with fsync=on and
	// full_page_writes=on a Durable server outlives the machine's crash too, as one in production does.
	Settings []string
}

// FindPostgres returns the folder with initdb and postgres of the newest version installed: Debian keeps
// them out of PATH.
func FindPostgres() (string, error) {
	best, bestVersion := "", 0
	dirs, _ := filepath.Glob("/usr/lib/postgresql/*/bin") // the pattern is well-formed
	for _, dir := range dirs {
		version, err := strconv.Atoi(filepath.Base(filepath.Dir(dir)))
		if err != nil || version <= bestVersion {
			continue
		}
		if _, err := os.Stat(filepath.Join(dir, "initdb")); err == nil {
			best, bestVersion = dir, version
		}
	}
	if best != "" {
		return best, nil
	}
	initdb, err := exec.LookPath("initdb")
	if err != nil {
		return "", errors.New("no PostgreSQL server found (looked for initdb in /usr/lib/postgresql and PATH): run " +
			"`make test-deps`")
	}
	return filepath.Dir(initdb), nil
}

// StartPostgres creates a cluster, starts it on a free loopback port and returns once it answers. As root
// it runs as the user postgres, because the server refuses root. Stop ends it and removes its folder.
func StartPostgres(ctx context.Context, o PostgresOptions) (*Postgres, error) {
	if o.Bin == "" {
		bin, err := FindPostgres()
		if err != nil {
			return nil, err
		}
		o.Bin = bin
	}
	where := ""
	if o.Memory {
		where = memoryFolder(shm, shmNeeded)
	}
	dir, err := NewTempDir(where, postgresPrefix)
	if err != nil {
		return nil, fmt.Errorf("make a folder for Postgres: %w", err)
	}
	p := &Postgres{dir: dir, password: rand.Text()}
	if err := p.start(ctx, o); err != nil {
		return nil, errors.Join(err, dir.Remove())
	}
	return p, nil
}

func (p *Postgres) start(ctx context.Context, o PostgresOptions) error {
	owner, err := serverUser(p.dir.Path)
	if err != nil {
		return err
	}
	data, secret := filepath.Join(p.dir.Path, "data"), filepath.Join(p.dir.Path, "password")
	if err := os.WriteFile(secret, []byte(p.password), 0o600); err != nil {
		return fmt.Errorf("write the password of Postgres: %w", err)
	}
	if owner != nil {
		if err := os.Chown(secret, int(owner.Uid), int(owner.Gid)); err != nil {
			return fmt.Errorf("change the owner of Postgres's password file: %w", err)
		}
	}
	// It keeps other users of the machine out. MD5, since the check of a SCRAM password is thousands of hashes in the
	// server for each of the many connections of tests; both ends are on loopback.
	initdb := exec.CommandContext(ctx, filepath.Join(o.Bin, "initdb"), "-D", data, "-U", "postgres", "-E", "UTF8",
		"--locale=C.UTF-8", "-A", "md5", "--pwfile", secret, "--no-sync", "--no-instructions")
	initdb.Dir, initdb.SysProcAttr = p.dir.Path, &syscall.SysProcAttr{Credential: owner, Pdeathsig: syscall.SIGKILL}
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}

	for attempt := 1; ; attempt++ { // a free port may be taken before the server has it
		if p.port, err = FreePort(); err != nil {
			return fmt.Errorf("find a port for Postgres: %w", err)
		}
		p.again = p.command(o, data, owner)
		p.process, err = Start(ctx, p.again)
		if err == nil || attempt == 3 || ctx.Err() != nil {
			return err
		}
	}
}

func (p *Postgres) command(o PostgresOptions, data string, owner *syscall.Credential) Command {
	args := []string{"-D", data, "-p", strconv.Itoa(p.port)}
	commit := "synchronous_commit=off"
	if o.Durable {
		commit = "synchronous_commit=on"
	}
	for _, setting := range append([]string{
		"listen_addresses=127.0.0.1", "unix_socket_directories=", "max_connections=400",
		"fsync=off", commit, "full_page_writes=off", "max_wal_size=1GB", "checkpoint_timeout=1h",
		"shared_buffers=64MB",
		"dynamic_shared_memory_type=mmap", // in the cluster's folder: a server that is killed leaves nothing behind
		"timezone=Asia/Kathmandu",         // no code may rely on UTC
	}, o.Settings...) {
		args = append(args, "-c", setting)
	}
	return Command{
		Name: "postgres", Path: filepath.Join(o.Bin, "postgres"), Args: args, Dir: p.dir.Path, User: owner, Log: o.Log,
		Env:  []string{"LANG=C.UTF-8", "PATH=" + os.Getenv("PATH")},
		Stop: syscall.SIGINT, // fast shutdown: it doesn't wait for clients
		Up: func(ctx context.Context) error {
			return p.exec(ctx, "select 1")
		},
	}
}

// serverUser is the user that the server runs as, made owner of dir: nil when that is us.
func serverUser(dir string) (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, fmt.Errorf("Postgres does not run as root, and there is no user for it: %w", err)
	}
	uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
	if err := errors.Join(err1, err2); err != nil {
		return nil, fmt.Errorf("look up the user postgres: %w", err)
	}
	if err := os.Chown(dir, int(uid), int(gid)); err != nil {
		return nil, fmt.Errorf("change the owner of Postgres's folder: %w", err)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}

// URL is the superuser's connection string of a database, e.g. "postgres".
func (p *Postgres) URL(database string) string { return p.URLAs("postgres", p.password, database) }

// URLAs is the connection string of another login.
func (p *Postgres) URLAs(login, password, database string) string {
	u := url.URL{
		Scheme: "postgres", User: url.UserPassword(login, password),
		Host: "127.0.0.1:" + strconv.Itoa(p.port), Path: "/" + database, RawQuery: "sslmode=disable",
	}
	return u.String()
}

// CreateDatabase makes a database as a copy of template ("template1" is an empty one), to which nobody may
// be connected.
func (p *Postgres) CreateDatabase(ctx context.Context, name, template string) error {
	conn, err := pgx.Connect(ctx, p.URL("postgres"))
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	how := " strategy file_copy" // the default of Postgres 15 and later logs each page, which is twice the work
	if version := conn.PgConn().ParameterStatus("server_version"); strings.HasPrefix(version, "14.") {
		how = "" // it knows only this one
	}
	return whenUnused(func() error {
		_, err := conn.Exec(ctx, fmt.Sprintf("create database %s template %s%s",
			pgx.Identifier{name}.Sanitize(), pgx.Identifier{template}.Sanitize(), how))
		return err
	})
}

// DropDatabase removes a database and throws out whoever is connected to it.
func (p *Postgres) DropDatabase(ctx context.Context, name string) error {
	return whenUnused(func() error {
		return p.exec(ctx, fmt.Sprintf("drop database if exists %s with (force)", pgx.Identifier{name}.Sanitize()))
	})
}

// whenUnused repeats a statement for up to a minute while somebody is connected to its database. Postgres itself waits 5
// seconds for those that have hung up, or that it throws out.
func whenUnused(statement func() error) error {
	const objectInUse = "55006"
	for end := time.Now().Add(time.Minute); ; {
		err := statement()
		if e, ok := errors.AsType[*pgconn.PgError](err); !ok || e.Code != objectInUse || time.Now().After(end) {
			return err
		}
	}
}

// exec runs a statement in the database that every cluster has.
func (p *Postgres) exec(ctx context.Context, sql string) error {
	conn, err := pgx.Connect(ctx, p.URL("postgres"))
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	_, err = conn.Exec(ctx, sql)
	return err
}

// Crash ends the server without letting it put anything in order, and starts it again at the same address,
// where it recovers. Only a Durable one keeps all that it committed. Nobody else may use p meanwhile.
func (p *Postgres) Crash(ctx context.Context) error {
	if err := p.process.Stop(syscall.SIGQUIT, 10*time.Second); err != nil {
		return err
	}
	process, err := Start(ctx, p.again)
	if err != nil {
		return err
	}
	p.process = process
	return nil
}

// Stop ends the server and removes its folder.
func (p *Postgres) Stop() error {
	return errors.Join(p.process.Stop(syscall.SIGINT, 10*time.Second), p.dir.Remove())
}
