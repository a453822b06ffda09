package pageimage

import (
	"encoding/binary"
	"image"
	"image/color"
	"io"
	"math"

	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

const (
	// mostDecoding is the memory for decoding one image if there is no pool, in bytes.
	mostDecoding = 512 << 20
	// growth is the maximum memory of a growing buffer, with its discarded predecessors, relative to its
	// content.
	growth = 4
	// A lossless WebP has at most 2600 groups of trees, each for 16 or more pixels; a lossy one at most 8
	// partitions.
	webpGroup, webpGroups, webpTile = 56 << 10, 2600, 16
	webpParts                       = 8 << 24
)

// file is an image file as described by its header.
type file struct {
	io.ReaderAt
	size   int64
	format string // as in package image
	image.Config
	order binary.ByteOrder // of a TIFF
}

// cost returns the maximum memory, in bytes, for decoding a page and converting it to gray. It follows the
// allocations of the decoders in the standard library and x/image; TestCostOfDecoding compares.
func (f file) cost(p page, size Size) int64 {
	w, h := float64(f.Width), float64(f.Height)
	pixels := w * h
	most := pixels*f.pixelBytes() + f.buffers(p)
	most += pixels + 2*min(4*pixels, float64(size.pixels())) // gray, scaled, rotated
	return int64(min(most, math.MaxInt64/2))
}

// pixelBytes returns the bytes of a pixel in the decoded image.
func (f file) pixelBytes() float64 {
	switch f.ColorModel {
	case color.GrayModel:
		return 1
	case color.Gray16Model:
		return 2
	case color.YCbCrModel:
		return 3
	case color.RGBAModel, color.NRGBAModel, color.CMYKModel, color.NYCbCrAModel:
		return 4
	}
	if _, ok := f.ColorModel.(color.Palette); ok {
		return 1
	}
	return 8
}

// buffers returns the memory that a decoder holds in addition to the image.
func (f file) buffers(p page) float64 {
	w, pixels := float64(f.Width), float64(f.Width)*float64(f.Height)
	switch f.format {
	case "png":
		n := 2 * 8 * w // two rows
		if f.ColorModel == color.GrayModel || f.ColorModel == color.Gray16Model {
			n += 3 * f.pixelBytes() * pixels // one color may be transparent; then it is decoded as color
		}
		if f.interlaced() {
			n += 4 * f.pixelBytes() * pixels / 2
		}
		return n
	case "jpeg":
		return f.jpegBuffers() * pixels
	case "gif":
		return pixels // the frame, before its rows are put in order
	case "webp":
		if f.ColorModel == color.NRGBAModel { // lossless: a second image for a palette, and tiles
			return 5*pixels + webpGroup*min(webpGroups, pixels/webpTile)
		}
		n := pixels/4 + min(webpParts, float64(f.size))
		if f.ColorModel == color.NYCbCrAModel { // its alpha channel is a lossless image
			n += 9*pixels + webpGroup*min(webpGroups, pixels/webpTile)
		}
		return n
	case "tiff":
		return f.tiffBuffers(p)
	}
	return 8 * w
}

func (f file) interlaced() bool {
	const at = 28 // offset of IHDR's last byte
	var b [1]byte
	_, err := f.ReadAt(b[:], at)
	return err != nil || b[0] != 0
}

// jpegBuffers returns the bytes that the decoder holds for each pixel. A progressive image is held as
// coefficients of 4 bytes.
func (f file) jpegBuffers() float64 {
	const converted = 4 // CMYK, and RGB other than JFIF's
	n := 0.0
	if f.ColorModel == color.CMYKModel || f.ColorModel == color.RGBAModel {
		n = converted
	}
	const (
		progressive = 0xC2
		startOfScan = 0xDA
	)
	for at, b := int64(2), [4]byte{}; ; {
		if _, err := f.ReadAt(b[:], at); err != nil || b[0] != 0xFF || b[1] == startOfScan {
			return n + 4*4 // not declared: assume the maximum
		}
		switch marker := b[1]; {
		case marker == 0xFF: // fill byte
			at++
			continue
		case marker == progressive:
			return n + f.coefficients(at+4)
		case marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC:
			return n
		}
		at += 2 + int64(binary.BigEndian.Uint16(b[2:]))
	}
}

// coefficients returns the number per pixel, from the sampling of its components (ITU T.81, B.2.2).
func (f file) coefficients(frame int64) float64 {
	const most = 4 * 4
	var b [6 + 3*4]byte
	n, _ := f.ReadAt(b[:], frame) // a short read leaves zeros
	components := int(b[5])
	if n < 6+3*components || components > 4 {
		return most
	}
	samples, widest, highest := 0, 1, 1
	for i := range components {
		x, y := int(b[7+3*i]>>4), int(b[7+3*i]&15)
		samples += x * y
		widest, highest = max(widest, x), max(highest, y)
	}
	return 4 * float64(samples) / float64(widest*highest)
}

// Tags and compressions of TIFF 6.0.
const (
	tiffCompression = 259
	tiffRows        = 278
	tiffTileWidth   = 322
	tiffTileLength  = 323

	tiffNone       = 1
	tiffG3, tiffG4 = 3, 4
)

// tiffBuffers returns the memory for one strip or tile, which the decoder unpacks to up to 8 bytes per pixel,
// whatever it should hold.
func (f file) tiffBuffers(p page) float64 {
	tags := f.tags(p)
	w, h := float64(f.Width), float64(f.Height)
	across, down := w, h
	if rows := float64(tags[tiffRows]); rows > 0 {
		down = min(rows, h)
	}
	if tags[tiffTileWidth] > 0 {
		across, down = float64(tags[tiffTileWidth]), float64(tags[tiffTileLength])
	}
	block := across * down
	offsets := 24 * min(math.Ceil(w/across)*math.Ceil(h/max(down, 1)), float64(f.size))
	switch tags[tiffCompression] {
	case 0, tiffNone:
		return offsets + growth*min(8*block, float64(f.size))
	case tiffG3, tiffG4:
		return offsets + growth*(block/8+down)
	}
	return offsets + growth*8*block
}

// tags returns the first values of a page's tags. An unreadable one is zero.
func (f file) tags(p page) map[uint16]uint32 {
	const short = 3
	tags := map[uint16]uint32{}
	at := int64(f.order.Uint32(p.first[:]))
	var count [2]byte
	if _, err := f.ReadAt(count[:], at); err != nil {
		return tags
	}
	entries := make([]byte, 12*min(int(f.order.Uint16(count[:])), maxEntries))
	n, _ := f.ReadAt(entries, at+2) // a short read leaves zeros
	for e := entries[:n-n%12]; len(e) > 0; e = e[12:] {
		value := f.order.Uint32(e[8:])
		if f.order.Uint16(e[2:]) == short {
			value = uint32(f.order.Uint16(e[8:]))
		}
		tags[f.order.Uint16(e)] = value
	}
	return tags
}

// checkCost rejects an image by its header, before memory is allocated for it.
func (f file) checkCost(need, most int64) error {
	if need > most {
		return taskerr.Errorf(taskerr.QuotaExceeded,
			"the image (%d × %d) would take %d MB to decode, and at most %d MB are allowed: make it smaller, or "+
				"save it as a plain JPEG, as PNG, or as a TIFF in strips",
			f.Width, f.Height, need>>20, most>>20)
	}
	return nil
}
