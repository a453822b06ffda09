// Package compound reads compound files ([MS-CFB]), the containers of Office documents before 2007 and of Outlook's
// messages, without trusting their declarations: tables, directory and streams are bounded by the size of the file.
package compound

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"unicode/utf16"

	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// Signature is the start of a compound file ([MS-CFB] 2.2).
const Signature = "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"

const (
	maxEntries = 1 << 16 // of the directory
	maxDepth   = 32      // nested storages; deeper ones are not read
	maxNames   = 8 << 20 // bytes of the paths of all entries
	maxTable   = 8 << 20 // entries of the allocation table: of 4 GB in sectors of 512 bytes

	headerSize = 512
	entrySize  = 128
	miniSector = 64
	miniCutoff = 4096 // smaller streams are in the mini stream

	maxSector = 0xFFFFFFFA // larger numbers of sectors are marks (2.1)

	// All streams together may be read for this many bytes, and these times the size of the file: many entries may have
	// the same sectors.
	leastBudget, budgetRatio = 64 << 20, 16
)

// Kinds of directory entries (2.6.1).
const (
	storage = 1
	stream  = 2
)

// File is an open container. It is not safe for concurrent use.
type File struct {
	file    *os.File
	size    int64
	sector  int64            // bytes
	table   []uint32         // the next sector of each sector
	mini    []uint32         // the next one of each mini sector
	inMini  []uint32         // sectors of the mini stream
	entries map[string]entry // by the key of their paths
	names   []string         // paths in the order of the directory's tree
	left    int64            // bytes that may still be read, see Spent
}

type entry struct {
	name               string
	kind               byte
	left, right, child uint32
	start              uint32
	size               int64
}

// Open reads the tables and the directory. The error for a damaged container is a *taskerr.Error of
// corruption_detected.
func Open(path string) (*File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open a compound file: %w", err)
	}
	f := &File{file: file, entries: map[string]entry{}}
	if err := f.load(); err != nil {
		_ = file.Close() // read-only
		return nil, taskerr.Errorf(taskerr.CorruptionDetected,
			"the file is damaged or was cut off on its way (%w): upload it again", err)
	}
	return f, nil
}

var errDamaged = errors.New("its compound container is not whole")

func (f *File) load() error {
	info, err := f.file.Stat()
	if err != nil {
		return err
	}
	f.size = info.Size()
	f.left = leastBudget + budgetRatio*f.size
	header := make([]byte, headerSize)
	if _, err := f.file.ReadAt(header, 0); err != nil || string(header[:8]) != Signature {
		return errDamaged
	}
	shift := binary.LittleEndian.Uint16(header[30:])
	if shift != 9 && shift != 12 {
		return errDamaged
	}
	f.sector = 1 << shift
	field := func(at int) uint32 { return binary.LittleEndian.Uint32(header[at:]) }
	if err := f.loadTable(header); err != nil {
		return err
	}
	directory, err := f.chain(field(48), maxEntries*entrySize/f.sector)
	if err != nil {
		return err
	}
	if err := f.loadMini(field(60), int64(field(64))); err != nil {
		return err
	}
	return f.loadDirectory(directory)
}

// read returns a sector. The last one of a file may be cut off.
func (f *File) read(number uint32) ([]byte, error) {
	buffer := make([]byte, f.sector)
	n, err := f.file.ReadAt(buffer, (int64(number)+1)*f.sector)
	if n == 0 {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	return buffer, nil
}

// loadTable reads the allocation table, whose sectors are listed in the header, and in a chain of sectors (2.5).
func (f *File) loadTable(header []byte) error {
	var sectors []uint32
	list := func(data []byte) {
		for ; len(data) >= 4; data = data[4:] {
			if number := binary.LittleEndian.Uint32(data); number < maxSector {
				sectors = append(sectors, number)
			}
		}
	}
	list(header[76:])
	most := f.size/f.sector + 1
	next := binary.LittleEndian.Uint32(header[68:])
	for read := int64(0); next < maxSector; read++ {
		data, err := f.read(next)
		if err != nil || read > most {
			return errDamaged
		}
		list(data[:len(data)-4])
		next = binary.LittleEndian.Uint32(data[len(data)-4:])
	}
	if int64(len(sectors)) > min(most, maxTable*4/f.sector) {
		return errDamaged
	}
	for _, number := range sectors {
		data, err := f.read(number)
		if err != nil {
			return err
		}
		f.table = append(f.table, numbers(data)...)
	}
	return nil
}

func numbers(data []byte) []uint32 {
	all := make([]uint32, len(data)/4)
	for i := range all {
		all[i] = binary.LittleEndian.Uint32(data[4*i:])
	}
	return all
}

// chain returns the sectors from start on, at most limit.
func (f *File) chain(start uint32, limit int64) ([]uint32, error) {
	return follow(f.table, start, min(limit, f.size/f.sector+1))
}

// follow returns the numbers from start on. A chain that is longer than limit is cut; it may be a loop.
func follow(table []uint32, start uint32, limit int64) ([]uint32, error) {
	var all []uint32
	for next := start; next < maxSector && int64(len(all)) < limit; next = table[next] {
		if int64(next) >= int64(len(table)) {
			return nil, errDamaged
		}
		all = append(all, next)
	}
	return all, nil
}

func (f *File) loadMini(start uint32, sectors int64) error {
	chain, err := f.chain(start, min(sectors, maxTable*4/f.sector))
	if err != nil {
		return err
	}
	for _, number := range chain {
		data, err := f.read(number)
		if err != nil {
			return err
		}
		f.mini = append(f.mini, numbers(data)...)
	}
	return nil
}

// loadDirectory reads the entries (2.6) and the tree that they form.
func (f *File) loadDirectory(sectors []uint32) error {
	var all []entry
	for _, number := range sectors {
		data, err := f.read(number)
		if err != nil {
			return err
		}
		for ; len(data) >= entrySize; data = data[entrySize:] {
			all = append(all, f.entry(data))
		}
	}
	if len(all) == 0 {
		return errDamaged
	}
	root := all[0]
	var err error
	if f.inMini, err = f.chain(root.start, (root.size+f.sector-1)/f.sector); err != nil {
		return err
	}
	seen := make([]bool, len(all))
	// Siblings form a binary tree, often a list, so that it is walked without recursion.
	type place struct {
		id     uint32
		folder string
		depth  int
	}
	todo := []place{{root.child, "", 0}}
	names := 0 // bytes
	for len(todo) > 0 {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if int64(p.id) >= int64(len(all)) || seen[p.id] || p.depth > maxDepth {
			continue
		}
		seen[p.id] = true
		e := all[p.id]
		name := p.folder + e.name
		if names += len(name); names > maxNames {
			return errDamaged
		}
		if _, twice := f.entries[key(name)]; !twice {
			f.entries[key(name)] = e
			f.names = append(f.names, name)
		}
		todo = append(todo, place{e.right, p.folder, p.depth}, place{e.left, p.folder, p.depth})
		if e.kind == storage {
			todo = append(todo, place{e.child, name + "/", p.depth + 1})
		}
	}
	return nil
}

func (f *File) entry(data []byte) entry {
	units := make([]uint16, 0, 32)
	length := min(int(binary.LittleEndian.Uint16(data[64:])), 64)
	for i := 0; i+3 < length; i += 2 { // without the NUL at its end
		units = append(units, binary.LittleEndian.Uint16(data[i:]))
	}
	e := entry{
		name: strings.ReplaceAll(string(utf16.Decode(units)), "/", "_"), kind: data[66],
		left: binary.LittleEndian.Uint32(data[68:]), right: binary.LittleEndian.Uint32(data[72:]),
		child: binary.LittleEndian.Uint32(data[76:]), start: binary.LittleEndian.Uint32(data[116:]),
		size: int64(binary.LittleEndian.Uint32(data[120:])), // streams are smaller than 4 GB here
	}
	e.size = min(e.size, f.size+1) // a stream that claims to be larger has something missing
	return e
}

// Close closes the file.
func (f *File) Close() error { return f.file.Close() }

// key is what is the same in names that mean the same entry: they are compared without regard to case ([MS-CFB] 2.6.4).
func key(path string) string { return strings.ToLower(path) }

// Has reports whether there is a stream or storage of the path, such as "storage/stream", in any case of letters.
func (f *File) Has(path string) bool {
	_, ok := f.entries[key(path)]
	return ok
}

// Names returns the paths of all streams and storages.
func (f *File) Names() []string { return f.names }
