package clickhouse

import (
	"encoding/binary"
	"io"
	"sync"
	"unsafe"

	ch "github.com/ClickHouse/clickhouse-go/v2"

	"sextant/pipeline"
)

// block is one block in the Native format. The format is little-endian, and so are the
// machines that this is built for (amd64, arm64).
//
// The HTTP client may go on reading for a moment after a request has failed. stop makes
// sure that it does not read columns that the next group fills.
type block struct {
	mu    sync.Mutex // held while parts are read
	parts [][]byte   // what is left to read
}

// samplesBlock is a block of samples, read from the columns where they lie: an insert of a
// million rows then costs no memory of its own.
func samplesBlock(columns []ch.ColumnNameAndType, s *pipeline.Samples) *block {
	data := [][]byte{asBytes(s.Series), asBytes(s.Time), asBytes(s.Value), asBytes(s.Flags)}
	head := binary.AppendUvarint(nil, uint64(len(columns)))
	head = binary.AppendUvarint(head, uint64(len(s.Series)))
	b := &block{}
	for i, c := range columns {
		head = appendString(appendString(head, c.Name), c.Type)
		b.parts = append(b.parts, head, data[i])
		head = nil
	}
	return b
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// asBytes shows the memory of vs.
func asBytes[T uint64 | int64 | float64 | uint16](vs []T) []byte {
	if len(vs) == 0 {
		return nil
	}
	var one T
	return unsafe.Slice((*byte)(unsafe.Pointer(&vs[0])), len(vs)*int(unsafe.Sizeof(one)))
}

// Read implements io.Reader.
func (b *block) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.parts) > 0 && len(b.parts[0]) == 0 {
		b.parts = b.parts[1:]
	}
	if len(b.parts) == 0 {
		return 0, io.EOF
	}
	n := copy(p, b.parts[0])
	b.parts[0] = b.parts[0][n:]
	return n, nil
}

// stop ends reading: the columns are the caller's again.
func (b *block) stop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.parts = nil
}
