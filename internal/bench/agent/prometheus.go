package agent

import (
	"fmt"
	"os"
	"path/filepath"
)

func startPrometheusAlone(dir, _ string, t targets) ([]string, error) {
	return prometheusConfig(dir, t.config())
}

func startPrometheusWrite(message string) func(dir, to string, t targets) ([]string, error) {
	return func(dir, to string, t targets) ([]string, error) {
		return prometheusConfig(dir, t.config()+fmt.Sprintf("remote_write:\n  - url: http://%s/write\n    protobuf_message: %s\n", to, message))
	}
}

func prometheusConfig(dir, text string) ([]string, error) {
	file := filepath.Join(dir, "prometheus.yaml")
	return []string{"--agent", "--config.file=" + file, "--storage.agent.path=" + filepath.Join(dir, "wal"),
		"--web.listen-address=127.0.0.1:0", "--log.level=warn"}, os.WriteFile(file, []byte(text), 0o640)
}
