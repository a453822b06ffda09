package pageimage

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"io"

	"github.com/seed-7227ef26/async-worker/internal/child"
	"github.com/seed-7227ef26/async-worker/internal/ocr"
)

// Further tags of TIFF 6.0 and of its Technical Note 2, which defines compression by JPEG.
const (
	tiffWidth       = 256
	tiffHeight      = 257
	tiffPhotometric = 262
	tiffOffsets     = 273
	tiffCounts      = 279
	tiffTileOffsets = 324
	tiffTileCounts  = 325
	tiffJPEGTables  = 347

	tiffJPEG = 7
	tiffRGB  = 2
)

const (
	maxTiles  = 1 << 16
	maxTables = 64 << 10
)

// jpegPage is a page of a TIFF whose strips or tiles are JPEG images, which golang.org/x/image/tiff doesn't read.
type jpegPage struct {
	in              *input
	page            page
	width, height   int
	across, down    int // of a tile; a strip is as wide as the page
	offsets, counts []uint32
	tables          []byte // of quantization and codes, for all tiles
	rgb             bool
}

// values returns all values of a tag of shorts or longs, at most limit.
func (p page) values(in io.ReaderAt, tag uint16, limit int) []uint32 {
	const short, long = 3, 4
	raw, kind := p.raw(in, tag, limit*4)
	size := map[uint16]int{short: 2, long: 4}[kind]
	var all []uint32
	for ; size > 0 && len(raw) >= size; raw = raw[size:] {
		if size == 2 {
			all = append(all, uint32(p.order.Uint16(raw)))
		} else {
			all = append(all, p.order.Uint32(raw))
		}
	}
	return all
}

// raw returns the bytes of a tag's values, at most limit, and their type.
func (p page) raw(in io.ReaderAt, tag uint16, limit int) (value []byte, kind uint16) {
	at := int64(p.order.Uint32(p.first[:]))
	var count [2]byte
	if _, err := in.ReadAt(count[:], at); err != nil {
		return nil, 0
	}
	entries := make([]byte, 12*min(int(p.order.Uint16(count[:])), maxEntries))
	n, _ := in.ReadAt(entries, at+2) // a short read leaves out tags
	for e := entries[:n-n%12]; len(e) > 0; e = e[12:] {
		if p.order.Uint16(e) != tag {
			continue
		}
		kind = p.order.Uint16(e[2:])
		if int(kind) >= len(typeSizes) {
			return nil, 0
		}
		size := int64(p.order.Uint32(e[4:])) * typeSizes[kind]
		if size <= 4 {
			return e[8 : 8+size], kind
		}
		value = make([]byte, min(size, int64(limit)))
		n, _ := in.ReadAt(value, int64(p.order.Uint32(e[8:]))) // as above
		return value[:n], kind
	}
	return nil, 0
}

// jpeg returns the page if its compression is JPEG.
func (p page) jpeg(in *input) (*jpegPage, bool) {
	first := func(tag uint16) int {
		if v := p.values(in, tag, 1); len(v) > 0 {
			return int(v[0])
		}
		return 0
	}
	if !p.directory || first(tiffCompression) != tiffJPEG {
		return nil, false
	}
	j := &jpegPage{
		in: in, page: p, width: first(tiffWidth), height: first(tiffHeight), across: first(tiffTileWidth),
		down: first(tiffTileLength), rgb: first(tiffPhotometric) == tiffRGB,
	}
	j.tables, _ = p.raw(in, tiffJPEGTables, maxTables)
	if j.across > 0 {
		j.offsets, j.counts = p.values(in, tiffTileOffsets, maxTiles), p.values(in, tiffTileCounts, maxTiles)
		return j, true
	}
	j.across, j.down = j.width, first(tiffRows)
	if j.down == 0 || j.down > j.height {
		j.down = j.height
	}
	j.offsets, j.counts = p.values(in, tiffOffsets, maxTiles), p.values(in, tiffCounts, maxTiles)
	return j, true
}

// decode returns the page in gray, upright.
func (j *jpegPage) decode(size Size) (ocr.Image, error) {
	config := image.Config{Width: j.width, Height: j.height, ColorModel: color.YCbCrModel}
	if err := checkPixels(config); err != nil {
		return ocr.Image{}, err
	}
	if err := checkPixels(image.Config{Width: j.across, Height: j.down}); err != nil {
		return ocr.Image{}, err
	}
	// The page, the page scaled, and one tile: its coefficients if it is progressive, its pixels, and these in gray.
	const ofTile = 16 + 4 + 1
	need := int64(3*j.width*j.height) + ofTile*int64(j.across)*int64(j.down)
	f := file{Config: config}
	most := int64(mostDecoding)
	if j.in.pool != nil {
		most = j.in.pool.Largest(child.Step)
	}
	if err := f.checkCost(need, most); err != nil {
		return ocr.Image{}, err
	}
	_, release, err := j.in.pool.Take(j.in.ctx, child.Step, need)
	if err != nil {
		return ocr.Image{}, err
	}
	defer release()
	out := image.NewGray(image.Rect(0, 0, j.width, j.height))
	columns := (j.width + j.across - 1) / j.across
	for i := range min(len(j.offsets), len(j.counts), columns*((j.height+j.down-1)/j.down)) {
		if err := j.tile(out, i, i%columns*j.across, i/columns*j.down); err != nil {
			return ocr.Image{}, err
		}
	}
	img := oriented(resized(out, size), j.page.orientation)
	img.DPI = min(max(int(float64(max(img.Rect.Dx(), img.Rect.Dy()))/pageInches), 70), 600)
	return img, nil
}

// tile decodes one tile to its place. All but the tables are in the tile's own stream.
func (j *jpegPage) tile(out *image.Gray, number, x, y int) error {
	const marker = 2 // bytes: of the start and of the end of a JPEG image
	data := make([]byte, min(int64(j.counts[number]), j.in.size))
	n, err := j.in.ReadAt(data, int64(j.offsets[number]))
	if n < marker || err != nil && n < len(data) {
		return fmt.Errorf("read a tile: %w", io.ErrUnexpectedEOF)
	}
	stream := []byte("\xFF\xD8")
	if j.rgb { // says that the colors are not transformed
		stream = append(stream, "\xFF\xEE\x00\x0EAdobe\x00\x64\x00\x00\x00\x00\x00"...)
	}
	if t := j.tables; len(t) > 2*marker {
		stream = append(stream, bytes.TrimSuffix(t[marker:], []byte("\xFF\xD9"))...)
	}
	stream = append(stream, data[marker:]...)
	config, err := jpeg.DecodeConfig(bytes.NewReader(stream))
	if err != nil {
		return fmt.Errorf("read a tile: %w", err)
	}
	const block = 16 // what the size of a tile is rounded up to at most
	if config.Width > j.across+block || config.Height > j.down+block {
		return fmt.Errorf("read a tile of %d × %d: %w", config.Width, config.Height, io.ErrUnexpectedEOF)
	}
	decoded, err := jpeg.Decode(bytes.NewReader(stream))
	if err != nil {
		return fmt.Errorf("read a tile: %w", err)
	}
	gray, err := toGray(j.in.ctx, decoded)
	if err != nil {
		return err
	}
	for row := 0; row < gray.Rect.Dy() && row < j.down && y+row < out.Rect.Dy(); row++ {
		line := gray.Pix[row*gray.Stride:][:min(gray.Rect.Dx(), j.across)]
		copy(out.Pix[(y+row)*out.Stride+x:][:min(len(line), out.Rect.Dx()-x)], line)
	}
	return nil
}
