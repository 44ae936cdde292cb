package agent

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
)

// contender is a program that scrapes the targets, and where it sends them.
type contender struct {
	name  string
	peer  bool // somebody else's: the table goes on without it
	sends bool
	extra bool // only measured when it is asked for by name
	// reads names the jobs that it scrapes; nil is all. One that leaves out a job reads as much itself.
	reads  []string
	binary func(ctx context.Context, o Options, progress io.Writer) (string, error)
	// sink starts what it sends to, start writes its configuration and returns its arguments. dir
	// is its own.
	sink  func(ctx context.Context, dir string) (*sink, error)
	start func(dir, to string, targets targets) ([]string, error)
}

func toKafka(decode payloadOf) func(context.Context, string) (*sink, error) {
	return func(ctx context.Context, dir string) (*sink, error) { return kafkaSink(ctx, dir, decode) }
}

func toNobody(context.Context, string) (*sink, error) { return deaf() }
func toHTTP(context.Context, string) (*sink, error)   { return writeSink() }

var contenders = []contender{
	{name: "sextant-agent, scrape and spool", binary: buildAgent, sink: toNobody, start: startAgent},
	{name: "prometheus agent, scrape and WAL", peer: true, extra: true, binary: buildPrometheus, sink: toNobody, start: startPrometheusAlone},
	{name: "otelcol, scrape alone", peer: true, extra: true, binary: buildCollector, sink: toNobody, start: startCollectorAlone},
	{name: "telegraf, scrape alone", peer: true, extra: true, binary: buildTelegraf, sink: toNobody, start: startTelegrafAlone},
	{name: "sextant-agent, to Kafka", sends: true, binary: buildAgent, sink: toKafka(write2), start: startAgent},
	{name: "sextant-agent, to Kafka, reading the host itself", sends: true, reads: []string{"dcgm", "cadvisor"}, binary: buildAgent, sink: toKafka(write2), start: startAgentDefaults},
	{name: "vmagent, remote write", peer: true, sends: true, binary: buildVmagent, sink: toHTTP, start: startVmagent},
	{name: "prometheus agent, remote write 1", peer: true, sends: true, extra: true, binary: buildPrometheus, sink: toHTTP, start: startPrometheusWrite("prometheus.WriteRequest")},
	{name: "prometheus agent, remote write 2", peer: true, sends: true, binary: buildPrometheus, sink: toHTTP, start: startPrometheusWrite("io.prometheus.write.v2.Request")},
	{name: "otelcol, to Kafka", peer: true, sends: true, binary: buildCollector, sink: toKafka(otlp), start: startCollector},
	{name: "telegraf, to Kafka", peer: true, sends: true, binary: buildTelegraf, sink: toKafka(influx), start: startTelegraf},
}

// wanted tells whether the contender is measured in a workload.
func (c contender) wanted(only []string, w Workload) bool {
	if c.reads != nil && w.Nodes > 1 { // an agent has one host
		return false
	}
	for _, o := range only {
		if strings.Contains(c.name, o) {
			return true
		}
	}
	return len(only) == 0 && !c.extra
}

// targets are what is scraped, and how often.
type targets struct {
	addrs    map[string][]string // by job
	interval string
}

// config is the same text for each contender that reads Prometheus' configuration.
func (t targets) config() string {
	return fmt.Sprintf("global: {scrape_interval: %s, scrape_timeout: %s}\n", t.interval, t.interval) + "scrape_configs:\n" + t.jobs("  ")
}

func (t targets) jobs(indent string) string {
	var b strings.Builder
	for _, j := range jobs {
		if addrs := t.addrs[j.name]; len(addrs) > 0 {
			fmt.Fprintf(&b, "%s- job_name: %s\n%s  static_configs: [{targets: %s}]\n", indent, j.name, indent, quoted(addrs))
		}
	}
	return b.String()
}

func (t targets) urls() (out []string) {
	for _, j := range jobs {
		for _, addr := range t.addrs[j.name] {
			out = append(out, "http://"+addr+"/metrics")
		}
	}
	return out
}

// quoted is a list as YAML and TOML both read it.
func quoted(list []string) string { return `["` + strings.Join(list, `","`) + `"]` }

// freeAddr is a loopback address that nobody listens on at the moment.
func freeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}
