package spool

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const (
	segmentMagic = "SXSPOOL1"
	// headerSize: magic, first number u64, agent id (8 bytes), CRC32C u32 of these.
	headerSize = 8 + 8 + 8 + 4
	segmentExt = ".seg"
	// maxSegment bounds a segment so that an offset fits 32 bits.
	maxSegment = 1 << 30
)

// segment is one file of entries. Its numbers are first ≤ n < end, whether or not each
// of them can still be read.
type segment struct {
	first, end uint64
	path       string
	size       int64
}

func segmentPath(dir string, first uint64) string {
	return filepath.Join(dir, fmt.Sprintf("%020d%s", first, segmentExt))
}

func segmentHeader(first uint64, agent string) []byte {
	id, err := hex.DecodeString(agent)
	if err != nil || len(id) != 8 {
		panic("BUG: agent id " + strconv.Quote(agent))
	}
	b := binary.LittleEndian.AppendUint64([]byte(segmentMagic), first)
	b = append(b, id...)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// segmentAgent reads the agent id of a segment's header; "" when the header is damaged,
// which costs nothing: the file's name and the entries say the rest.
func segmentAgent(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b := make([]byte, headerSize)
	if _, err := io.ReadFull(f, b); err != nil || string(b[:8]) != segmentMagic {
		return "", nil
	}
	if binary.LittleEndian.Uint32(b[24:]) != crc32.Checksum(b[:24], castagnoli) {
		return "", nil
	}
	return hex.EncodeToString(b[16:24]), nil
}

// listSegments returns the directory's segments in order. The end of each is the first
// number of the next; the last one's is not known before it is scanned, and is its first.
func listSegments(dir string) ([]*segment, error) {
	names, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var segs []*segment
	for _, n := range names {
		digits, ok := strings.CutSuffix(n.Name(), segmentExt)
		first, err := strconv.ParseUint(digits, 10, 64)
		if !ok || err != nil || len(digits) != 20 || first == 0 {
			continue
		}
		info, err := n.Info()
		if err != nil {
			return nil, err
		}
		segs = append(segs, &segment{first: first, end: first, path: filepath.Join(dir, n.Name()), size: info.Size()})
	}
	slices.SortFunc(segs, func(a, b *segment) int { return strings.Compare(a.path, b.path) })
	for i := 1; i < len(segs); i++ {
		segs[i-1].end = segs[i].first
	}
	return segs, nil
}
