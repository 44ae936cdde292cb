// Package exposition reads pages of metrics: Prometheus text 0.0.4 and OpenMetrics 1.0.
//
// It works by the line, because one bad line must cost that line and nothing else: a
// label value that an exporter did not escape, a space behind a value, a second TYPE
// line. A Scanner finds the series text, the value and the timestamp of each line
// without looking into the labels, so that a scrape loop can look the series text up in
// a cache of the target's series; only a miss is worth ParseSeries.
package exposition

import "bytes"

// Scanner reads one page. The zero value is empty; Reset starts it. The byte slices that
// it returns are parts of the page. Not safe for concurrent use.
//
//	for s.Reset(body, exposition.Text); s.Next(); {
//		series, ok := cache[string(s.Series())]
//		if !ok {
//			labels, err := exposition.ParseSeries(s.Series())
//			if err != nil {
//				s.Reject(err)
//				continue
//			}
//			series = cache.add(s.Series(), labels, s.Meta(name))
//		}
//		ms, ok := s.Time()
//		series.add(ms, ok, s.Value())
//	}
//
// A page may give a series twice. To see that is for the cache, where every text of a
// series leads to the same entry.
type Scanner struct {
	page   []byte
	format Format
	pos    int // start of the next line
	eof    bool

	series  []byte
	value   float64
	time    int64
	hasTime bool

	line  []byte // the current sample line
	stats Stats
	meta  metadata
}

// MaxPage is the largest page that a Scanner takes, far beyond any sound body limit.
const MaxPage = 1<<31 - 1

// Reset starts a new page of at most MaxPage bytes. Anything that was returned for the
// page before must not be used any more.
func (s *Scanner) Reset(page []byte, format Format) {
	if len(page) > MaxPage {
		panic("BUG: a page of more than MaxPage bytes passed the body limit")
	}
	s.page, s.format, s.pos, s.eof = page, format, 0, false
	s.series, s.line = nil, nil
	s.stats = Stats{}
	s.meta.reset(page, format)
}

// Next moves to the next sample line. Bad lines are counted in Stats and passed over.
// It returns false at the end of the page.
func (s *Scanner) Next() bool {
	for s.pos < len(s.page) {
		start := s.pos
		line, whole := s.nextLine()
		if line = trim(line); len(line) == 0 {
			continue
		}
		if !whole && !(s.format == OpenMetrics && string(line) == eofLine) {
			// The sender was cut off, maybe in the middle of a number: 701 may have been
			// 70123. A page that ends without a newline loses its last line.
			s.stats.Truncated = true
			return false
		}
		if s.eof {
			s.bad(line, errAfterEOF)
			continue
		}
		if line[0] == '#' {
			s.comment(line, start)
			continue
		}
		if err := s.sample(line); err != nil {
			s.bad(line, err)
			continue
		}
		s.stats.Samples++
		return true
	}
	if s.format == OpenMetrics && !s.eof {
		s.stats.Truncated = true
	}
	return false
}

// Series is the text of the current sample's series: all of the line before the value,
// such as `up` or `node_cpu_seconds_total{cpu="0",mode="idle"}`. It has not been
// checked; a text that ParseSeries once accepted stays acceptable.
func (s *Scanner) Series() []byte { return s.series }

// Value is the current sample's value. NaN is always the plain NaN of Prometheus, never
// a staleness marker.
func (s *Scanner) Value() float64 { return s.value }

// Time is the current sample's own timestamp in unix ms, if it has one.
func (s *Scanner) Time() (ms int64, ok bool) { return s.time, s.hasTime }

// Reject turns the current sample into a bad line, for an error of ParseSeries or of a
// later check of its labels.
func (s *Scanner) Reject(err error) {
	s.stats.Samples--
	s.bad(s.line, err)
}

// Stats is what was counted on the page so far.
func (s *Scanner) Stats() Stats { return s.stats }

// nextLine returns the next line without its line end; whole is false if the page ends
// before one.
func (s *Scanner) nextLine() (line []byte, whole bool) {
	rest := s.page[s.pos:]
	s.stats.Lines++
	if i := bytes.IndexByte(rest, '\n'); i >= 0 {
		s.pos += i + 1
		return rest[:i], true
	}
	s.pos = len(s.page)
	return rest, false
}

const eofLine = "# EOF"

// comment takes the line that begins with # and stands at start.
func (s *Scanner) comment(line []byte, start int) {
	if s.format == OpenMetrics && string(line) == eofLine {
		s.eof = true
		return
	}
	if isMeta(line) {
		s.meta.note(start, s.pos)
	}
}

// sample splits a line into series text, value and timestamp.
func (s *Scanner) sample(line []byte) error {
	end := seriesEnd(line)
	if s.format == OpenMetrics {
		line, end = cutExemplar(line, end)
	}
	if end == 0 {
		return errNoName
	}
	start := end
	for start < len(line) && isBlank(line[start]) {
		start++
	}
	v, n := parseDecimal(line[start:])
	if n == 0 {
		value, _ := field(line[start:])
		var err error
		if v, err = parseFloat(value); err != nil {
			return err
		}
		n = len(value)
	}
	s.time, s.hasTime = 0, false
	if rest := line[start+n:]; len(rest) > 0 {
		if err := s.stamp(rest); err != nil {
			return err
		}
	}
	s.series, s.value, s.line = line[:end], v, line
	return nil
}

// stamp reads the timestamp behind a value.
func (s *Scanner) stamp(rest []byte) error {
	stamp, rest := field(rest)
	if len(rest) > 0 {
		return errExtra
	}
	ms, err := parseTime(stamp, s.format)
	s.time, s.hasTime = ms, err == nil
	return err
}

// seriesEnd returns where the series text ends: behind the last brace, or at the first
// blank if there is none. A value or timestamp has no brace, so on a good line the last
// one closes the labels; on a bad line ParseSeries or the value says so.
func seriesEnd(line []byte) int {
	if i := bytes.LastIndexByte(line, '}'); i >= 0 {
		return i + 1
	}
	for i, c := range line {
		if isBlank(c) {
			return i
		}
	}
	return len(line)
}

// field returns the first field of b, which starts with blanks, and what follows it.
func field(b []byte) (field, rest []byte) {
	start := 0
	for start < len(b) && isBlank(b[start]) {
		start++
	}
	end := start
	for end < len(b) && !isBlank(b[end]) {
		end++
	}
	return b[start:end], b[end:]
}

// trim drops blanks at both ends, and the carriage return of a CRLF line end.
func trim(line []byte) []byte {
	for len(line) > 0 && (isBlank(line[len(line)-1]) || line[len(line)-1] == '\r') {
		line = line[:len(line)-1]
	}
	for len(line) > 0 && isBlank(line[0]) {
		line = line[1:]
	}
	return line
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }
