package simulate

import (
	"archive/tar"
	"bufio"
	"cmp"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Trace is how busy real containers kept their GPUs.
type Trace struct {
	Series []Series
}

// Series is one container of a trace.
type Series struct {
	Times []float64 // seconds from the trace's start, rising
	Busy  []float64 // 0 to 1, one per time
	Bytes []float64 // device memory in use, one per time; 0 where it is not known
}

// at returns the values t seconds into the series, which repeats without end. Busy and
// memory are steps, as the trace's are: each holds until the next.
func (s *Series) at(t float64) (busy, bytes float64) {
	first, last := s.Times[0], s.Times[len(s.Times)-1]
	if span := last - first; span > 0 {
		t = first + math.Mod(max(t, 0), span)
	} else {
		t = first
	}
	i, found := slices.BinarySearch(s.Times, t)
	if !found {
		i--
	}
	i = max(i, 0)
	return s.Busy[i], s.Bytes[i]
}

// Limits of a trace.
const (
	maxTraceBytes = 1 << 30
	maxTraceRows  = 10_000_000
)

// LoadTrace reads duty cycles (percent) and, if memory is not empty, device memory
// (bytes). Each file is CSV, or a .tar.gz that holds one, with a header row that names
// the columns value, timestamp_anon and container_ip, in any order.
func LoadTrace(duty, memory string) (*Trace, error) {
	busy, err := readTraceFile(duty)
	if err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	bytes := map[string][]point{}
	if memory != "" {
		if bytes, err = readTraceFile(memory); err != nil {
			return nil, fmt.Errorf("trace: %w", err)
		}
	}
	return joinTrace(busy, bytes), nil
}

type point struct{ t, v float64 }

func readTraceFile(file string) (map[string][]point, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, name, err := openTrace(bufio.NewReader(f))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	points, err := readTrace(io.LimitReader(r, maxTraceBytes))
	if err != nil {
		return nil, fmt.Errorf("%s: %s%w", file, name, err)
	}
	return points, nil
}

// openTrace returns the CSV text, taken out of its archive if it is in one, and the
// member's name for messages.
func openTrace(r *bufio.Reader) (io.Reader, string, error) {
	if magic, _ := r.Peek(2); string(magic) != "\x1f\x8b" {
		return r, "", nil
	}
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, "", err
	}
	for t := tar.NewReader(io.LimitReader(z, maxTraceBytes)); ; {
		h, err := t.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil, "", errors.New("no .csv file in the archive")
		case err != nil:
			return nil, "", err
		case h.Typeflag == tar.TypeReg && strings.HasSuffix(h.Name, ".csv"):
			return t, h.Name + ": ", nil
		}
	}
}

// readTrace reads points by container.
func readTrace(r io.Reader) (map[string][]point, error) {
	c := csv.NewReader(r)
	c.ReuseRecord = true
	head, err := c.Read()
	if err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	column := map[string]int{}
	for i, name := range head {
		column[name] = i
	}
	var at [3]int
	for i, name := range []string{"timestamp_anon", "value", "container_ip"} {
		k, ok := column[name]
		if !ok {
			return nil, fmt.Errorf("line 1: no column %q", name)
		}
		at[i] = k
	}
	out := map[string][]point{}
	for rows := 0; ; rows++ {
		row, err := c.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		line, _ := c.FieldPos(0)
		t, err1 := strconv.ParseFloat(row[at[0]], 64)
		v, err2 := strconv.ParseFloat(row[at[1]], 64)
		if err1 != nil || err2 != nil || math.IsInf(t, 0) || math.IsNaN(t) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("line %d: time %q and value %q, want numbers", line, row[at[0]], row[at[1]])
		}
		if rows == maxTraceRows {
			return nil, fmt.Errorf("line %d: more than %d rows", line, maxTraceRows)
		}
		if math.IsNaN(v) {
			continue // the trace does not know
		}
		key := row[at[2]]
		if _, known := out[key]; !known {
			key = strings.Clone(key) // a row's memory is used again
		}
		out[key] = append(out[key], point{t, v})
	}
	if len(out) == 0 {
		return nil, errors.New("no rows")
	}
	return out, nil
}

// joinTrace makes the series, in the order of the containers' names.
func joinTrace(busy, bytes map[string][]point) *Trace {
	names := make([]string, 0, len(busy))
	start := math.Inf(1)
	for name, ps := range busy {
		names = append(names, name)
		slices.SortStableFunc(ps, func(a, b point) int { return cmp.Compare(a.t, b.t) })
		start = min(start, ps[0].t)
	}
	slices.Sort(names)
	t := &Trace{}
	for _, name := range names {
		s := Series{}
		held := bytes[name]
		slices.SortStableFunc(held, func(a, b point) int { return cmp.Compare(a.t, b.t) })
		i, last := 0, 0.0
		for _, p := range busy[name] {
			for ; i < len(held) && held[i].t <= p.t; i++ {
				last = max(held[i].v, 0)
			}
			s.Times = append(s.Times, p.t-start)
			s.Busy = append(s.Busy, min(max(p.v/100, 0), 1))
			s.Bytes = append(s.Bytes, last)
		}
		t.Series = append(t.Series, s)
	}
	return t
}
