package boot

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// idle measures a worker without tasks, with the default settings.
func idle(b *bed) {
	const span = 30 * time.Second
	const client = "idle"
	b.add(client, map[string]string{"POLL_MAX_MS": "10000", "WORKER_LEASE_TTL_SEC": "60"})
	var took []int
	var start []time.Duration
	for range 5 {
		b.m.run("systemctl", "restart", unit(client))
		took, start = append(took, b.ready(client)), append(start, b.processorTime(client))
	}
	if least := slices.Min(start); least > 500*time.Millisecond { // of the processor: the host's other load makes it wait
		b.Errorf("its start took %v of a core at best, want at most 500 ms", least)
	}
	b.figure("ready %v ms after the start of its process, in five starts, which took %v of a core", took, start)
	<-time.After(15 * time.Second) // until its poll interval is the longest
	before, begun := b.processorTime(client), time.Now()
	<-time.After(span)
	used := b.processorTime(client) - before
	percent := 100 * used.Seconds() / time.Since(begun).Seconds()
	rss := b.resident(client)
	if rss > 40 {
		b.Errorf("an idle worker has %.1f MB resident, want less than 40", rss)
	}
	if percent > 0.2 {
		b.Errorf("an idle worker takes %.3f %% of a core, want less than 0.2", percent)
	}
	b.figure("idle: %.1f MB resident, %.3f %% of a core over %v", rss, percent, span)
	b.m.run("systemctl", "stop", unit(client))
}

// processorTime is the CPU time of a tenant's unit so far.
func (b *bed) processorTime(client string) time.Duration {
	b.Helper()
	stat := b.m.run("cat", "/sys/fs/cgroup"+b.show(client, "ControlGroup")+"/cpu.stat")
	used := regexp.MustCompile(`usage_usec (\d+)`).FindStringSubmatch(stat)
	if used == nil {
		b.Fatalf("no usage_usec in cpu.stat:\n%s", stat)
	}
	n, err := strconv.ParseInt(used[1], 10, 64)
	if err != nil {
		b.Fatal(err)
	}
	return time.Duration(n) * time.Microsecond
}

// resident is the memory of a tenant's process, in MB.
func (b *bed) resident(client string) float64 {
	b.Helper()
	status := b.m.run("cat", fmt.Sprintf("/proc/%d/status", b.pid(client)))
	rss := regexp.MustCompile(`VmRSS:\s+(\d+) kB`).FindStringSubmatch(status)
	if rss == nil {
		b.Fatalf("no VmRSS:\n%s", status)
	}
	kib, err := strconv.Atoi(rss[1])
	if err != nil {
		b.Fatal(err)
	}
	return float64(kib) * 1024 / 1e6
}

// fifty starts this many tenants at once.
func fifty(b *bed) {
	var units []string
	for i := range 50 {
		client := fmt.Sprintf("t%02d", i+1)
		b.add(client, map[string]string{"POLL_MAX_MS": "10000"})
		units = append(units, unit(client))
	}
	begun := time.Now()
	b.m.run("systemctl", append([]string{"start"}, units...)...)
	took := time.Since(begun)
	if got := b.m.run("systemctl", "list-units", "--state=active", "--plain", "--no-legend",
		"async-worker@t*.service"); len(regexp.MustCompile(`(?m)^async`).FindAllString(got, -1)) != 50 {
		b.Errorf("not all 50 are active:\n%s", got)
	}
	if took > 30*time.Second {
		b.Errorf("50 tenants took %v to start, want at most 30 s", took)
	}
	b.figure("50 tenants: all ready %v after one systemctl start", took.Round(100*time.Millisecond))
	b.m.run("systemctl", "stop", "async-worker@t*.service")
}
