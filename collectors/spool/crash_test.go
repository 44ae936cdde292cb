package spool

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestTruncatedAnywhere cuts each file of a small spool at each of its bytes and opens the
// rest. Entries in front of the cut come back whole, no number is given out twice, and each
// number that is gone is counted.
func TestTruncatedAnywhere(t *testing.T) {
	dir := t.TempDir()
	o := Options{SegmentBytes: 300, Sync: SyncNone, Logger: slog.New(slog.DiscardHandler)}
	s := mustOpen(t, dir, o)
	appendAll(t, s, 1, 10)
	items := takeAll(t, s)
	s.Ack(items[3:5]...)
	want := append(seqRange(1, 4), seqRange(6, 10)...)
	mustClose(t, s)

	model := snapshot(t, dir)
	if len(model) < 5 {
		t.Fatalf("%d files", len(model))
	}
	for name, content := range model {
		for cut := range len(content) {
			restore(t, dir, model)
			if err := os.Truncate(filepath.Join(dir, name), int64(cut)); err != nil {
				t.Fatal(err)
			}
			checkRemains(t, dir, o, want, fmt.Sprintf("%s cut at %d", name, cut))
		}
	}
}

// snapshot reads the files of dir.
func snapshot(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	names, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, n := range names {
		if files[n.Name()], err = os.ReadFile(filepath.Join(dir, n.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// restore makes dir hold these files and no others.
func restore(t *testing.T, dir string, files map[string][]byte) {
	t.Helper()
	have := snapshot(t, dir)
	for name := range have {
		if _, ok := files[name]; !ok {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, b := range files {
		if was, ok := have[name]; ok && bytes.Equal(was, b) {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// checkRemains opens dir, whose unsettled numbers were want, after a cut.
func checkRemains(t *testing.T, dir string, o Options, want []uint64, what string) {
	t.Helper()
	readable := wholeEntries(t, dir)
	s, err := Open(dir, o)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	defer s.Close()
	seq, err := s.Append(numbered(1000))
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	items := takeAll(t, s)
	got := map[uint64]bool{}
	for _, it := range items {
		if got[it.Seq] {
			t.Fatalf("%s: number %d twice", what, it.Seq)
		}
		got[it.Seq] = true
		if n := int(it.Seq); it.Seq != seq {
			if err := sameEntry(it.Entry, numbered(n)); err != nil {
				t.Fatalf("%s: entry %d: %v", what, n, err)
			}
		}
	}
	lost := uint64(0)
	for _, n := range want {
		switch {
		case readable[n] && !got[n]:
			t.Fatalf("%s: entry %d is whole on disk and was not offered", what, n)
		case !got[n] && n < seq:
			lost++
		case got[n] && n >= seq && n != seq:
			t.Fatalf("%s: number %d was given out again as %d", what, n, seq)
		}
	}
	if s.Dropped() != lost {
		t.Fatalf("%s: dropped %d, lost %d of %v, got %v", what, s.Dropped(), lost, want, seqs(items))
	}
}

// wholeEntries finds what stands undamaged in the segments by plain reading.
func wholeEntries(t *testing.T, dir string) map[uint64]bool {
	t.Helper()
	whole := map[uint64]bool{}
	names, err := filepath.Glob(filepath.Join(dir, "*.seg"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for at := headerSize; at+frameSize <= len(b); {
			size := frameSize + int(b[at]) + int(b[at+1])<<8
			if at+size > len(b) {
				break
			}
			seq, _, err := decodeEntry(b[at:at+size], 1<<20)
			if err != nil {
				break
			}
			whole[seq] = true
			at += size
		}
	}
	return whole
}

// TestFlippedAnywhere damages one byte at a time. At most the entry that it hits is lost.
func TestFlippedAnywhere(t *testing.T) {
	const entries = 9
	dir := t.TempDir()
	o := Options{SegmentBytes: 500, Sync: SyncNone, Logger: slog.New(slog.DiscardHandler)}
	s := mustOpen(t, dir, o)
	appendAll(t, s, 1, entries+1)
	mustClose(t, s)
	segs, err := listSegments(dir)
	if err != nil || len(segs) < 2 {
		t.Fatalf("%d segments, %v", len(segs), err)
	}
	model := snapshot(t, dir)
	for _, seg := range segs {
		for at := range int(seg.size) {
			restore(t, dir, model)
			flip(t, seg.path, at)
			s := mustOpen(t, dir, o)
			items := takeAll(t, s)
			wantNumbered(t, items)
			torn := entries + 1 - s.next
			if len(items) < entries-1 || s.Dropped()+torn+uint64(len(items)) != entries {
				t.Fatalf("%s byte %d: took %v, dropped %d, next %d", seg.path, at, seqs(items), s.Dropped(), s.next)
			}
			mustClose(t, s)
		}
	}
}

func flip(t *testing.T, path string, at int) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[at] ^= 0x41
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// child is this test binary as a process that is to be killed, or whose disk is full.
func child(role, dir string) int {
	o := Options{SegmentBytes: 2000, SyncEvery: time.Millisecond, Logger: slog.New(slog.DiscardHandler)}
	switch role {
	case "append":
		return appendForever(dir, o)
	case "full":
		return fillDisk(dir, o)
	}
	return 2
}

// appendForever appends, acknowledges every third entry that it takes, and says so.
func appendForever(dir string, o Options) int {
	s, err := Open(dir, o)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	for {
		seq, err := s.Append(numbered(int(s.next)))
		if err != nil {
			fmt.Println(err)
			return 1
		}
		fmt.Println("appended", seq)
		items, _ := s.TakeFresh(1 << 16)
		for _, it := range items {
			fmt.Println("sent", it.Seq)
			if it.Seq%3 == 0 {
				fmt.Println("acking", it.Seq)
				s.Ack(it)
				fmt.Println("acked", it.Seq)
			}
		}
	}
}

// TestKilledProcess kills a writing process again and again. What Append had returned is
// there, what was acknowledged does not come back, no number that was sent is used anew.
func TestKilledProcess(t *testing.T) {
	dir := t.TempDir()
	var appended, sent uint64
	acked, acking := map[uint64]bool{}, map[uint64]bool{}
	for round := range 5 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "SPOOL_TEST_CHILD=append", "SPOOL_TEST_DIR="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		kill, acks := appended+150+uint64(round*37), len(acked)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			word, digits, _ := strings.Cut(lines.Text(), " ")
			n, err := strconv.ParseUint(digits, 10, 64)
			if err != nil {
				break // cut by the kill
			}
			switch word {
			case "appended":
				if n <= max(appended, sent) {
					t.Fatalf("number %d was given out again, %d were appended", n, appended)
				}
				appended = n
			case "sent":
				sent = max(sent, n)
			case "acking":
				acking[n] = true
			case "acked":
				acked[n] = true
			}
			if appended >= kill && len(acked) >= acks+10 {
				_ = cmd.Process.Signal(syscall.SIGKILL)
			}
		}
		_ = cmd.Wait()
		if appended < kill || len(acked) < acks+10 {
			t.Fatalf("round %d ended by itself after %d entries", round, appended)
		}
	}
	s := mustOpen(t, dir, Options{SegmentBytes: 2000})
	if s.Dropped() != 0 {
		t.Fatalf("dropped %d", s.Dropped())
	}
	items := takeAll(t, s)
	wantNumbered(t, items)
	for n := uint64(1); n <= appended; n++ {
		// Killed between the two lines, the acknowledgement may or may not be written.
		if there := slices.Contains(seqs(items), n); there == acked[n] && (there || !acking[n]) {
			t.Fatalf("entry %d: offered %t, acknowledged %t", n, there, acked[n])
		}
	}
}

// fillDisk writes under a file size limit, which the kernel enforces as a full disk: short
// writes and errors. Then it raises the limit.
func fillDisk(dir string, o Options) int {
	ignoreFileSizeSignal()
	o.SegmentBytes, o.MaxBytes, o.MemoryBytes = 1<<20, 4<<20, 64<<10
	s, err := Open(dir, o)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	limit := syscall.Rlimit{Cur: 10_000, Max: syscall.RLIM_INFINITY & (1<<63 - 1)}
	if err := setFileSizeLimit(&limit); err != nil {
		fmt.Println(err)
		return 1
	}
	refused := 0
	for n := 1; n <= 40; n++ {
		if _, err := s.Append(big(n)); errors.Is(err, ErrNotDurable) && s.Fault() != nil {
			refused++
		} else if err != nil {
			fmt.Println("append:", err)
			return 1
		}
	}
	var volatile []Item
	for _, it := range drain(s) {
		if it.Agent != s.Agent() {
			volatile = append(volatile, it)
		}
	}
	fmt.Printf("refused %d held %d first %d dropped %d\n", refused, len(volatile), volatile[0].Seq, s.memory.dropped)
	s.Ack(volatile...)
	limit.Cur = 1 << 30
	if err := setFileSizeLimit(&limit); err != nil {
		fmt.Println(err)
		return 1
	}
	seq, err := s.Append(big(41))
	fmt.Println("again", seq, err, s.Fault())
	return 0
}

func drain(s *Spool) (all []Item) {
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); {
		items, err := s.TakeFresh(1 << 20)
		if err != nil {
			fmt.Println(err)
			return nil
		}
		if all = append(all, items...); len(items) == 0 && s.Oldest() < s.next {
			return all
		}
	}
	return all
}

// A disk that takes no more costs durability, not data: entries are held in memory under
// another agent id, the oldest dropped at its bound, and the disk is used again when it can.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "SPOOL_TEST_CHILD=full", "SPOOL_TEST_DIR="+dir)
	cmd.Stderr = io.Discard
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	// Two entries of 4 KiB fit 10,000 bytes. Of the 38 others 15 fit 64 KiB.
	if want := "refused 38 held 15 first 24 dropped 23\nagain 3 <nil> <nil>\n"; string(out) != want {
		t.Fatalf("child said %q, want %q", out, want)
	}
	s := mustOpen(t, dir, Options{})
	wantSeqs(t, takeAll(t, s), seqRange(1, 4))
}
