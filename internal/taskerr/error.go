package taskerr

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/task"
)

// Error is the one typed error that a handler or a back end hands to the engine.
type Error struct {
	Class      Class
	Code       string        // empty: the task type and the class's default, see CodeFor
	Suffix     string        // of the code, in place of the class's default; empty: that
	Message    string        // for people; never a secret, a connection string or document text
	RetryAfter time.Duration // the other side's wish; zero: none
	Cause      error         // for the log; nil when the message says it all
	Dependency Dependency    // whose fault it is; empty: the task's, or not known
	Hint       string        // for operators: what to mend; never a secret; empty: what follows from the class
}

// Errorf makes an Error of the class. A %w verb becomes its Cause.
func Errorf(class Class, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Class: class, Message: err.Error(), Cause: errors.Unwrap(err)}
}

// WithHint sets what an operator has to do, where it isn't what follows from the class.
func (e *Error) WithHint(hint string) *Error {
	e.Hint = hint
	return e
}

// PasswordProtected is the error of a document that can't be read without its password. what begins the sentence, for
// example "the PDF". Its code is …_PASSWORD_PROTECTED: the file is sound, so it is not corruption.
func PasswordProtected(what string) *Error {
	e := Errorf(UnsupportedFormat, "%s is protected by a password: remove it and upload it again", what)
	e.Suffix = "PASSWORD_PROTECTED"
	return e
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Class, e.Message) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// CodeFor returns the stable, upper-case code of e for a task type, e.g. INGEST_UNSUPPORTED_FORMAT.
func (e *Error) CodeFor(t task.Type) string {
	if e.Code != "" {
		return e.Code
	}
	suffix := cmp.Or(e.Suffix, Classes[e.Class].Code)
	if t == "" {
		return suffix
	}
	return strings.ToUpper(string(t)) + "_" + suffix
}

// exhausted are the errors of a system that has run out of room, memory, descriptors or processes, or
// whose disk fails: another time, or another machine, may do.
var exhausted = []syscall.Errno{
	syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EIO, syscall.ENOMEM, syscall.EAGAIN, syscall.EMFILE,
	syscall.ENFILE,
}

// Exhausted reports whether an error is that of a machine which has run out of something, or whose disk fails. It says
// nothing about the document or the page at which it happened.
func Exhausted(err error) bool {
	_, yes := exhaustion(err)
	return yes
}

// Remedy says what to do about an error that Exhausted reports; empty: it is none.
func Remedy(err error) string {
	if errno, ok := exhaustion(err); ok {
		return remedies(errno)
	}
	return ""
}

func exhaustion(err error) (syscall.Errno, bool) {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno, slices.Contains(exhausted, errno)
	}
	// The resolver of package net keeps only the text of its own socket's error.
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		for _, errno := range []syscall.Errno{syscall.EMFILE, syscall.ENFILE} {
			if strings.HasSuffix(dns.Err, errno.Error()) {
				return errno, true
			}
		}
	}
	return 0, false
}

// Classify turns any error into an Error: one that already is (or wraps) an Error stays, an expired
// deadline is network_timeout (the task's own deadline is known by its context's cause before this
// is asked), a machine out of resources is transient_storage, anything unknown is internal_bug, so that nothing unknown
// is retried for ever.
func Classify(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &Error{Class: NetworkTimeout, Message: "a call to another service took too long", Cause: err}
	}
	if errno, ok := exhaustion(err); ok {
		return &Error{
			Class: TransientStorage, Message: "the worker's machine lacks something (" + errno.Error() + ")",
			Cause: err, Hint: remedies(errno), Dependency: Machine,
		}
	}
	return &Error{
		Class: InternalBug, Message: "an unexpected error ended the task; the worker's log has the details", Cause: err,
	}
}

// remedies say what to do about a machine that has run out of something.
func remedies(errno syscall.Errno) string {
	switch errno {
	case syscall.ENOSPC, syscall.EDQUOT:
		return "the disk is full: free space where temporary files are kept (the unit's cache directory, else TMPDIR), or " +
			"documents (BLOB_DIR)"
	case syscall.EROFS, syscall.EIO:
		return "the disk of temporary files, or of BLOB_DIR, can't be written: may the unit write there (ReadWritePaths=)? " +
			"else look at the kernel's log"
	case syscall.EMFILE, syscall.ENFILE:
		return "too many open files: raise LimitNOFILE of the unit, or lower WORKER_CONCURRENCY"
	default:
		return "too little memory, or too many processes: raise MemoryMax or TasksMax of the unit, or lower " +
			"WORKER_CONCURRENCY"
	}
}
