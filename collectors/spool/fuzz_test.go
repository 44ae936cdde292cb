package spool

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"
)

// FuzzSegment reads arbitrary bytes as a segment: no panic, an end, and only entries whose
// checksum holds, each under its own number.
func FuzzSegment(f *testing.F) {
	var b []byte
	b = append(b, segmentHeader(5, "0123456789abcdef")...)
	for n := 5; n < 9; n++ {
		b = appendEntry(b, uint64(n), numbered(n))
	}
	f.Add(b)
	f.Add(b[:len(b)-3])
	f.Add(append(bytes.Clone(b), make([]byte, 100)...))
	damaged := bytes.Clone(b)
	binary.LittleEndian.PutUint32(damaged[headerSize:], 1<<31)
	f.Add(damaged)
	f.Fuzz(func(t *testing.T, b []byte) {
		s := newScanner(bytes.NewReader(b), 5, 1<<20)
		for {
			before := s.next
			e, err := s.step()
			if errors.Is(err, errEnd) || errors.Is(err, errTorn) {
				break
			}
			if s.next <= before || s.pos > int64(len(b)) || s.next-5 != uint64(len(s.offs)) {
				t.Fatalf("at number %d, byte %d, with %d offsets after %d: %v", s.next, s.pos, len(s.offs), before, err)
			}
			if err != nil {
				continue
			}
			again, err := s.read(before)
			if err != nil || sameEntry(again, e) != nil {
				t.Fatalf("entry %d reads as %v, %v the second time", before, again, err)
			}
		}
	})
}

// FuzzJournal replays arbitrary bytes; what it accepts, written anew, says the same.
func FuzzJournal(f *testing.F) {
	const agent = "0123456789abcdef"
	b := []byte(journalMagic + "\x01\x23\x45\x67\x89\xab\xcd\xef")
	f.Add(b)
	b = appendRecord(b, recordBase, 4, 5)
	b = appendRecord(b, recordAck, 1, 10)
	b = appendRecord(b, recordDrop, 8, 20)
	b = appendRecord(b, recordNext, 33, 34)
	f.Add(b)
	f.Add(b[:len(b)-1])
	f.Fuzz(func(t *testing.T, b []byte) {
		s, good, err := parseJournal(b, agent)
		if err != nil {
			return
		}
		if good > len(b) || s.next <= s.settled.max() {
			t.Fatalf("read %d of %d bytes, next %d, settled %v", good, len(b), s.next, s.settled)
		}
		again, _, err := parseJournal(journalBytes(agent, s), agent)
		if err != nil || again.dropped != s.dropped || again.next != max(s.next, 1) || len(again.settled) != len(s.settled) {
			t.Fatalf("%+v was written and read as %+v, %v", s, again, err)
		}
	})
}
