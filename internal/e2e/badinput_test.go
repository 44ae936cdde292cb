package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"sextant/pipeline/kafka"
	"sextant/schema/topics"
	"sextant/schema/wire"
)

// TestBadInput runs the line beside an exporter that is bad in every way and a producer
// of records that cannot be read. Each costs itself, is counted and told; the good
// target beside them misses nothing.
func TestBadInput(t *testing.T) {
	bad := badExporter(t)
	good := startTarget(t)
	l := startLine(t, false, []*target{good},
		job(bad, "lines", ""), job(bad, "times", ""), job(bad, "wide", ""), job(bad, "html", ""), job(bad, "loop", ""),
		job(bad, "huge", ", scrape_interval: 5s, scrape_timeout: 5s"))
	l.awaitGiven([]*target{good}, 2)

	t.Run("bad lines", func(t *testing.T) {
		on(l, t).awaitCounter(l.agentWeb, `sextant_agent_bad_lines_total{job="lines"}`, 2)
		on(l, t).awaitCounter(l.agentWeb, `sextant_agent_truncated_bodies_total{job="lines"}`, 1)
		on(l, t).awaitCounter(l.agentWeb, `sextant_agent_scrapes_total{job="lines",state="partial"}`, 1)
		on(l, t).awaitRows("bad_lines_before and _after", "SELECT groupUniqArray(name) FROM sextant.samples_labelled WHERE startsWith(name, 'bad_lines') AND bitTest(flags, 2)",
			"['bad_lines_after','bad_lines_before']", "['bad_lines_before','bad_lines_after']")
	})
	for _, c := range []struct{ job, reason, message string }{
		{"html", "content_type", `unsupported Content-Type`},
		{"loop", "redirect", "stopped after 10 redirects"},
		{"huge", "body_size_limit", "body size limit exceeded"},
	} {
		t.Run(c.job, func(t *testing.T) {
			on(l, t).awaitCounter(l.agentWeb, fmt.Sprintf(`sextant_agent_scrape_failures_total{job=%q,reason=%q}`, c.job, c.reason), 1)
			on(l, t).awaitLog("agent", c.message)
			on(l, t).awaitRows("up 0", fmt.Sprintf("SELECT max(value) FROM sextant.samples_labelled WHERE name = 'up' AND labels['job'] = '%s'", c.job), "0")
		})
	}
	t.Run("times", func(t *testing.T) { badTimes(on(l, t)) })
	t.Run("1000 labels scraped", func(t *testing.T) {
		on(l, t).awaitCounter(l.agentWeb, `sextant_agent_series_refused_total{job="wide"}`, 1)
		on(l, t).awaitRows("the neighbour", "SELECT groupUniqArray(name) FROM sextant.samples_labelled WHERE startsWith(name, 'wide')", "['wide_neighbour']")
	})
	t.Run("records", func(t *testing.T) { badRecords(on(l, t)) })

	good.Close()
	l.settle([]*target{good}, 0)
}

// on is the line for a part of the test.
func on(l *line, t *testing.T) *line {
	part := *l
	part.t = t
	return &part
}

// awaitRows waits until the query's one value is one of want.
func (l *line) awaitRows(what, query string, want ...string) {
	l.t.Helper()
	eventually(l.t, 60*time.Second, what, func() error {
		rows, err := l.sql(query)
		if err != nil {
			return err
		}
		if len(rows) == 1 && len(rows[0]) == 1 {
			for _, w := range want {
				if rows[0][0] == w {
					return nil
				}
			}
		}
		return fmt.Errorf("%s: %q, want one of %q", query, rows, want)
	})
}

// badTimes: samples of 1970 and of an hour ahead stand at the time of their scrape, with
// a flag, and no feature row is later than the clock.
func badTimes(l *line) {
	l.awaitCounter(l.pipeWeb, `sextant_pipeline_sample_flags_total{flag="retimed"}`, 2)
	l.awaitRows("flags of samples", `SELECT arraySort(groupUniqArray((name, bitAnd(flags, 1)))) FROM sextant.samples_labelled
		WHERE startsWith(name, 'time_') AND NOT stale`, "[('time_future',1),('time_none',0),('time_past',1)]")
	l.awaitRows("times of samples", `SELECT countIf(abs(dateDiff('second', ts, now64(3))) > 300) FROM sextant.samples_labelled WHERE startsWith(name, 'time_')`, "0")
	l.awaitRows("feature rows", "SELECT count() > 0 FROM sextant.node_monitoring", "1")
	l.awaitRows("times of feature rows", "SELECT count() FROM sextant.node_monitoring WHERE tick > now64(3) OR tick < now64(3) - INTERVAL 10 MINUTE", "0")
}

// badRecords puts three records into the topic as a broken agent would: one that has no
// envelope, one whose body is no protobuf, and one with a series of 1,000 labels.
func badRecords(l *line) {
	good := wire.SeriesDef{Labels: []wire.Label{{Name: "__name__", Value: "record_neighbour"}}}
	wide := wire.SeriesDef{Labels: []wire.Label{{Name: "__name__", Value: "record_wide"}}}
	for i := range 999 {
		wide.Labels = append(wide.Labels, wire.Label{Name: fmt.Sprintf("l%03d", i), Value: "x"})
	}
	now := time.Now().UnixMilli()
	body := wire.NewTemplate([]wire.SeriesDef{good, wide}).Append(nil, []int64{now, now}, []float64{1, 2})
	headers := wire.Envelope{Version: 1, Node: "n2", Agent: "0123456789abcdef", Target: "raw/1", Seq: 1, Oldest: 1, Scrape: now}.AppendHeaders(nil)
	second := wire.Envelope{Version: 1, Node: "n2", Agent: "0123456789abcdef", Target: "raw/1", Seq: 2, Oldest: 1, Scrape: now}.AppendHeaders(nil)
	l.produce(
		kafka.Message{Key: []byte("n2"), Value: []byte("hello")},
		kafka.Message{Key: []byte("n2"), Value: []byte("\xff\xff not a request"), Headers: headers},
		kafka.Message{Key: []byte("n2"), Value: body, Headers: second})

	l.awaitCounter(l.pipeWeb, `sextant_pipeline_items_total{item="record_dead"}`, 2)
	l.awaitCounter(l.pipeWeb, `sextant_pipeline_items_total{item="series_refused"}`, 1)
	l.awaitRows("the neighbour", "SELECT groupUniqArray(name) FROM sextant.samples_labelled WHERE startsWith(name, 'record_')", "['record_neighbour']")
	l.awaitRows("dead letters in the store", "SELECT count() FROM sextant.dead_letters FINAL WHERE key = 'n2' AND reason != ''", "2")
	for i, r := range l.deadLetters(2) {
		h := map[string]string{}
		for _, x := range r.Headers {
			h[x.Key] = string(x.Value)
		}
		if h[kafka.DeadReason] == "" || h[kafka.DeadTopic] != topics.Samples || string(r.Key) != "n2" {
			l.t.Errorf("dead letter %d: key %q, headers %q", i, r.Key, h)
		}
		l.t.Logf("dead letter: %s", h[kafka.DeadReason])
	}
	if strings.Contains(l.logText("pipeline"), "not a request") {
		l.t.Error("the log shows the bytes of a record")
	}
}

// produce sends records to the samples' topic.
func (l *line) produce(msgs ...kafka.Message) {
	l.t.Helper()
	p, err := kafka.NewProducer(kafka.Config{Brokers: []string{l.kafka}}, kafka.ProducerOptions{Topic: topics.Samples})
	if err != nil {
		l.t.Fatal(err)
	}
	defer p.Close()
	for _, err := range p.Send(l.t.Context(), msgs) {
		if err != nil {
			l.t.Fatal(err)
		}
	}
}

// deadLetters reads n records of the dead-letter topic.
func (l *line) deadLetters(n int) []*kgo.Record {
	l.t.Helper()
	c, err := kgo.NewClient(kgo.SeedBrokers(l.kafka), kgo.ConsumeTopics(topics.DeadLetter))
	if err != nil {
		l.t.Fatal(err)
	}
	defer c.Close()
	var out []*kgo.Record
	for len(out) < n {
		fetched := c.PollFetches(l.t.Context())
		if err := fetched.Err(); err != nil {
			l.t.Fatal(err)
		}
		out = append(out, fetched.Records()...)
	}
	return out
}
