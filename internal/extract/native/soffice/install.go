package soffice

import (
	"bufio"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// installation is LibreOffice on this machine.
type installation struct {
	program string   // soffice.bin
	build   string   // its build, as profiles note it
	files   []string // what it reads outside of /usr
}

// find finds LibreOffice. The error says what to install.
func find() (installation, error) {
	launcher, err := exec.LookPath("soffice")
	if err != nil {
		launcher, err = exec.LookPath("libreoffice")
	}
	if err == nil {
		launcher, err = filepath.EvalSymlinks(launcher)
	}
	folder := filepath.Dir(launcher)
	program := filepath.Join(folder, "soffice.bin")
	if err == nil {
		_, err = os.Stat(program)
	}
	if err != nil {
		return installation{}, missing("writer", "calc", "impress")
	}
	return installation{
		program: program, build: build(filepath.Join(folder, "versionrc")),
		// The configuration and the cache of extensions of Debian's packages; the user's home folder; an installation in
		// /opt.
		files: []string{
			"/etc/libreoffice", "/var/spool/libreoffice", "/var/lib/libreoffice", "/etc/passwd",
			filepath.Dir(folder),
		},
	}, nil
}

// Missing returns an error that says what to install for documents to be converted, or nil.
func Missing() error {
	office, err := find()
	if err != nil {
		return err
	}
	for _, t := range []target{text, sheet, slides} {
		if err := office.lacks(t); err != nil {
			return err
		}
	}
	return nil
}

// libraries are those of LibreOffice's modules.
var libraries = map[string]string{
	"writer": "libswlo.so", "calc": "libsclo.so", "impress": "libsdlo.so", "draw": "libsdlo.so",
}

// lacks is the error if the module for the target is not installed.
func (o installation) lacks(t target) error {
	if _, err := os.Stat(filepath.Join(filepath.Dir(o.program), libraries[t.module])); err != nil {
		return missing(t.module)
	}
	return nil
}

func missing(modules ...string) error {
	packages := make([]string, 0, len(modules))
	for _, m := range modules {
		packages = append(packages, "libreoffice-"+m+"-nogui")
	}
	return &taskerr.Error{
		Class: taskerr.UnsupportedFormat,
		Message: "documents of this kind are read with LibreOffice, which is not installed where the worker runs: save it in " +
			"a modern format (DOCX, XLSX, PPTX, PDF) and upload that",
		Hint: "apt install " + strings.Join(packages, " "),
	}
}

// build returns the build id of versionrc.
func build(path string) string {
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = file.Close() }() // read-only
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if id, found := strings.CutPrefix(lines.Text(), "buildid="); found {
			return id
		}
	}
	return ""
}

// codeFiles match the files that LibreOffice maps for its generated code, and removes at once, unless it is killed
// before (bridges/source/cpp_uno/shared/vtablefactory.cxx).
const codeFiles = "/tmp/.execooo*"

// scratch are folders besides its own where LibreOffice must make a file. Where memory can't be made executable
// (systemd's MemoryDenyWriteExecute), it maps a file for its generated code: in the home folder, which is its own, or
// without an entry in /etc/passwd, which a dynamic user of systemd has not, in /tmp. That is the service's own then, and
// no setting changes it.
func (installation) scratch() []string {
	if writeExecute() || hasHome(os.Getuid()) {
		return nil
	}
	return []string{filepath.Dir(codeFiles)}
}

// clear removes the files for generated code that a killed LibreOffice has left. One that another LibreOffice is about to
// remove needs its name no more.
func (o installation) clear() {
	if o.scratch() == nil {
		return
	}
	left, _ := filepath.Glob(codeFiles) // the pattern is fine
	for _, path := range left {
		_ = os.Remove(path) // another one may have removed it
	}
}

// writeExecute reports whether memory may be written and executed.
func writeExecute() bool {
	page, err := unix.Mmap(-1, 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return false
	}
	defer func() { _ = unix.Munmap(page) }() // nothing is in it
	return unix.Mprotect(page, unix.PROT_READ|unix.PROT_WRITE|unix.PROT_EXEC) == nil
}

// hasHome reports whether the user is in /etc/passwd.
func hasHome(uid int) bool {
	file, err := os.Open("/etc/passwd")
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }() // read-only
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if fields := strings.Split(lines.Text(), ":"); len(fields) > 5 && fields[2] == strconv.Itoa(uid) {
			return true
		}
	}
	return false
}

func fileURL(path string) string { return (&url.URL{Scheme: "file", Path: path}).String() }
