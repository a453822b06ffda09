package feed

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/pattern"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// ErrCursor means that a text is not a cursor of this program.
var ErrCursor = errors.New("not a cursor of this stream")

// The text of a cursor before its encoding: version, transaction, number in the job, milliseconds, id of the job.
const (
	cursorVersion = "1"
	maxCursor     = 400 // bytes
)

var jobID = pattern.New(`^[A-Za-z0-9._:-]{0,128}$`)

// Cursor is a position as an opaque text of letters, digits, - and _.
func Cursor(p store.FeedPosition) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%s.%d.%d.%d.%s", cursorVersion, p.Tx, p.Seq,
		p.At.UnixMilli(), p.JobID))
}

// ParseCursor returns the position of a cursor, or ErrCursor.
func ParseCursor(text string) (p store.FeedPosition, err error) {
	if len(text) > maxCursor {
		return p, ErrCursor
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	parts := strings.SplitN(string(raw), ".", 5)
	if err != nil || len(parts) != 5 || parts[0] != cursorVersion || !jobID.MatchString(parts[4]) {
		return p, ErrCursor
	}
	tx, txErr := strconv.ParseUint(parts[1], 10, 64)
	seq, seqErr := strconv.ParseInt(parts[2], 10, 64)
	at, atErr := strconv.ParseInt(parts[3], 10, 64)
	const latest = 253402300799000 // the year 9999, in milliseconds: a later one is not RFC 3339
	if errors.Join(txErr, seqErr, atErr) != nil || tx == 0 || seq < 0 || at < 0 || at > latest {
		return p, ErrCursor
	}
	return store.FeedPosition{Tx: tx, JobID: parts[4], Seq: seq, At: time.UnixMilli(at).UTC()}, nil
}
