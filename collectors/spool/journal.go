package spool

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
)

// The journal says which numbers are settled. It is a header (magic and agent id) and
// records of 21 bytes: kind u8, from u64, to u64, CRC32C u32. Replaying a record twice
// changes nothing, and losing the last ones only means that some records are sent again.
const (
	journalMagic  = "SXJOURN1"
	journalHeader = 8 + 8
	recordSize    = 1 + 8 + 8 + 4

	recordAck  = 1 // from ≤ n < to are acknowledged
	recordDrop = 2 // from ≤ n < to are given up; those not settled before count as dropped
	recordBase = 3 // from-1 records were dropped before the ones that follow
	recordNext = 4 // numbers below from were given out

	// rewriteAfter is how many records are appended before the journal is written anew.
	rewriteAfter = 4096
)

// standing is what the journal says.
type standing struct {
	settled ranges
	dropped uint64
	next    uint64 // numbers below it were given out
}

func (s *standing) apply(kind byte, from, to uint64) error {
	if from == 0 || from >= to || to > 1<<62 || s.dropped > 1<<61 {
		return fmt.Errorf("record of numbers %d to %d", from, to)
	}
	switch kind {
	case recordAck:
		s.settled.add(span{from, to})
	case recordDrop:
		s.dropped += s.settled.missing(span{from, to})
		s.settled.add(span{from, to})
	case recordBase:
		s.dropped = from - 1
	case recordNext:
		s.next = max(s.next, from)
	default:
		return fmt.Errorf("record kind %d", kind)
	}
	s.next = max(s.next, s.settled.max()+1)
	return nil
}

// parseJournal replays b and returns how many of its bytes hold whole records.
func parseJournal(b []byte, agent string) (s standing, good int, err error) {
	if len(b) < journalHeader || string(b[:8]) != journalMagic {
		return s, 0, errors.New("not a journal")
	}
	if id := hex.EncodeToString(b[8:16]); id != agent {
		return s, 0, fmt.Errorf("journal of agent %s in the spool of agent %s", id, agent)
	}
	s.next = 1
	for good = journalHeader; good+recordSize <= len(b); good += recordSize {
		r := b[good : good+recordSize]
		from, to := binary.LittleEndian.Uint64(r[1:]), binary.LittleEndian.Uint64(r[9:])
		if crc32.Checksum(r[:17], castagnoli) != binary.LittleEndian.Uint32(r[17:]) {
			break
		}
		if s.apply(r[0], from, to) != nil {
			break // what follows cannot be trusted, as behind a bad checksum
		}
	}
	return s, good, nil //nolint:nilerr // the end of what can be trusted is no failure
}

func appendRecord(dst []byte, kind byte, from, to uint64) []byte {
	start := len(dst)
	dst = binary.LittleEndian.AppendUint64(append(dst, kind), from)
	dst = binary.LittleEndian.AppendUint64(dst, to)
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli))
}

// journal is the open file behind a standing.
type journal struct {
	standing
	agent    string
	path     string
	f        *os.File
	durable  bool // whether it survives the loss of power
	appended int
	broken   bool // a write failed: the file says less than the standing
	dirty    bool // written, not synced
}

// openJournal reads the journal of agent in dir, or begins one. fresh is true when there
// was none that could be read, with the reason in why unless it simply did not exist.
func openJournal(dir, agent string, durable bool) (j *journal, fresh bool, why error) {
	j = &journal{agent: agent, path: filepath.Join(dir, "journal"), durable: durable}
	b, err := os.ReadFile(j.path)
	if err == nil {
		j.standing, _, err = parseJournal(b, agent)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return j, true, nil
	}
	return j, err != nil, err
}

// add applies a record and writes it to the file, in this order: when the disk takes no
// more the standing is still right, and the next rewrite carries it.
func (j *journal) add(kind byte, from, to uint64) error {
	if from >= to {
		return nil
	}
	if err := j.apply(kind, from, to); err != nil {
		panic("BUG: " + err.Error())
	}
	if j.f == nil || j.broken || j.appended >= rewriteAfter {
		return j.rewrite()
	}
	if _, err := j.f.Write(appendRecord(nil, kind, from, to)); err != nil {
		j.broken = true // and a part of the record may stand there
		return fmt.Errorf("write spool journal: %w", err)
	}
	j.appended++
	j.dirty = true
	return nil
}

// journalBytes is the shortest journal that says s.
func journalBytes(agent string, s standing) []byte {
	id, err := hex.DecodeString(agent)
	if err != nil || len(id) != 8 {
		panic("BUG: agent id " + agent)
	}
	b := append([]byte(journalMagic), id...)
	b = appendRecord(b, recordBase, s.dropped+1, s.dropped+2)
	b = appendRecord(b, recordNext, max(s.next, 1), max(s.next, 1)+1)
	for _, sp := range s.settled {
		b = appendRecord(b, recordAck, sp.from, sp.to)
	}
	return b
}

// rewrite replaces the file by the shortest one that says the same.
func (j *journal) rewrite() error {
	f, err := replaceFile(j.path, journalBytes(j.agent, j.standing), j.durable)
	if err != nil {
		j.broken = true
		return fmt.Errorf("rewrite spool journal: %w", err)
	}
	if j.f != nil {
		j.f.Close()
	}
	j.f, j.appended, j.broken, j.dirty = f, 0, false, false
	return nil
}

func (j *journal) sync() error {
	if j.f == nil || !j.dirty || !j.durable {
		return nil
	}
	if err := j.f.Sync(); err != nil {
		return fmt.Errorf("sync spool journal: %w", err)
	}
	j.dirty = false
	return nil
}

func (j *journal) close() error {
	if j.f == nil {
		return nil
	}
	return errors.Join(j.sync(), j.f.Close())
}
