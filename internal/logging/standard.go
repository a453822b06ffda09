package logging

import (
	stdlog "log"
	"log/slog"
	"strings"
)

// maxForeign bounds a line of somebody else's, in bytes.
const maxForeign = 400

// TakeStandard leads what libraries write to the log package, as net/http's clients do, to log.
func TakeStandard(log *slog.Logger) {
	stdlog.SetFlags(0)
	stdlog.SetOutput(foreign{log})
}

// ErrorLog is for http.Server and its like.
func ErrorLog(log *slog.Logger) *stdlog.Logger { return stdlog.New(foreign{log}, "", 0) }

// foreign makes a record of each line.
type foreign struct{ log *slog.Logger }

// Write implements io.Writer.
func (f foreign) Write(p []byte) (int, error) {
	line := strings.Join(strings.Fields(string(p)), " ")
	// net/http repeats what came unasked on a connection: it may be of a document.
	line, _, _ = strings.Cut(line, " starting with ")
	f.log.Warn("a library reports", "text", strings.ToValidUTF8(line[:min(len(line), maxForeign)], ""))
	return len(p), nil
}
