package pipeline

import (
	"fmt"
	"strconv"
	"strings"
)

// Checkpoint is all that a restart needs: where to read from, what is stored already,
// and how far event time had come. The offset alone is not enough. A sample of a window
// that closed earlier may sit above it, and without the watermark it would open that
// window again and overwrite a full row with a partial one.
//
// The records from Offset up to Written are read again only to fill the windows. They
// must be judged as they were the first time: a sample that came late then must not enter
// a window now. So event time begins at Start, where it stood when the record at Offset
// came, and is at Watermark when the first record that is not yet durable comes.
type Checkpoint struct {
	Offset    int64 // oldest record that an open window still needs: read from here
	Written   int64 // records below it are durable: a replay warms windows with them, no more
	Watermark int64 // unix ms; 0 before the first record
	Start     int64 // the watermark before the record at Offset, unix ms
}

// checkpointForm is the version of the text form.
const checkpointForm = "sx1"

// String is the form that travels as the metadata of a committed offset. The offset
// itself is not part of it.
func (c Checkpoint) String() string {
	return fmt.Sprintf("%s written=%d watermark=%d start=%d", checkpointForm, c.Written, c.Watermark, c.Start)
}

// ParseCheckpoint reads a committed offset and its metadata. Offset without metadata, as
// an operator's tool leaves it when it resets a group, means: begin there, nothing is
// durable, no time is known. A negative offset means the beginning of the log.
func ParseCheckpoint(offset int64, meta string) (Checkpoint, error) {
	c := Checkpoint{Offset: offset, Written: offset}
	if meta == "" {
		return c, nil
	}
	form, rest, _ := strings.Cut(meta, " ")
	if form != checkpointForm {
		return Checkpoint{}, fmt.Errorf("checkpoint %.60q: unknown form, want %s", meta, checkpointForm)
	}
	for _, f := range []struct {
		name string
		to   *int64
	}{{"written", &c.Written}, {"watermark", &c.Watermark}, {"start", &c.Start}} {
		var field string
		field, rest, _ = strings.Cut(rest, " ")
		text, ok := strings.CutPrefix(field, f.name+"=")
		v, err := strconv.ParseInt(text, 10, 64)
		if !ok || err != nil || v < 0 {
			return Checkpoint{}, fmt.Errorf("checkpoint %.60q: want %s=<number> at %q", meta, f.name, field)
		}
		*f.to = v
	}
	if rest != "" {
		return Checkpoint{}, fmt.Errorf("checkpoint %.60q: %q is too much", meta, rest)
	}
	if c.Written < offset || c.Watermark < c.Start {
		return Checkpoint{}, fmt.Errorf("checkpoint %d %.60q: written and watermark must not lie before offset and start", offset, meta)
	}
	return c, nil
}
