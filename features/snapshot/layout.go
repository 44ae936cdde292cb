package snapshot

import (
	"encoding/binary"
	"encoding/json"
	"unsafe"
)

// magic begins every flat file.
const magic = "SXS1"

// alignment of the sections of a flat file, in bytes from its start: a cache line, and the
// width of the widest vector registers.
const alignment = 64

// section is a named part of a flat file.
type section struct {
	Name   string `json:"name"`
	DType  string `json:"dtype"` // float32, uint8, int32, uint32, or utf8: n+1 offsets as uint32, then the bytes
	Shape  []int  `json:"shape"`
	Offset int    `json:"offset"` // from the start of the file
	Bytes  int    `json:"bytes"`

	data []byte // to copy; nil: whoever made the file fills the section in
}

func sized(name, dtype string, width int, shape ...int) section {
	n := width
	for _, s := range shape {
		n *= s
	}
	return section{Name: name, DType: dtype, Shape: shape, Bytes: n}
}

// flatFile makes a file of sections. Header gives the JSON header once the offsets are known; it
// is called until the length of the header, which they depend on, stands.
func flatFile(sections []section, header func() any) []byte {
	for base := alignment; ; {
		end := base
		for i := range sections {
			sections[i].Offset = end
			end = roundUp(end + sections[i].Bytes)
		}
		text, err := json.Marshal(header())
		if err != nil {
			panic("BUG: " + err.Error())
		}
		if need := roundUp(len(magic) + 4 + len(text)); need > base {
			base = need
			continue
		}
		file := make([]byte, end)
		copy(file, magic)
		binary.LittleEndian.PutUint32(file[len(magic):], uint32(base-len(magic)-4))
		n := copy(file[len(magic)+4:], text) + len(magic) + 4
		for ; n < base; n++ {
			file[n] = ' '
		}
		for _, s := range sections {
			copy(file[s.Offset:], s.data)
		}
		return file
	}
}

func roundUp(n int) int { return (n + alignment - 1) / alignment * alignment }

// view is a section of file as values of T. Flat files are little-endian, and so is every
// machine that Sextant is built for.
func view[T float32 | int32 | uint32 | uint8](file []byte, s section) []T {
	var zero T
	n := s.Bytes / int(unsafe.Sizeof(zero))
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&file[s.Offset])), n)
}

// bytesOf is the memory of numbers.
func bytesOf[T float32 | int32 | uint32 | uint8](values []T) []byte {
	if len(values) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), len(values)*int(unsafe.Sizeof(values[0])))
}

// textBlob is strings as a section has them.
func textBlob(values []string) []byte {
	n := 0
	for _, s := range values {
		n += len(s)
	}
	head := 4 * (len(values) + 1)
	blob := make([]byte, head, head+n)
	for i, s := range values {
		binary.LittleEndian.PutUint32(blob[4*i:], uint32(len(blob)-head))
		blob = append(blob, s...)
	}
	binary.LittleEndian.PutUint32(blob[4*len(values):], uint32(len(blob)-head))
	return blob
}

func textSection(name string, values []string, blob []byte) section {
	return section{Name: name, DType: "utf8", Shape: []int{len(values)}, Bytes: len(blob), data: blob}
}

// keyBlobs makes blobs, once: entities outlive many ticks.
func (e *entities) keyBlobs() {
	if e.blobs == nil {
		e.blobs = make([][]byte, len(e.keys))
		for k := range e.keys {
			e.blobs[k] = textBlob(e.keys[k])
		}
	}
}
