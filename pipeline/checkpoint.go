package pipeline

// Checkpoint is all that a restart needs: where to read from, what is stored already,
// and how far event time had come. The offset alone is not enough. A sample of a window
// that closed earlier may sit above it, and without the watermark it would open that
// window again and overwrite a full row with a partial one.
type Checkpoint struct {
	Offset    int64 // oldest record that an open window still needs: read from here
	Written   int64 // records below it are durable: a replay warms windows with them, no more
	Watermark int64 // unix ms
}
