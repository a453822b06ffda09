package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/api"
)

// listenOrder is what serveListen is to listen to: a line of JSON.
type listenOrder struct {
	Addr, Token string
	Paths       []string // one stream each
	Measured    int      // index of the path whose events' delays are measured
}

// listenReport is what serveListen prints at its end.
type listenReport struct {
	Events int // that came, over all streams
	Delays []time.Duration
}

// serveListen opens the streams, prints a line once all have begun, and reads them until its input ends.
func serveListen(out io.Writer, in io.Reader) int {
	if err := listen(out, in); err != nil {
		fmt.Fprintln(os.Stderr, "listen:", err)
		return 1
	}
	return 0
}

func listen(out io.Writer, in io.Reader) error {
	orders := bufio.NewReader(in)
	line, err := orders.ReadBytes('\n')
	if err != nil {
		return err
	}
	var o listenOrder
	if err := json.Unmarshal(line, &o); err != nil {
		return err
	}
	var report listenReport
	var mu sync.Mutex
	var reading sync.WaitGroup
	var conns []net.Conn
	for i, path := range o.Paths {
		conn, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", o.Addr)
		if err != nil {
			return err
		}
		conns = append(conns, conn)
		if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: bench\r\nAccept: text/event-stream\r\n"+
			"Authorization: Bearer %s\r\n\r\n", path, o.Token); err != nil {
			return err
		}
		lines := bufio.NewReaderSize(conn, 2048)
		if status, err := lines.ReadString('\n'); err != nil || !strings.Contains(status, " 200 ") {
			return fmt.Errorf("a stream answers %q, %w", status, err)
		}
		reading.Go(func() {
			events, delays := readStream(lines, i == o.Measured)
			mu.Lock()
			defer mu.Unlock()
			report.Events += events
			report.Delays = append(report.Delays, delays...)
		})
	}
	fmt.Fprintln(out, "begun")
	_, _ = io.Copy(io.Discard, orders) // until hangUp
	for _, c := range conns {
		_ = c.Close()
	}
	reading.Wait()
	return json.NewEncoder(out).Encode(report)
}

// readStream reads a stream to its end.
func readStream(lines *bufio.Reader, measured bool) (events int, delays []time.Duration) {
	for {
		line, err := lines.ReadSlice('\n')
		if err != nil && err != bufio.ErrBufferFull { //nolint:errorlint // as bufio returns it
			return events, delays
		}
		data, ok := bytes.CutPrefix(line, []byte("data: "))
		if !ok {
			continue
		}
		events++
		var e api.JobEvent
		if measured && json.Unmarshal(data, &e) == nil {
			delays = append(delays, time.Since(e.Timestamp))
		}
	}
}

// listeners are the streams, read by another process: what that costs is not the worker's.
type listeners struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// listen opens all streams, and returns once each has begun.
func (h *house) listen(ctx context.Context, token string) (*listeners, error) {
	o := listenOrder{Addr: h.addr, Token: token, Measured: feedWatchers}
	for _, id := range h.ids {
		o.Paths = append(o.Paths, "/v1/jobs/"+id+"/events")
	}
	o.Paths = append(o.Paths, slices.Repeat([]string{"/v1/events"}, feedFollowers)...)
	cmd := exec.CommandContext(ctx, os.Args[0], "listen")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	l := &listeners{cmd, in, bufio.NewReader(out)}
	if err := json.NewEncoder(in).Encode(o); err != nil {
		return nil, err
	}
	if line, err := l.out.ReadString('\n'); err != nil || line != "begun\n" {
		return nil, fmt.Errorf("the listeners print %q, %w", line, err)
	}
	return l, nil
}

// hangUp ends all streams, and returns what came and the CPU time of reading it.
func (l *listeners) hangUp() (r listenReport, cpu time.Duration, err error) {
	_ = l.in.Close() // they end then
	if err := json.NewDecoder(l.out).Decode(&r); err != nil {
		return r, 0, err
	}
	if err := l.cmd.Wait(); err != nil {
		return r, 0, err
	}
	return r, l.cmd.ProcessState.UserTime() + l.cmd.ProcessState.SystemTime(), nil
}
