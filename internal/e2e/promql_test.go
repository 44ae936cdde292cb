package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/api"
	v1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"
)

// compareWithPrometheus takes the answer to the printed PromQL, and asks the running demo
// with the Go client of Prometheus: the scraped memory and the feature made of it agree
// with the kernel.
func compareWithPrometheus(t *testing.T, printed, addr string) {
	t.Helper()
	if !strings.HasPrefix(printed, `{"status":"success","data":{"resultType":"vector","result":[{`) {
		t.Errorf("the printed PromQL says %s", printed)
	}
	client, err := api.NewClient(api.Config{Address: "http://" + addr})
	if err != nil {
		t.Fatal(err)
	}
	prom := v1.NewAPI(client)
	total := meminfo(t)["MemTotal"]
	for _, query := range []string{
		`node_memory_MemTotal_bytes unless {simulated="true"}`,
		`feature:node_static:memory_bytes unless on (node) node_uname_info{simulated="true"}`,
	} {
		v, _, _, err := prom.Query(t.Context(), query, time.Now())
		if got, ok := v.(model.Vector); err != nil || !ok || len(got) != 1 || float64(got[0].Value) != total {
			t.Errorf("%s is %v (%v), /proc says %v", query, v, err, total)
		}
	}
	now := time.Now()
	v, _, _, err := prom.QueryRange(t.Context(), `count(up == 1)`, v1.Range{Start: now.Add(-30 * time.Second), End: now, Step: 10 * time.Second})
	if got, ok := v.(model.Matrix); err != nil || !ok || len(got) != 1 {
		t.Errorf("range of up is %v (%v)", v, err)
	}
	nodes, _, _, err := prom.LabelValues(t.Context(), "node", []string{"up"}, now.Add(-time.Minute), now)
	if err != nil || len(nodes) == 0 {
		t.Errorf("nodes are %v (%v)", nodes, err)
	}
}
