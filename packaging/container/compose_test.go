// Package container holds what makes and runs the container image; its test looks at the file for Compose.
package container

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/seed-7227ef26/async-worker/internal/config"
)

// settleSeconds is what a worker may take beyond DRAIN_MAX_SEC; see internal/cli/run.go.
const settleSeconds = 180

// service is all that the file says of one. Another key is an error, so that a misspelt one is seen.
type service struct {
	Image       string
	Restart     string
	Grace       time.Duration `yaml:"stop_grace_period"`
	Init        bool
	ReadOnly    bool `yaml:"read_only"`
	User        string
	CapDrop     []string `yaml:"cap_drop"`
	SecurityOpt []string `yaml:"security_opt"`
	Tmpfs       []string
	Memory      string `yaml:"mem_limit"`
	Swap        string `yaml:"memswap_limit"`
	Pids        int    `yaml:"pids_limit"`
	Health      struct {
		Test          []string
		Interval      time.Duration
		Timeout       time.Duration
		Retries       int
		StartPeriod   time.Duration `yaml:"start_period"`
		StartInterval time.Duration `yaml:"start_interval"`
	} `yaml:"healthcheck"`
	Logging struct {
		Driver  string
		Options map[string]string
	}
	EnvFile     []string `yaml:"env_file"`
	Environment map[string]string
	Volumes     []string
}

type composition struct {
	Settings map[string]string `yaml:"x-settings"`
	Worker   service           `yaml:"x-worker"`
	Services map[string]service
	Volumes  map[string]any
}

func read(t *testing.T) (c composition, dockerfile string) {
	t.Helper()
	text, err := os.ReadFile("compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&c); err != nil {
		t.Fatal(err)
	}
	image, err := os.ReadFile("Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	return c, string(image)
}

// setting is a setting of the program by its name.
func setting(t *testing.T, name string) config.Setting {
	t.Helper()
	all := config.Settings()
	i := slices.IndexFunc(all, func(s config.Setting) bool { return s.Name == name })
	if i < 0 {
		t.Fatalf("%s is not a setting", name)
	}
	return all[i]
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Each service is a tenant of its own, and all that it says fits the program and the image.
func TestCompose(t *testing.T) {
	t.Parallel()
	// Docker and podman both know these two; "local" is Docker's alone.
	if c, _ := read(t); !slices.Contains([]string{"json-file", "journald"}, c.Worker.Logging.Driver) {
		t.Errorf("podman does not know the log driver %q", c.Worker.Logging.Driver)
	}
	c, dockerfile := read(t)
	text, err := os.ReadFile("compose.yaml")
	if err != nil || len(c.Services) != 1 || !strings.Contains(string(text), "# northquay:") {
		t.Fatalf("%d services: the file runs one tenant as it is, and shows how a second one is added; %v",
			len(c.Services), err)
	}
	for name, s := range c.Services {
		for key := range s.Environment {
			if setting(t, key).Secret {
				t.Errorf("%s: the secret %s is in the file", name, key)
			}
		}
		if s.Environment["CLIENT_ID"] != name || !slices.Equal(s.EnvFile, []string{"tenants/" + name + ".env"}) {
			t.Errorf("%s is the tenant %s with the settings of %s", name, s.Environment["CLIENT_ID"], s.EnvFile)
		}
		if want := number(t, s.Environment["DRAIN_MAX_SEC"]) +
			settleSeconds; s.Grace != time.Duration(want)*time.Second {
			t.Errorf("%s: the grace is %v; it must be DRAIN_MAX_SEC and %d s more: %d s", name, s.Grace, settleSeconds,
				want)
		}
		if !s.ReadOnly || !slices.Equal(s.CapDrop, []string{"ALL"}) ||
			!slices.Contains(s.SecurityOpt, "no-new-privileges:true") || s.Pids == 0 || s.Restart != "unless-stopped" {
			t.Errorf("%s may do too much, or is not kept up: %+v", name, s)
		}
		if !strings.Contains(dockerfile, "\nUSER "+s.User+"\n") {
			t.Errorf("%s: the image's user is not %s", name, s.User)
		}
		if parsers := number(t, setting(t, "PARSER_MEMORY_MB").Default); number(t,
			strings.TrimSuffix(s.Memory, "m")) < parsers+200 || s.Swap != s.Memory {
			t.Errorf("%s: the limit of memory is %s (with swap %s); parsers alone may take %d MiB", name, s.Memory,
				s.Swap, parsers)
		}
		if begin := number(t, setting(t, "START_MAX_SEC").Default); s.Health.StartPeriod < time.Duration(
			begin)*time.Second {
			t.Errorf("%s: it counts as unhealthy after %v, and a start may take %d s", name, s.Health.StartPeriod,
				begin)
		}
		if !slices.Equal(s.Health.Test, []string{"CMD", "async-worker", "status"}) {
			t.Errorf("%s: its health is asked by %v", name, s.Health.Test)
		}
		writes(t, name, s, c.Volumes, dockerfile)
	}
}

// writes: the image's root is read-only, so each folder that it names is a volume of this tenant alone, or memory.
func writes(t *testing.T, name string, s service, volumes map[string]any, dockerfile string) {
	t.Helper()
	writable := map[string]bool{}
	for _, m := range s.Tmpfs {
		path, options, _ := strings.Cut(m, ":")
		uid, gid, _ := strings.Cut(s.User, ":")
		writable[path] = strings.HasPrefix(options, "uid="+uid+",gid="+gid+",") // else it is root's
	}
	for _, m := range s.Volumes {
		volume, path, _ := strings.Cut(m, ":")
		if _, there := volumes[volume]; !there || volume != name {
			t.Errorf("%s: %s is not a volume of its own", name, volume)
		}
		writable[path] = true
	}
	for _, m := range regexp.MustCompile(`(CACHE_DIRECTORY|TMPDIR|RUNTIME_DIRECTORY)=(\S+)`).
		FindAllStringSubmatch(dockerfile, -1) {
		if !writable[m[2]] {
			t.Errorf("%s: %s is not writable", name, fmt.Sprint(m[1:]))
		}
	}
}
