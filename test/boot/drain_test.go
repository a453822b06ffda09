package boot

import (
	"strings"
	"time"
)

// readiness: a worker whose store does not answer is not ready, and ready as soon as it does.
func readiness(b *bed) {
	b.m.run("systemctl", "stop", unit(east))
	knocked, open := b.h.gate.close()
	defer open()
	b.m.run("systemctl", "start", "--no-block", unit(east))
	b.h.await(knocked, "the worker calls the store")
	if got := b.show(east, "ActiveState") + "/" + b.show(east, "SubState"); got != "activating/start" {
		b.Errorf("with a store that does not answer it is %s", got)
	}
	if out, err := b.m.try("systemctl", "is-active", unit(east)); err == nil {
		b.Errorf("systemctl is-active prints %s", out)
	}
	open()
	b.awaitState(east, "ActiveState", "active")
	b.figure("readiness: activating/start while the store does not answer, active once it answers")
}

// override adds a drop-in for one tenant, until the step ends.
func (b *bed) override(client, section string) {
	b.Helper()
	path := "/etc/systemd/system/" + unit(client) + ".d/test.conf"
	b.m.write(path, "[Service]\n"+section, 0o644)
	b.m.run("systemctl", "daemon-reload")
	b.Cleanup(func() {
		b.m.run("rm", "-r", "/etc/systemd/system/"+unit(client)+".d")
		b.m.run("systemctl", "daemon-reload")
	})
}

// drain sends SIGTERM during a task that outlasts TimeoutStopSec.
func drain(b *bed) {
	const task = 8 * time.Second
	b.override(south, "TimeoutStopSec=4\n")
	asked := b.h.hold(task)
	b.h.send(south, "long", "ingest", "long.txt", []byte("A long look at the sea."))
	b.h.await(asked, "the model is called")
	begun := time.Now()
	b.m.run("systemctl", "stop", "--no-block", unit(south))
	b.eventually("the status line of a worker that drains", func() (string, bool) {
		status := b.show(south, "StatusText")
		return status, strings.Contains(status, "drain")
	})
	b.awaitState(south, "ActiveState", "inactive")
	took := time.Since(begun)
	b.h.once(south, "long", 1)
	if result, status := b.show(south, "Result"), b.show(south, "ExecMainStatus"); result != "success" ||
		status != "0" {
		b.Errorf("the drained worker ended with %s, exit %s", result, status)
	}
	b.figure("SIGTERM in a task of %v, TimeoutStopSec=4: stopped after %v, exit 0, the task done once", task,
		took.Round(100*time.Millisecond))
	b.m.run("systemctl", "start", unit(south))
}

// killed uses kill -9 during a task.
func killed(b *bed) {
	pid, restarts := b.pid(south), b.number(south, "NRestarts")
	asked := b.h.hold(time.Minute)
	b.h.send(south, "killed", "ingest", "killed.txt", []byte("A ship that was struck by lightning."))
	b.h.await(asked, "the model is called")
	begun := time.Now()
	b.m.run("systemctl", "kill", "--signal=KILL", "--kill-whom=main", unit(south))
	b.eventually("it is started again", func() (string, bool) {
		return "", b.number(south,
			"NRestarts") > restarts && b.pid(south) != 0
	})
	b.awaitState(south, "ActiveState", "active")
	up := time.Since(begun)
	b.h.once(south, "killed", 2)
	if b.pid(south) == pid {
		b.Error("it is the same process")
	}
	b.figure("kill -9: up again after %v, its task done once after %v", up.Round(100*time.Millisecond),
		time.Since(begun).Round(100*time.Millisecond))
}

// hung: the poll loop hangs, with a task at work and one in the queue. The program is one that can be made to hang;
// see internal/engine/hang.go.
func hung(b *bed) {
	b.override(east, "WatchdogSec=6\nExecStart=\nExecStart=/usr/local/bin/hanging-worker run --client-id=%i\n")
	b.m.run("systemctl", "restart", unit(east))
	restarts := b.number(east, "NRestarts")
	file := "/run/async-worker/" + east + "/hang"
	b.m.run("touch", file)
	b.eventually("the poll loop hangs", func() (string, bool) {
		_, err := b.m.try("test", "-e", file)
		return "", err != nil
	})
	begun := time.Now()
	b.h.send(east, "behind", "ingest", "behind.txt", []byte("A boat that waits behind another."))
	b.eventually("the watchdog ends it, and it is started again", func() (string, bool) {
		return b.show(east, "SubState"), b.number(east, "NRestarts") > restarts &&
			b.show(east, "ActiveState") == "active"
	})
	up := time.Since(begun)
	b.h.once(east, "behind", 1)
	output := b.journal(east)
	b.contains("the journal", output, "Watchdog timeout", "SIGABRT", "goroutine ", "engine.hang")
	b.figure("a hung poll loop, WatchdogSec=6: aborted and up again after %v, %d goroutines in the journal, the "+
		"waiting task done once",
		up.Round(100*time.Millisecond), strings.Count(output, "\ngoroutine "))
}
