package nativetest

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/color/palette"
	"image/gif"
	"image/png"
	"io"

	"golang.org/x/image/bmp"
)

// CostlyPictures returns image files with many pixels that compress to nearly nothing, one for each kind of
// decoder.
func CostlyPictures(width, height int) []Costly {
	frame := image.Rect(0, 0, width, height)
	encoded := func(img func() image.Image, encode func(io.Writer, image.Image) error) func(io.Writer) error {
		return func(w io.Writer) error { return encode(w, img()) }
	}
	asGIF := func(w io.Writer, m image.Image) error { return gif.Encode(w, m, nil) }
	return []Costly{
		{"colors.png", encoded(func() image.Image { return image.NewNRGBA(frame) }, png.Encode)},
		{"gray.png", encoded(func() image.Image { return image.NewGray(frame) }, png.Encode)},
		{"of 16 bits.png", deepPNG(width, height)},
		{"palette.png", encoded(func() image.Image { return image.NewPaletted(frame, palette.Plan9) }, png.Encode)},
		{"interlaced.png", interlacedPNG(width, height)},
		{"gray with a transparent level.png", transparentPNG(width, height)},
		{"frame.gif", encoded(func() image.Image {
			return image.NewPaletted(frame,
				color.Palette{color.Black, color.White})
		}, asGIF)},
		{"colors.bmp", encoded(func() image.Image { return image.NewNRGBA(frame) }, bmp.Encode)},
		{"progressive.jpg", progressiveJPEG(width, height)},
		{"lossless.webp", losslessWebP(width, height)},
		{"gray in one deflated strip.tiff", deflatedTIFF(width, height, 1, 8, 1)},
		{"16 bits of colors in one deflated strip.tiff", deflatedTIFF(width, height, 4, 16, 1)},
		{"a strip that unpacks to more than it should.tiff", deflatedTIFF(width, height, 1, 8, 8)},
	}
}

func chunk(w *bytes.Buffer, kind string, data []byte) {
	var n [4]byte
	binary.BigEndian.PutUint32(n[:], uint32(len(data)))
	w.Write(n[:])
	body := append([]byte(kind), data...)
	w.Write(body)
	binary.BigEndian.PutUint32(n[:], crc32.ChecksumIEEE(body))
	w.Write(n[:])
}

// blankPNG is a PNG of zeros. colorType is the standard's (PNG, 11.2.1).
func blankPNG(w io.Writer, width, height int, depth, colorType, interlace byte, size int, more ...[]byte) error {
	var out bytes.Buffer
	out.WriteString("\x89PNG\r\n\x1a\n")
	head := make([]byte, 13)
	binary.BigEndian.PutUint32(head, uint32(width))
	binary.BigEndian.PutUint32(head[4:], uint32(height))
	head[8], head[9], head[12] = depth, colorType, interlace
	chunk(&out, "IHDR", head)
	for _, t := range more {
		chunk(&out, "tRNS", t)
	}
	chunk(&out, "IDAT", zeros(size))
	chunk(&out, "IEND", nil)
	_, err := w.Write(out.Bytes())
	return err
}

// zeros returns n zero bytes, compressed by zlib (RFC 1950). A megabyte is compressed once, up to a flush, and stands
// there as often as needed: it refers to nothing before it.
func zeros(n int) []byte {
	const megabyte = 1 << 20
	deflated := func(n int, last bool) []byte {
		var out bytes.Buffer
		z, err := flate.NewWriter(&out, flate.DefaultCompression)
		if err == nil {
			_, err = z.Write(make([]byte, n))
		}
		if last {
			err = errors.Join(err, z.Close())
		} else {
			err = errors.Join(err, z.Flush())
		}
		if err != nil {
			panic(err) // writes to memory don't fail
		}
		return out.Bytes()
	}
	out := append([]byte{0x78, 0x9c}, bytes.Repeat(deflated(megabyte, false), n/megabyte)...)
	out = append(out, deflated(n%megabyte, true)...)
	return binary.BigEndian.AppendUint32(out, uint32(n%65521)<<16|1) // Adler-32
}

func interlacedPNG(width, height int) func(io.Writer) error {
	return func(w io.Writer) error {
		size := 0
		// Adam7
		for _, p := range [][4]int{
			{8, 8, 0, 0},
			{8, 8, 4, 0},
			{4, 8, 0, 4},
			{4, 4, 2, 0},
			{2, 4, 0, 2},
			{2, 2, 1, 0},
			{1, 2, 0, 1},
		} {
			across, down := (width-p[2]+p[0]-1)/p[0], (height-p[3]+p[1]-1)/p[1]
			size += down * (1 + 4*across)
		}
		return blankPNG(w, width, height, 8, 6, 1, size)
	}
}

func deepPNG(width, height int) func(io.Writer) error {
	return func(w io.Writer) error { return blankPNG(w, width, height, 16, 6, 0, height*(1+8*width)) }
}

func transparentPNG(width, height int) func(io.Writer) error {
	return func(w io.Writer) error { return blankPNG(w, width, height, 8, 0, 0, height*(1+width), []byte{0, 7}) }
}

// progressiveJPEG has the first scan of three components at full size, with one bit per block that repeats the
// previous block. A decoder keeps all coefficients.
func progressiveJPEG(width, height int) func(io.Writer) error {
	return func(w io.Writer) error {
		var out bytes.Buffer
		out.WriteString("\xff\xd8\xff\xdb\x00\x43\x00")
		out.Write(bytes.Repeat([]byte{1}, 64))
		out.Write([]byte{
			0xff, 0xc2, 0, 17, 8, byte(height >> 8), byte(height), byte(width >> 8), byte(width), 3, 1, 0x11, 0, 2,
			0x11, 0, 3, 0x11, 0,
		})
		// one code of one bit: no difference
		out.Write([]byte{0xff, 0xc4, 0, 20, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})
		out.Write([]byte{0xff, 0xda, 0, 12, 3, 1, 0, 2, 0, 3, 0, 0, 0, 0})
		blocks := 3 * ((width + 7) / 8) * ((height + 7) / 8)
		out.Write(make([]byte, (blocks+7)/8))
		out.WriteString("\xff\xd9")
		_, err := w.Write(out.Bytes())
		return err
	}
}

// losslessWebP encodes an image of equal pixels in some 30 bytes (WebP Lossless Bitstream, 5).
func losslessWebP(width, height int) func(io.Writer) error {
	return func(w io.Writer) error {
		var bits []byte
		at := 0
		put := func(value uint32, n int) {
			for i := range n {
				if at%8 == 0 {
					bits = append(bits, 0)
				}
				bits[at/8] |= byte(value>>i&1) << (at % 8)
				at++
			}
		}
		put(0x2f, 8)
		put(uint32(width-1), 14)
		put(uint32(height-1), 14)
		put(0, 1+3) // no alpha, version
		put(0, 1)   // no transform
		put(0, 1)   // no color cache
		put(0, 1)   // one group of codes
		for range 5 {
			put(1, 1) // a simple code
			put(0, 1) // of one symbol
			put(0, 1) // of one bit
			put(0, 1)
		}
		bits = append(bits, make([]byte, 16+len(bits)%2)...) // padding: the decoder reads ahead
		var out bytes.Buffer
		out.WriteString("RIFF")
		size := func(n int) { _ = binary.Write(&out, binary.LittleEndian, uint32(n)) } // memory only
		size(4 + 8 + len(bits))
		out.WriteString("WEBPVP8L")
		size(len(bits))
		out.Write(bits)
		_, err := w.Write(out.Bytes())
		return err
	}
}

// deflatedTIFF is an image in one strip that unpacks to a multiple of its declared size.
func deflatedTIFF(width, height, samples, bits, times int) func(io.Writer) error {
	return func(w io.Writer) error { return writeTIFF(w, width, height, samples, bits, times, 1) }
}

// PagesTIFF is a TIFF of n pages that share one strip.
func PagesTIFF(width, height, pages int) Costly {
	return Costly{
		"many pages that share a strip.tiff",
		func(w io.Writer) error { return writeTIFF(w, width, height, 1, 8, 1, pages) },
	}
}

func writeTIFF(w io.Writer, width, height, samples, bits, times, pages int) error {
	strip := zeros(width * height * samples * bits / 8 * times)
	strip = append(strip, make([]byte, len(strip)%2)...)
	var out bytes.Buffer
	put := func(values ...any) {
		for _, v := range values {
			_ = binary.Write(&out, binary.LittleEndian, v) // memory only
		}
	}
	const header, short, long, rgb = 8, 3, 4, 2
	out.WriteString("II*\x00")
	depths := header + len(strip)
	directory := depths + 2*samples
	directory += directory % 2
	put(uint32(directory))
	out.Write(strip)
	for range samples {
		put(uint16(bits))
	}
	out.Write(make([]byte, directory-out.Len()))
	photometric := 1
	if samples > 1 {
		photometric = rgb
	}
	type entry struct {
		tag, kind    uint16
		count, value int
	}
	entries := []entry{
		{256, long, 1, width},
		{257, long, 1, height},
		{258, short, samples, bits},
		{259, short, 1, 8},
		{262, short, 1, photometric},
		{273, long, 1, header},
		{277, short, 1, samples},
		{278, long, 1, height},
		{279, long, 1, len(strip)},
	}
	if samples > 1 {
		entries[2].value = depths
	}
	if samples == 4 {
		entries = append(entries, entry{338, short, 1, 2})
	}
	for page := range pages {
		put(uint16(len(entries)))
		for _, e := range entries {
			put(e.tag, e.kind, uint32(e.count), uint32(e.value))
		}
		next := directory + (page+1)*(2+12*len(entries)+4)
		if page == pages-1 {
			next = 0
		}
		put(uint32(next))
	}
	_, err := w.Write(out.Bytes())
	return err
}
