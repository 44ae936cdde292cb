package fleet

import (
	"context"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"sextant/collectors"
	"sextant/internal/embedded/broker"
	"sextant/internal/simulate"
	"sextant/internal/simulate/serve"
	"sextant/pipeline/kafka"
	"sextant/schema/topics"
	"sextant/schema/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var quiet = slog.New(slog.DiscardHandler)

const cluster = `
groups:
  - {name: gpu, nodes: 2, host: {cpus: 2}, devices: [{vendor: nvidia, model: L4}]}
  - {name: npu, nodes: 1, host: {cpus: 2}, devices: [{vendor: ascend, model: 910B3}]}
`

// heard is what came of one node.
type heard struct {
	agents  map[string]bool
	seqs    []uint64
	targets map[string]int // samples by target
}

// TestEachNodeHasItsAgent runs the exporters, the agents and a broker, and reads what
// arrives: each node under its own name, numbered without gaps, and every series called
// simulated.
func TestEachNodeHasItsAgent(t *testing.T) {
	b, err := broker.Start(t.Context(), broker.Config{Dir: t.TempDir(), Logger: quiet, Topics: topics.All()})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	server, sd := exporters(t)
	producer, err := kafka.NewProducer(kafka.Config{Brokers: []string{b.Addr()}, ClientID: "t"}, kafka.ProducerOptions{Topic: topics.Samples, Uncompressed: []string{topics.Inventory}})
	if err != nil {
		t.Fatal(err)
	}
	defer producer.Close()

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	reg := prometheus.NewRegistry()
	cfg := Config{Nodes: server.Nodes(), Parts: server.Document, SD: sd, Dir: t.TempDir(), Interval: 500 * time.Millisecond, Lost: func(n string) bool { return n == "sim-gpu-01" }}
	go func() { ended <- Run(ctx, cfg, Deps{Producer: producer, Log: quiet, Registerer: reg}) }()

	seen := listen(t, b.Addr(), func(all map[string]*heard) bool {
		gpu, npu := all["sim-gpu-00"], all["sim-npu-00"]
		return gpu != nil && npu != nil && len(gpu.seqs) >= 12 && len(npu.seqs) >= 12 && gpu.targets["inventory/sim-gpu-00"] > 0 && npu.targets["inventory/sim-npu-00"] > 0
	})
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if len(seen) != 2 {
		t.Errorf("records of %d nodes, want those of the two that are not lost", len(seen))
	}
	for node, want := range map[string][]string{
		"sim-gpu-00": {"cadvisor/sim-gpu-00:10250", "dcgm-exporter/sim-gpu-00:9400", "inventory/sim-gpu-00", "node-exporter/sim-gpu-00:9100"},
		"sim-npu-00": {"cadvisor/sim-npu-00:10250", "inventory/sim-npu-00", "node-exporter/sim-npu-00:9100", "npu-exporter/sim-npu-00:8082"},
	} {
		h := seen[node]
		for _, target := range want {
			if h.targets[target] == 0 {
				t.Errorf("%s: nothing of %s, only %v", node, target, h.targets)
			}
		}
		slices.Sort(h.seqs)
		if h.seqs[0] != 1 || h.seqs[len(h.seqs)-1] != uint64(len(h.seqs)) {
			t.Errorf("%s: numbers %v, want them dense from 1", node, h.seqs)
		}
		if len(h.agents) != 1 {
			t.Errorf("%s: agents %v, want one", node, h.agents)
		}
		if seen["sim-npu-00"] != h {
			for a := range h.agents {
				if seen["sim-npu-00"].agents[a] {
					t.Errorf("two nodes share the agent %s", a)
				}
			}
		}
	}
	if metrics, err := reg.Gather(); err != nil || len(metrics) != 0 {
		t.Errorf("metrics stay after the end: %v, %v", metrics, err)
	}
}

// exporters serves a cluster and returns it and the list of its targets.
func exporters(t *testing.T) (server *serve.Server, sd string) {
	t.Helper()
	cfg, err := simulate.Parse("c.yaml", []byte(cluster))
	if err != nil {
		t.Fatal(err)
	}
	c, err := simulate.New(cfg, nil, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	s := serve.New(serve.Options{Cluster: c})
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	return s, web.URL + "/sd"
}

// listen reads records until enough is heard.
func listen(t *testing.T, addr string, enough func(map[string]*heard) bool) map[string]*heard {
	t.Helper()
	var mu sync.Mutex
	all := map[string]*heard{} // guarded by mu
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	err := kafka.Consume(ctx, kafka.Config{Brokers: []string{addr}}, kafka.ConsumerOptions{Group: "g", Topic: topics.Samples, Logger: quiet},
		func(ctx context.Context, p *kafka.Partition) error {
			for ctx.Err() == nil {
				records, err := p.Fetch(ctx)
				if err != nil {
					return err
				}
				mu.Lock()
				for _, r := range records {
					note(t, r, all)
				}
				if enough(all) {
					cancel()
				}
				mu.Unlock()
			}
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
	if !enough(all) {
		t.Fatalf("too little within 30 s: %v", all)
	}
	return all
}

func note(t *testing.T, r wire.Record, all map[string]*heard) {
	t.Helper()
	env, err := wire.ParseEnvelope(r.Headers, nil)
	if err != nil || string(r.Key) != env.Node {
		t.Errorf("key %s of %+v: %v", r.Key, env, err)
		return
	}
	h := all[env.Node]
	if h == nil {
		h = &heard{agents: map[string]bool{}, targets: map[string]int{}}
		all[env.Node] = h
	}
	h.agents[env.Agent] = true
	h.seqs = append(h.seqs, env.Seq)
	var d wire.Decoder
	if err := d.Scan(r.Value); err != nil {
		t.Error(err)
		return
	}
	for i := range d.NumSeries {
		labels := map[string]string{}
		if err := d.Labels(i, func(n, v []byte) bool { labels[string(n)] = string(v); return true }); err != nil {
			t.Error(err)
		}
		if labels["simulated"] != "true" || labels["sim_node"] != env.Node || labels["job"]+"/"+labels["instance"] != env.Target {
			t.Errorf("%s has a series %v", env.Target, labels)
			return
		}
	}
	if env.State == wire.StateOK {
		h.targets[env.Target] += len(d.Values)
	}
}

func TestRunSaysWhoseSpoolCannotBeOpened(t *testing.T) {
	err := Run(t.Context(), Config{Nodes: []string{"n1"}, SD: "http://127.0.0.1:1/sd", Dir: filepath.Join("/dev/null", "x")}, Deps{})
	if err == nil || !strings.Contains(err.Error(), "simulated agent of n1: ") {
		t.Errorf("got %v", err)
	}
}

// TestAgentConfigIsAConfiguration of the agent, as it is printed for users.
func TestAgentConfigIsAConfiguration(t *testing.T) {
	text := "node: n\n" + AgentConfig("http://127.0.0.1:9600/sd?node=n", 10*time.Second) + "kafka: {brokers: ['127.0.0.1:9092']}\n"
	c, err := collectors.Parse("a.yaml", []byte(text), noEnvironment)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Scrape) != 1 || fmt.Sprint(c.Scrape[0].ScrapeInterval) != "10s" || c.Node != "n" {
		t.Errorf("%+v", c.Scrape)
	}
}
