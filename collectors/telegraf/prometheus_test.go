//go:build !notelegrafprometheus

package telegraf

import (
	"fmt"
	"net/http/httptest"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

func TestPrometheus(t *testing.T) {
	reg := prometheus.NewRegistry()
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "jobs_total", Help: "h"}, []string{"q"})
	c.WithLabelValues("x").Add(7)
	h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "wait_seconds", Help: "h", Buckets: []float64{1, 2}})
	h.Observe(1.5)
	reg.MustRegister(c, h)
	srv := httptest.NewServer(promhttp.HandlerFor(reg, promhttp.HandlerOpts{}))
	defer srv.Close()
	o := open(t, fmt.Sprintf("[[inputs.prometheus]]\n urls = [%q]\n metric_version = 2\n", srv.URL), Config{})
	url := srv.URL + "/metrics"
	tags := fmt.Sprintf(`host="n1",q="x",url=%q`, url)
	wantLines(t, o.read(t), `jobs_total{`+tags+`} 7`+"\n",
		fmt.Sprintf(`wait_seconds_bucket{host="n1",url=%q,le="2"} 1`, url)+"\n", fmt.Sprintf(`wait_seconds_sum{host="n1",url=%q} 1.5`, url)+"\n")
}
