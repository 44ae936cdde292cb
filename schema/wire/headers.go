package wire

import (
	"fmt"
	"math"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// AppendHeaders appends the nine headers of e to dst, in a fixed order. A zero Version
// is written as EnvelopeVersion. The values share one allocation.
func (e Envelope) AppendHeaders(dst []Header) []Header {
	version := e.Version
	if version == 0 {
		version = EnvelopeVersion
	}
	state := e.State.String()
	buf := make([]byte, 0, len(e.Node)+len(e.Agent)+len(e.Target)+len(state)+5*20)
	add := func(key string, start int) {
		dst = append(dst, Header{key, buf[start:len(buf):len(buf)]})
	}
	text := func(key, value string) {
		start := len(buf)
		buf = append(buf, value...)
		add(key, start)
	}
	number := func(key string, value uint64) {
		start := len(buf)
		buf = strconv.AppendUint(buf, value, 10)
		add(key, start)
	}
	number(keyVersion, uint64(version))
	text(keyNode, e.Node)
	text(keyAgent, e.Agent)
	text(keyTarget, e.Target)
	number(keySeq, e.Seq)
	number(keyOldest, e.Oldest)
	number(keyDropped, e.Dropped)
	start := len(buf)
	buf = strconv.AppendInt(buf, e.Scrape, 10)
	add(keyScrape, start)
	text(keyState, state)
	return dst
}

// ParseEnvelope reads the facts from a record's headers. Each must be there exactly
// once, in its one canonical form; headers without the sx- keys are ignored. An error
// names the header and its value, and is permanent. texts may be nil.
func ParseEnvelope(headers []Header, texts Texts) (Envelope, error) {
	var e Envelope
	seen := 0
	for i := range headers {
		bit, err := e.set(headers[i].Key, headers[i].Value, texts)
		if err != nil {
			return Envelope{}, fmt.Errorf("header %s: %w", headers[i].Key, err)
		}
		if seen&bit != 0 {
			return Envelope{}, fmt.Errorf("header %s: given twice", headers[i].Key)
		}
		seen |= bit
	}
	for i, key := range envelopeKeys {
		if seen&(1<<i) == 0 {
			return Envelope{}, fmt.Errorf("header %s: missing", key)
		}
	}
	if e.Oldest > e.Seq {
		return Envelope{}, fmt.Errorf("header %s: %d is above %s %d", keyOldest, e.Oldest, keySeq, e.Seq)
	}
	return e, nil
}

var envelopeKeys = [...]string{keyVersion, keyNode, keyAgent, keyTarget, keySeq, keyOldest, keyDropped, keyScrape, keyState}

// set stores one header's value and returns its bit in envelopeKeys' order, or 0 for a
// key of somebody else.
func (e *Envelope) set(key string, value []byte, texts Texts) (bit int, err error) {
	switch key {
	case keyVersion:
		bit, e.Version, err = 1<<0, EnvelopeVersion, checkVersion(value)
	case keyNode:
		bit = 1 << 1
		e.Node, err = texts.parse(value, MaxNode)
	case keyAgent:
		bit = 1 << 2
		e.Agent, err = texts.parse(value, MaxAgent)
	case keyTarget:
		bit = 1 << 3
		e.Target, err = texts.parse(value, MaxTarget)
	case keySeq:
		bit = 1 << 4
		e.Seq, err = parseNumber(value, 1, math.MaxUint64)
	case keyOldest:
		bit = 1 << 5
		e.Oldest, err = parseNumber(value, 1, math.MaxUint64)
	case keyDropped:
		bit = 1 << 6
		e.Dropped, err = parseNumber(value, 0, math.MaxUint64)
	case keyScrape:
		bit = 1 << 7
		var ms uint64
		ms, err = parseNumber(value, 0, math.MaxInt64)
		e.Scrape = int64(ms)
	case keyState:
		bit = 1 << 8
		e.State, err = ParseState(value)
	}
	return bit, err
}

func checkVersion(value []byte) error {
	v, err := parseNumber(value, 1, math.MaxInt32)
	if err == nil && v != EnvelopeVersion {
		return fmt.Errorf("version %d is not supported, this reader knows %d", v, EnvelopeVersion)
	}
	return err
}

// parseText accepts printable UTF-8 of 1 to most bytes. Control characters are refused:
// these facts end up in logs, file names and SQL.
func parseText(value []byte, most int) (string, error) {
	if len(value) == 0 {
		return "", fmt.Errorf("empty")
	}
	if len(value) > most {
		return "", fmt.Errorf("%d bytes, at most %d are allowed", len(value), most)
	}
	for i := 0; i < len(value); {
		r, n := utf8.DecodeRune(value[i:])
		if r == utf8.RuneError && n == 1 || unicode.IsControl(r) {
			return "", fmt.Errorf("value %q has invalid UTF-8 or a control character", clip(string(value)))
		}
		i += n
	}
	return string(value), nil
}

// parseNumber accepts decimal digits without sign, blank or leading zero, so that a
// number has one spelling.
func parseNumber(value []byte, least, most uint64) (uint64, error) {
	if len(value) == 0 || len(value) > 20 || value[0] == '0' && len(value) > 1 {
		return 0, fmt.Errorf("value %q is not a plain decimal number", clip(string(value)))
	}
	n := uint64(0)
	for _, c := range value {
		d := uint64(c - '0')
		if d > 9 || n > (math.MaxUint64-d)/10 {
			return 0, fmt.Errorf("value %q is not a plain decimal number of 64 bits", value)
		}
		n = n*10 + d
	}
	if n < least || n > most {
		return 0, fmt.Errorf("value %d is outside %d to %d", n, least, most)
	}
	return n, nil
}
