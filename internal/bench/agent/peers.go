package agent

import (
	"fmt"
	"os"
	"path/filepath"

	"sextant/schema/topics"
)

// startVmagent sends by vmagent's own variant of Remote-Write, zstd in place of snappy.
func startVmagent(dir, to string, t targets) ([]string, error) {
	listen, err := freeAddr()
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "vmagent.yaml")
	return []string{"-promscrape.config=" + file, "-remoteWrite.url=http://" + to + "/write", "-remoteWrite.tmpDataPath=" + filepath.Join(dir, "data"),
		"-httpListenAddr=" + listen, "-loggerLevel=WARN"}, os.WriteFile(file, []byte(t.config()), 0o640)
}

// The collector's default batch of 8192 makes records above the broker's limit of a message, which it
// drops: it runs with half of that.
const collectorConfig = `receivers:
  prometheus:
    config:
      global: {scrape_interval: %[1]s, scrape_timeout: %[1]s}
      scrape_configs:
%[2]sprocessors:
  batch: {send_batch_size: 4096, send_batch_max_size: 4096}
exporters:
%[3]s
service:
  telemetry: {metrics: {level: none}, logs: {level: warn}}
  pipelines:
    metrics: {receivers: [prometheus], processors: [batch], exporters: [%[4]s]}
`

func startCollector(dir, to string, t targets) ([]string, error) {
	kafka := fmt.Sprintf("  kafka:\n    brokers: [%q]\n    metrics: {topic: %s, encoding: otlp_proto}\n    producer: {compression: zstd}", to, topics.Samples)
	return writeCollector(dir, kafka, "kafka", t)
}

func startCollectorAlone(dir, _ string, t targets) ([]string, error) {
	return writeCollector(dir, "  nop: {}", "nop", t)
}

func writeCollector(dir, exporter, name string, t targets) ([]string, error) {
	file := filepath.Join(dir, "otelcol.yaml")
	return []string{"--config=" + file}, os.WriteFile(file, fmt.Appendf(nil, collectorConfig, t.interval, t.jobs("        "), exporter, name), 0o640)
}

// The buffer of Telegraf holds two collections of 50 nodes; its default of 10,000 metrics would drop
// most of one.
const telegrafConfig = `[agent]
  interval = "%[1]s"
  flush_interval = "%[1]s"
  round_interval = true
  metric_batch_size = 5000
  metric_buffer_limit = 500000
  omit_hostname = true
  quiet = true
[[inputs.prometheus]]
  urls = %[2]s
  metric_version = 2
  timeout = "%[1]s"
%[3]s
`

func startTelegraf(dir, to string, t targets) ([]string, error) {
	return writeTelegraf(dir, fmt.Sprintf("[[outputs.kafka]]\n  brokers = [%q]\n  topic = %q\n  compression_codec = 4\n  data_format = \"influx\"", to, topics.Samples), t)
}

func startTelegrafAlone(dir, _ string, t targets) ([]string, error) {
	return writeTelegraf(dir, "[[outputs.discard]]", t)
}

func writeTelegraf(dir, output string, t targets) ([]string, error) {
	file := filepath.Join(dir, "telegraf.conf")
	return []string{"--config", file}, os.WriteFile(file, fmt.Appendf(nil, telegrafConfig, t.interval, quoted(t.urls()), output), 0o640)
}
