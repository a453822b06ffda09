package boot

import (
	"context"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/stack"
)

// proxy is the front's unit.
const proxy = "async-worker-front.service"

// fronted: one address serves both tenants, each with its own tokens; the proxy's user can reach the sockets, and nothing
// else of a tenant; a worker's restart is a 502 of its own tenant.
func fronted(b *bed) {
	port, err := stack.FreePort() // the network is the host's
	if err != nil {
		b.Fatal(err)
	}
	addr := "127.0.0.1:" + strconv.Itoa(port)
	b.m.write("/etc/default/async-worker-front", "FRONT_ADDR="+addr+"\n", 0o644)
	tokens := map[string]string{}
	for _, client := range tenants() {
		tokens[client] = b.m.run("/bin/sh", "-c", "async-worker token add web --scope read --tenant "+client+" 2>/dev/null")
		b.m.run("systemctl", "restart", unit(client))
	}
	b.m.run("systemctl", "enable", "--now", proxy)
	defer b.m.run("systemctl", "disable", "--now", proxy)

	for _, c := range []struct {
		path, token string
		want        int
	}{
		{"/livez", "", 200},
		{"/t/" + south + "/v1/jobs", tokens[south], 200},
		{"/t/" + east + "/v1/jobs", tokens[east], 200},
		{"/t/" + south + "/v1/jobs", tokens[east], 401},
		{"/t/" + east + "/v1/jobs", tokens[south], 401},
		{"/t/" + south + "/v1/jobs", "", 401},
		{"/t/" + south + "/status", tokens[south], 401},
		{"/t/" + south + "/metrics", "", 401},
		{"/t/nobody/v1/jobs", tokens[south], 404},
		{"/v1/jobs", tokens[south], 404},
	} {
		if status, body := b.ask(addr, c.path, c.token); status != c.want {
			b.Errorf("%s: %d, want %d\n%s", c.path, status, c.want, body)
		}
	}
	frontUser(b)

	b.m.run("systemctl", "stop", unit(south))
	if status, body := b.ask(addr, "/t/"+south+"/v1/jobs", tokens[south]); status != http.StatusBadGateway {
		b.Errorf("while its worker is stopped: %d %s", status, body)
	}
	if status, body := b.ask(addr, "/t/"+east+"/v1/jobs", tokens[east]); status != http.StatusOK {
		b.Errorf("while the other worker is stopped: %d %s", status, body)
	}
	b.m.run("systemctl", "start", unit(south))
	if status, body := b.ask(addr, "/t/"+south+"/v1/jobs", tokens[south]); status != http.StatusOK {
		b.Errorf("after a restart: %d %s", status, body)
	}
	b.figure("front: 2 tenants at one address, each with its own tokens only; 502 while a worker is stopped")
}

// ask sends a request to the proxy.
func (b *bed) ask(addr, path, token string) (status int, body string) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+path, http.NoBody)
	if err != nil {
		b.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		b.Fatalf("%s: %v\n%s", path, err, b.m.run("journalctl", "--no-pager", "--unit="+proxy))
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		b.Fatal(err)
	}
	return resp.StatusCode, string(raw)
}

// frontUser checks the proxy's user and groups, and what it can't reach.
func frontUser(b *bed) {
	b.Helper()
	pid := b.m.run("systemctl", "show", "--value", "--property=MainPID", proxy)
	if owner := b.m.run("stat", "--format=%U:%G", "/proc/"+pid); owner != "async-worker-front:async-worker-front" {
		b.Errorf("the proxy runs as %s", owner)
	}
	gid := b.m.run("stat", "--format=%g", "/proc/"+pid)
	for line := range strings.Lines(b.m.run("cat", "/proc/"+pid+"/status")) {
		if f := strings.Fields(line); len(f) > 0 && f[0] == "Groups:" && strings.Trim(strings.Join(f[1:], " "), " ") != "" &&
			strings.Join(f[1:], " ") != gid {
			b.Errorf("the proxy is in the groups %v, its own is %s", f[1:], gid)
		}
	}
	for _, client := range tenants() {
		if out, err := b.as("async-worker-front", "async-worker", "status", "--socket", "/run/async-worker/"+client+
			"/http.sock"); err == nil || !strings.Contains(out, "401") {
			b.Errorf("the proxy's user asks the worker of %s: %v, %s", client, err, out)
		}
	}
	for _, path := range []string{
		"/etc/async-worker/" + south + ".env", "/etc/async-worker/credentials/" + south + "/SUPABASE_KEY",
		"/var/lib/private/async-worker/" + south, "/run/async-worker/" + south,
		"/proc/" + strconv.Itoa(b.pid(south)) + "/environ",
	} {
		b.m.run("ls", "-d", path) // it exists, for root
		for _, read := range [][]string{{"cat", path}, {"find", path, "-mindepth", "1"}} {
			out, err := b.as("async-worker-front", read[0], read[1:]...)
			if err == nil || !regexp.MustCompile("Permission denied|No such file").MatchString(out) {
				b.Errorf("the proxy's user can read %s: %s", path, out)
			}
			if !strings.HasPrefix(path, "/var") && !strings.HasPrefix(path, "/run") {
				break // a file
			}
		}
	}
	if out, err := b.m.try("nsenter", "--target", pid, "--mount", "--", "/bin/true"); err == nil {
		b.Errorf("another program runs in the proxy's unit: %s", out)
	}
	output := b.m.run("systemd-analyze", "security", "--no-pager", proxy)
	score := regexp.MustCompile(`exposure level for \S+: ([0-9.]+)`).FindStringSubmatch(output)
	if score == nil {
		b.Fatalf("systemd-analyze security prints no level:\n%s", tail(output, 5))
	}
	if level, err := strconv.ParseFloat(score[1], 64); err != nil || level > 1.6 {
		b.Errorf("the exposure level of the proxy is %s, want at most 1.6\n%s", score[1], output)
	}
	b.figure("systemd-analyze security of the proxy: %s", score[1])
}
