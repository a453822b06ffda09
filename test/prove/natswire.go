package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// natsFrame is one message of the NATS protocol, from a client or the server. Source:
// https://docs.nats.io/reference/reference-protocols/nats-protocol
type natsFrame struct {
	raw     []byte
	op      string // PUB, HPUB, SUB, MSG, HMSG; others are of no interest here
	subject string
	sid     string // of a subscription, and of what is delivered to it
	reply   string
	payload []byte // with headers
}

// maxNATSLine is more than the control lines that clients and servers send; an INFO has some hundred bytes.
const maxNATSLine = 32 << 10

var errNotNATS = errors.New("not the protocol of NATS")

// readNATS reads one message. Its reader's buffer must have maxNATSLine bytes.
func readNATS(r *bufio.Reader) (f natsFrame, err error) {
	line, err := r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return f, errNotNATS
	}
	if err != nil {
		return f, err
	}
	f.raw = bytes.Clone(line)
	fields := strings.Fields(string(line))
	if len(fields) == 0 {
		return f, nil
	}
	f.op = strings.ToUpper(fields[0])
	var size int
	switch args := fields[1:]; f.op {
	case "SUB": // subject, perhaps a queue group, id
		if len(args) < 2 {
			return f, errNotNATS
		}
		f.subject, f.sid = args[0], args[len(args)-1]
		return f, nil
	case "PUB", "HPUB": // subject, perhaps reply, size of headers, size
		size, err = f.sized(args, 1)
	case "MSG", "HMSG": // subject, id, perhaps reply, size of headers, size
		size, err = f.sized(args, 2)
	default:
		return f, nil
	}
	if err != nil {
		return f, err
	}
	body := make([]byte, size+len("\r\n"))
	if _, err := io.ReadFull(r, body); err != nil {
		return f, err
	}
	f.raw, f.payload = append(f.raw, body...), body[:size]
	return f, nil
}

// sized reads the arguments of a message with a payload; named is how many names are before the reply.
func (f *natsFrame) sized(args []string, named int) (size int, err error) {
	sizes := 1
	if f.op[0] == 'H' {
		sizes = 2
	}
	if n := len(args); n != named+sizes && n != named+sizes+1 {
		return 0, errNotNATS
	}
	f.subject = args[0]
	if named == 2 {
		f.sid = args[1]
	}
	if len(args) == named+sizes+1 {
		f.reply = args[named]
	}
	size, err = strconv.Atoi(args[len(args)-1])
	if err != nil || size < 0 || size > 64<<20 {
		return 0, fmt.Errorf("%w: a message of %q bytes", errNotNATS, args[len(args)-1])
	}
	return size, nil
}

// natsClass is the class of what a client publishes: of requests to the queue of normal priority, and of copies of
// dead letters.
func natsClass(f natsFrame) string {
	if f.op != "PUB" && f.op != "HPUB" {
		return ""
	}
	switch {
	case strings.HasPrefix(f.subject, "$JS.API.CONSUMER.MSG.NEXT."):
		// Stream and consumer follow; the other queues' consumers have the priority in their names.
		if strings.HasSuffix(f.subject, ".ocr-workers") {
			return "dequeue"
		}
	case strings.HasPrefix(f.subject, "$JS.ACK.") && strings.Contains(f.subject, ".ocr-workers."):
		if bytes.HasPrefix(f.payload, []byte("+ACK")) {
			return "delete"
		}
		return "renew" // -NAK or +WPI
	case strings.HasSuffix(f.subject, ".jobs.deadletter"):
		return "send"
	}
	return ""
}
