package agent

import (
	"fmt"
	"os"
	"path/filepath"
)

// startAgent switches off what the agent reads by itself: it scrapes what the others do.
func startAgent(dir, to string, t targets) ([]string, error) {
	return agentConfig(dir, to, "self: false\nhost: {enabled: false}\ninventory: {enabled: false}\n", t)
}

// startAgentDefaults leaves the agent's own collectors as they are by default.
func startAgentDefaults(dir, to string, t targets) ([]string, error) {
	return agentConfig(dir, to, "", t)
}

func agentConfig(dir, broker, own string, t targets) ([]string, error) {
	listen, err := freeAddr()
	if err != nil {
		return nil, err
	}
	text := fmt.Sprintf("node: bench\nkafka: {brokers: [%q]}\nspool: {dir: %q}\nweb: {listen: %q}\n", broker, filepath.Join(dir, "spool"), listen) +
		own + t.config()
	file := filepath.Join(dir, "agent.yaml")
	return []string{"--config", file, "--log-level", "warn"}, os.WriteFile(file, []byte(text), 0o640)
}
