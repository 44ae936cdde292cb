package agent

import (
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/prompb"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"sextant/schema/wire"
)

var stale = math.Float64frombits(value.StaleNaN)

// Each text says the same: a is 1.5, b is 2 and 3, up and a marker of the agent's own.
func wanted() (p payload) {
	p.pages.add("a", 1.5)
	p.pages.add("b", 2)
	p.pages.add("b", 3)
	p.all = 5
	return p
}

func label(name string) []prompb.Label { return []prompb.Label{{Name: "__name__", Value: name}} }

func write1Body(t *testing.T) []byte {
	t.Helper()
	req := prompb.WriteRequest{Timeseries: []prompb.TimeSeries{
		{Labels: label("a"), Samples: []prompb.Sample{{Value: 1.5}}},
		{Labels: label("b"), Samples: []prompb.Sample{{Value: 2, Timestamp: 1}, {Value: 3, Timestamp: 2}}},
		{Labels: label("up"), Samples: []prompb.Sample{{Value: 1}}},
		{Labels: label("a"), Samples: []prompb.Sample{{Value: stale}}},
	}}
	body, err := req.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func write2Body() []byte {
	var defs []wire.SeriesDef
	for _, name := range []string{"a", "b", "b", "up", "a"} {
		defs = append(defs, wire.SeriesDef{Labels: []wire.Label{{Name: "__name__", Value: name}, {Name: "x", Value: string(rune('0' + len(defs)))}}})
	}
	return wire.NewTemplate(defs).AppendAt(nil, 1000, []float64{1.5, 2, 3, 1, stale})
}

func otlpBody(t *testing.T) []byte {
	t.Helper()
	m := pmetric.NewMetrics()
	list := m.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics()
	a := list.AppendEmpty()
	a.SetName("a")
	points := a.SetEmptyGauge().DataPoints()
	points.AppendEmpty().SetDoubleValue(1.5)
	points.AppendEmpty().SetFlags(pmetric.DefaultDataPointFlags.WithNoRecordedValue(true))
	b := list.AppendEmpty()
	b.SetName("b")
	sum := b.SetEmptySum().DataPoints()
	sum.AppendEmpty().SetIntValue(2)
	sum.AppendEmpty().SetDoubleValue(3)
	up := list.AppendEmpty()
	up.SetName("up")
	up.SetEmptyGauge().DataPoints().AppendEmpty().SetDoubleValue(1)
	body, err := (&pmetric.ProtoMarshaler{}).MarshalMetrics(m)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func TestDecodersFindEachSample(t *testing.T) {
	for name, c := range map[string]struct {
		decode payloadOf
		body   []byte
		own    int64 // of the five; Telegraf adds none
	}{
		"remote write 1": {write1, write1Body(t), 2},
		"remote write 2": {write2, write2Body(), 2},
		"otlp":           {otlp, otlpBody(t), 2},
		"influx":         {influx, []byte("prometheus,url=http://x,c=a\\ b a=1.5 1000\nprometheus,d=e b=2i 1000\nprometheus,d=f b=3 2000\n"), 0},
	} {
		got, err := c.decode(c.body)
		if want := wanted(); err != nil || got.pages != want.pages || got.all != 3+c.own {
			t.Errorf("%s: %+v, %v, want %+v", name, got, err, want)
		}
		if _, err := c.decode([]byte("\xff\xff\xff\xff")); err == nil {
			t.Errorf("%s: took rubbish", name)
		}
	}
}

func TestWriteSinkReadsWhatSendersPack(t *testing.T) {
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	body := write1Body(t)
	send := func(c *counter, encoding, version string, packed []byte) int {
		r := httptest.NewRequest(http.MethodPost, "/write", strings.NewReader(string(packed)))
		r.Header.Set("Content-Encoding", encoding)
		r.Header.Set("X-Prometheus-Remote-Write-Version", version)
		w := httptest.NewRecorder()
		c.write(w, r)
		return w.Code
	}
	var c counter
	for _, status := range []int{send(&c, "snappy", "0.1.0", snappy.Encode(nil, body)), send(&c, "zstd", "", z.EncodeAll(body, nil)),
		send(&c, "snappy", "2.0.0", snappy.Encode(nil, write2Body()))} {
		if status != http.StatusNoContent {
			t.Errorf("status %d", status)
		}
	}
	if got, err := c.read(); err != nil || got.all != 15 || got.pages.samples != 9 || got.bytes == 0 {
		t.Errorf("%+v, %v", got, err)
	}
	if status := send(&c, "br", "", body); status != http.StatusBadRequest {
		t.Errorf("an unknown encoding: status %d", status)
	}
	if _, err := c.read(); err == nil {
		t.Error("what could not be read is not an error")
	}
}
