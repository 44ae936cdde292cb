package promapi

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/api"
	v1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/metadata"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/util/teststorage"

	"sextant/internal/access"
)

// source is Prometheus' own store behind the API.
type source struct {
	storage.Queryable
	err error
}

func (s source) Querier(mint, maxt int64) (storage.Querier, error) {
	if s.err != nil {
		return nil, s.err
	}
	return s.Queryable.Querier(mint, maxt)
}

func (source) Metadata(context.Context) (map[string]metadata.Metadata, error) {
	return map[string]metadata.Metadata{"busy": {Type: model.MetricTypeGauge, Unit: "ratio"}, "node_load1": {Type: model.MetricTypeGauge}}, nil
}

var errAway = errors.New("dial 10.0.0.4:9000: refused")

// serve has busy{gpu="0"} 1 2 … and busy{gpu="1"} NaN +Inf, a point every 10 s from 0.
func serve(t *testing.T, change ...func(*source, *Options)) *httptest.Server {
	t.Helper()
	st := teststorage.New(t)
	app := st.AppenderV2(t.Context())
	add := func(gpu string, at int64, v float64) {
		if _, err := app.Append(0, labels.FromStrings(labels.MetricName, "busy", "gpu", gpu), 0, at, v, nil, nil, storage.AOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range int64(10) {
		add("0", i*10_000, float64(i)+0.5)
	}
	add("1", 0, math.NaN())
	add("1", 10_000, math.Inf(1))
	if err := app.Commit(); err != nil {
		t.Fatal(err)
	}
	src := source{Queryable: st}
	o := Options{Lookback: 5 * time.Minute, Timeout: 10 * time.Second, MaxSamples: 500, Concurrency: 2, Version: "test",
		Away: func(err error) bool { return errors.Is(err, errAway) }, Now: func() time.Time { return time.Unix(90, 0) }}
	for _, f := range change {
		f(&src, &o)
	}
	h, err := New(src, o)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server
}

// get asks with GET, or POST when the path begins with POST.
func get(t *testing.T, server *httptest.Server, path string) (int, string) {
	t.Helper()
	var res *http.Response
	var err error
	if p, post := strings.CutPrefix(path, "POST "); post {
		u, parseErr := url.Parse(p)
		if parseErr != nil {
			t.Fatal(parseErr)
		}
		res, err = http.PostForm(server.URL+"/api/v1/"+u.Path, u.Query())
	} else {
		res, err = http.Get(server.URL + "/api/v1/" + path)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, strings.TrimSpace(string(body))
}

// TestAnswers pins answers byte by byte, as Prometheus gives them.
func TestAnswers(t *testing.T) {
	server := serve(t)
	for _, c := range []struct {
		path   string
		status int
		body   string
	}{
		{"query?query=busy{gpu='0'}", 200, `{"status":"success","data":{"resultType":"vector","result":[{"metric":{"__name__":"busy","gpu":"0"},"value":[90,"9.5"]}]}}`},
		{"POST query?query=busy{gpu='0'}&time=10.123", 200, `{"status":"success","data":{"resultType":"vector","result":[{"metric":{"__name__":"busy","gpu":"0"},"value":[10.123,"1.5"]}]}}`},
		{"query?query=1", 200, `{"status":"success","data":{"resultType":"scalar","result":[90,"1"]}}`},
		{"query?query='<x>'", 200, `{"status":"success","data":{"resultType":"string","result":[90,"\u003cx\u003e"]}}`},
		{"query?query=none", 200, `{"status":"success","data":{"resultType":"vector","result":[]}}`},
		{"query?query=busy&time=5&limit=1", 200, `{"status":"success","data":{"resultType":"vector","result":[{"metric":{"__name__":"busy","gpu":"0"},"value":[5,"0.5"]}]},"warnings":["results truncated due to limit"]}`},
		{"query?query=rate(busy{gpu='0'}[20s])&time=20", 200, `{"status":"success","data":{"resultType":"vector","result":[{"metric":{"gpu":"0"},"value":[20,"0.1"]}]},"infos":["PromQL info: metric might not be a counter, name does not end in _total/_sum/_count/_bucket: \"busy\" (1:6)"]}`},
		{"query_range?query=busy&start=0&end=10&step=10", 200, `{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"busy","gpu":"0"},"values":[[0,"0.5"],[10,"1.5"]]},{"metric":{"__name__":"busy","gpu":"1"},"values":[[0,"NaN"],[10,"+Inf"]]}]}}`},
		{"query_range?query=busy&start=1970-01-01T00:01:30Z&end=100&step=5s&lookback_delta=6s", 200, `{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"busy","gpu":"0"},"values":[[90,"9.5"],[95,"9.5"]]}]}}`},
		{"series?match[]=busy{gpu='1'}&match[]=none", 200, `{"status":"success","data":[{"__name__":"busy","gpu":"1"}]}`},
		{"series?match[]=none", 200, `{"status":"success","data":[]}`},
		{"labels", 200, `{"status":"success","data":["__name__","gpu"]}`},
		{"POST labels?match[]=none", 200, `{"status":"success","data":[]}`},
		{"label/gpu/values?limit=1", 200, `{"status":"success","data":["0"],"warnings":["results truncated due to limit"]}`},
		{"label/gpu/values?match[]=busy{gpu='1'}", 200, `{"status":"success","data":["1"]}`},
		{"metadata?metric=busy", 200, `{"status":"success","data":{"busy":[{"type":"gauge","unit":"ratio","help":""}]}}`},
		{"metadata?limit=0", 200, `{"status":"success","data":{}}`},
		{"query_exemplars?query=busy", 200, `{"status":"success","data":[]}`},
		{"format_query?query=sum(busy)by(gpu)", 200, `{"status":"success","data":"sum by (gpu) (busy)"}`},
		{"rules", 200, `{"status":"success","data":{"groups":[]}}`},
		{"alerts", 200, `{"status":"success","data":{"alerts":[]}}`},

		{"query?query=busy{", 400, `{"status":"error","errorType":"bad_data","error":"invalid parameter \"query\": 1:6: parse error: unexpected end of input inside braces"}`},
		{"query?query=busy&time=x", 400, `{"status":"error","errorType":"bad_data","error":"invalid parameter \"time\": cannot parse \"x\" to a valid timestamp"}`},
		{"query?query=busy&limit=-1", 400, `{"status":"error","errorType":"bad_data","error":"invalid parameter \"limit\": limit must be non-negative"}`},
		{"query?query=busy&timeout=0", 400, `{"status":"error","errorType":"bad_data","error":"invalid parameter \"timeout\": timeout must be positive, got 0s"}`},
		{"query?query=busy&timeout=1ns", 400, `{"status":"error","errorType":"bad_data","error":"invalid parameter \"timeout\": cannot parse \"1ns\" to a valid duration"}`},
		{"query_range?query=busy&start=1&end=0&step=1", 400, `{"status":"error","errorType":"bad_data","error":"invalid parameter \"end\": end timestamp must not be before start time"}`},
		{"query_range?query=busy&start=0&end=11001&step=1", 400, `{"status":"error","errorType":"bad_data","error":"exceeded maximum resolution of 11,000 points per timeseries. Try decreasing the query resolution (?step=XX)"}`},
		{"query?query=label_replace(busy,'gpu','','gpu','[')", 422, `{"status":"error","errorType":"execution","error":"invalid regular expression in label_replace(): ["}`},
		{"query_range?query=busy&start=0&end=9999&step=1", 422, `{"status":"error","errorType":"execution","error":"query processing would load too many samples into memory in query execution"}`},
		{"series", 400, `{"status":"error","errorType":"bad_data","error":"no match[] parameter provided"}`},
		{"series?match[]={gpu=~'.*'}", 400, `{"status":"error","errorType":"bad_data","error":"match[] must contain at least one non-empty matcher"}`},
		{"label/%ff/values", 400, `{"status":"error","errorType":"bad_data","error":"invalid label name: \"\\xff\""}`},
		{"targets", 404, `{"status":"error","errorType":"not_found","error":"no such path"}`},
		{"POST metadata", 405, `{"status":"error","errorType":"bad_data","error":"method POST: want GET"}`},
	} {
		if status, body := get(t, server, c.path); status != c.status || body != c.body {
			t.Errorf("%s\n is %d %s\nwant %d %s", c.path, status, body, c.status, c.body)
		}
	}
	large := "POST query?query=busy&pad=" + strings.Repeat("x", maxBody)
	if status, body := get(t, server, large); status != 400 || !strings.Contains(body, "request body too large") {
		t.Errorf("a form of more than %d bytes: %d %s", maxBody, status, body)
	}
	if _, body := get(t, server, "query?query=busy&stats=all"); !strings.Contains(body, `"stats":{"timings":{"evalTotalTime":`) || !strings.Contains(body, `"totalQueryableSamplesPerStep":[[90,2]]`) {
		t.Errorf("with stats: %s", body)
	}
}

// TestAway: a store that is away is 503, and a request without the token is 401.
func TestAway(t *testing.T) {
	away := serve(t, func(s *source, _ *Options) { s.err = errAway })
	for _, path := range []string{"query?query=busy", "series?match[]=busy", "labels", "label/gpu/values"} {
		if status, body := get(t, away, path); status != 503 || !strings.Contains(body, `"errorType":"unavailable"`) {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("0123456789abcdef"), 0o600); err != nil {
		t.Fatal(err)
	}
	gate, err := access.NewGate(access.Options{TokenFile: file, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	guarded := serve(t, func(_ *source, o *Options) { o.Access = gate })
	if status, body := get(t, guarded, "query?query=busy"); status != 401 || !strings.Contains(body, `"status":"error"`) {
		t.Errorf("without a token: %d %s", status, body)
	}
}

// TestFullGate: a query that finds no slot in its time says that it timed out in the queue.
func TestFullGate(t *testing.T) {
	store := blocking{asked: make(chan struct{}), release: make(chan struct{})}
	server := serve(t, func(s *source, o *Options) {
		o.Concurrency = 1
		store.Queryable, s.Queryable = s.Queryable, &store
	})
	first := make(chan int)
	go func() {
		res, err := http.Get(server.URL + "/api/v1/query?query=busy")
		if err != nil {
			first <- 0
			return
		}
		_ = res.Body.Close()
		first <- res.StatusCode
	}()
	<-store.asked
	if status, body := get(t, server, "query?query=busy&timeout=50ms"); status != 503 || body != `{"status":"error","errorType":"timeout","error":"query timed out in query queue"}` {
		t.Errorf("%d %s", status, body)
	}
	// Look-ups read the same store, and wait for the same turn.
	lookUps := []string{"series?match[]=none", "labels", "label/gpu/values", "metadata"}
	hasty := http.Client{Timeout: 50 * time.Millisecond}
	for _, path := range lookUps {
		if res, err := hasty.Get(server.URL + "/api/v1/" + path); err == nil {
			_ = res.Body.Close()
			t.Errorf("%s was answered while a query had the only slot: %d", path, res.StatusCode)
		}
	}
	close(store.release)
	if status := <-first; status != 200 {
		t.Errorf("the query in the slot: %d, want 200", status)
	}
	for _, path := range lookUps[1:] {
		if status, body := get(t, server, path); status != 200 {
			t.Errorf("%s at a free gate: %d %s", path, status, body)
		}
	}
}

// blocking is a store that says that it is asked, and answers when it is released.
type blocking struct {
	storage.Queryable
	asked, release chan struct{}
}

type blockingQuerier struct {
	storage.Querier
	store *blocking
}

func (b *blocking) Querier(mint, maxt int64) (storage.Querier, error) {
	q, err := b.Queryable.Querier(mint, maxt)
	return blockingQuerier{q, b}, err
}

func (b blockingQuerier) Select(ctx context.Context, sorted bool, hints *storage.SelectHints, ms ...*labels.Matcher) storage.SeriesSet {
	close(b.store.asked)
	<-b.store.release
	return b.Querier.Select(ctx, sorted, hints, ms...)
}

// TestGoClient asks everything that the Go client of Prometheus can ask of this API.
func TestGoClient(t *testing.T) {
	server := serve(t)
	client, err := api.NewClient(api.Config{Address: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	c, ctx, end := v1.NewAPI(client), t.Context(), time.Unix(90, 0)
	v, _, _, err := c.Query(ctx, "sum(busy{gpu='0'})", end, v1.WithTimeout(time.Second), v1.WithStats(v1.AllStatsValue))
	if err != nil || v.String() != "{} => 9.5 @[90]" {
		t.Errorf("query: %v, %v", v, err)
	}
	v, _, _, err = c.QueryRange(ctx, "busy{gpu='0'}", v1.Range{Start: time.Unix(0, 0), End: end, Step: 10 * time.Second})
	if m, ok := v.(model.Matrix); err != nil || !ok || len(m) != 1 || len(m[0].Values) != 10 {
		t.Errorf("query range: %v, %v", v, err)
	}
	series, _, _, err := c.Series(ctx, []string{"busy"}, time.Unix(0, 0), end)
	if err != nil || len(series) != 2 {
		t.Errorf("series: %v, %v", series, err)
	}
	names, _, _, err := c.LabelNames(ctx, nil, time.Unix(0, 0), end)
	if err != nil || len(names) != 2 {
		t.Errorf("label names: %v, %v", names, err)
	}
	values, _, _, err := c.LabelValues(ctx, "gpu", []string{"busy"}, time.Unix(0, 0), end, v1.WithLimit(1))
	if err != nil || len(values) != 1 {
		t.Errorf("label values: %v, %v", values, err)
	}
	meta, err := c.Metadata(ctx, "busy", "")
	if err != nil || meta["busy"][0].Type != v1.MetricTypeGauge {
		t.Errorf("metadata: %v, %v", meta, err)
	}
	build, err := c.Buildinfo(ctx)
	if err != nil || build.Version != promVersion {
		t.Errorf("build info: %v, %v", build, err)
	}
	rules, rulesErr := c.Rules(ctx, nil)
	alerts, alertsErr := c.Alerts(ctx)
	exemplars, exemplarsErr := c.QueryExemplars(ctx, "busy", time.Unix(0, 0), end)
	if err := errors.Join(rulesErr, alertsErr, exemplarsErr); err != nil || len(rules.Groups)+len(alerts.Alerts)+len(exemplars) != 0 {
		t.Errorf("rules %v, alerts %v, exemplars %v: %v", rules, alerts, exemplars, err)
	}
	text, err := c.FormatQuery(ctx, "1+1")
	if err != nil || text != `"1 + 1"` {
		t.Errorf("format: %q, %v", text, err)
	}
	var bad *v1.Error
	if _, _, _, err := c.Query(ctx, "busy{", end); !errors.As(err, &bad) || bad.Type != v1.ErrBadData {
		t.Errorf("bad query: %v", err)
	}
}
