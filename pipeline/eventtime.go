package pipeline

// eventTime is how far the stream's time has come. It moves with records and with
// nothing else, except that a silent partition is moved by the clock of who runs it.
// All times are unix ms.
type eventTime struct {
	interval, lateness, idle     int64
	maxPast, maxFuture, maxSpool int64

	watermark int64 // no sample before it is waited for; 0 before the first record
	closed    int64 // the last tick whose windows are closed; 0 before the first
	ingest    int64 // append time of the last record
}

// bound returns the event time of a sample: its own when the broker took the record
// within the accepted time of it, else the scrape's, and true. A scrape that an agent had
// to keep for hours is believed, one from the future is not: it happened, at the
// latest, when the broker got it.
func (e *eventTime) bound(t, scrape, ingest int64) (int64, bool) {
	if t >= ingest-e.maxPast && t <= ingest+e.maxFuture {
		return t, false
	}
	if scrape < ingest-e.maxSpool || scrape > ingest+e.maxFuture {
		scrape = ingest
	}
	return scrape, true
}

// late says that a sample belongs to a tick that is closed.
func (e *eventTime) late(t int64) bool { return t < e.closed }

// next is the tick that closes next.
func (e *eventTime) next() int64 { return e.closed + e.interval }

// reached is the watermark that a record justifies: no scrape is later than its record
// reached the broker, whatever the agent's clock says.
func (e *eventTime) reached(scrape, ingest int64) int64 {
	return min(scrape, ingest) - e.lateness
}

// silence is the watermark that a pause before this record justifies, 0 for none. It is
// the same whether or not somebody was watching the clock, so a replay finds the same
// ticks closed at each record.
func (e *eventTime) silence(ingest int64) int64 {
	if e.ingest == 0 || ingest-e.ingest < e.idle {
		return 0
	}
	return ingest - e.idle
}

// advance moves the watermark and returns the ticks (from, to] to close. The first
// record of all only says where time begins: the ticks before it are nobody's.
func (e *eventTime) advance(watermark int64) (from, to int64) {
	if watermark <= e.watermark {
		return e.closed, e.closed
	}
	first := e.watermark == 0
	e.watermark = watermark
	from, to = e.closed, watermark-watermark%e.interval
	if first {
		e.closed = to
		return to, to
	}
	return from, max(from, to)
}
