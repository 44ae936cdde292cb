package pipeline

// advance moves the watermark, and closes and evaluates the ticks that it passes. known
// is the time from which their rows can be known, unix ms.
func (m *Machine) advance(watermark, known int64) {
	store := m.eval.Store()
	from, to := m.time.advance(watermark)
	if from == to {
		store.SetNext(m.time.next())
		return
	}
	for tick := from + m.time.interval; tick <= to; tick += m.time.interval {
		if store.Len() == 0 {
			// Nothing to tell until the stream goes on, however long the pause was.
			tick = to
		}
		m.closeTick(tick, known)
	}
}

// closeTick evaluates one tick. A replay evaluates none: their rows are durable.
func (m *Machine) closeTick(tick, known int64) {
	m.time.closed = tick
	store := m.eval.Store()
	store.SetNext(m.time.next())
	if !m.replaying {
		m.counts.Ticks++
		for _, r := range m.eval.Tick(tick, known) {
			m.flagRows(r, tick)
			m.batch.Rows = append(m.batch.Rows, r)
		}
	}
	if tick-m.swept >= sweepEvery*m.time.interval {
		m.swept = tick
		store.Sweep()
		m.forget()
	}
}

// sweepEvery is how many ticks lie between two searches for what is gone.
const sweepEvery = 6

// skipTo moves to a watermark at which all ticks before it are durable.
func (m *Machine) skipTo(watermark int64) {
	if watermark <= m.time.watermark {
		return
	}
	m.time.watermark = watermark
	m.time.closed = watermark - watermark%m.time.interval
	m.eval.Store().SetNext(m.time.next())
}
