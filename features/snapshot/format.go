package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// The formats of an answer, and the media type of each.
const (
	formatArrow = "arrow"
	formatRaw   = "raw"
	formatJSON  = "json"
)

var media = map[string]string{
	formatArrow: "application/vnd.apache.arrow.stream",
	formatRaw:   "application/vnd.sextant.snapshot",
	formatJSON:  "application/json",
}

// formatOf is the format that a request names; Arrow is the one that it need not name.
func formatOf(name string) (string, error) {
	if name == "" {
		return formatArrow, nil
	}
	if _, ok := media[name]; !ok {
		return "", badRequest("format: %q is none of arrow, raw, json", clip(name))
	}
	return name, nil
}

func (x *matrix) encode(format string) ([]byte, error) {
	switch format {
	case formatRaw:
		return x.file, nil
	case formatJSON:
		return x.encodeJSON()
	}
	return x.encodeArrow()
}

// identity is the coding of an answer that is not compressed.
const identity = "identity"

// codingOf is the content coding that a client asks for: zstd, gzip, or none. Weights count
// only where they are 0.
func codingOf(r *http.Request) string {
	best := identity
	for _, part := range strings.Split(r.Header.Get("Accept-Encoding"), ",") {
		name, params, _ := strings.Cut(strings.TrimSpace(part), ";")
		if q, ok := strings.CutPrefix(strings.TrimSpace(params), "q="); ok {
			if weight, err := strconv.ParseFloat(q, 64); err != nil || weight == 0 {
				continue
			}
		}
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "zstd":
			return "zstd"
		case "gzip":
			best = "gzip"
		}
	}
	return best
}

// compress codes a body, fast rather than small.
func compress(body []byte, coding string) ([]byte, error) {
	var out bytes.Buffer
	switch coding {
	case "zstd":
		enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest))
		if err != nil {
			return nil, err
		}
		return enc.EncodeAll(body, make([]byte, 0, len(body)/3)), enc.Close()
	case "gzip":
		w, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
		if err != nil {
			return nil, err
		}
		_, err = w.Write(body)
		err = errors.Join(err, w.Close())
		return out.Bytes(), err
	}
	return nil, fmt.Errorf("BUG: coding %q", coding)
}
