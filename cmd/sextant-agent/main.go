// Command sextant-agent collects the telemetry of one node and ships it to Kafka.
package main

import (
	"sextant/collectors/plugins"
	"sextant/internal/agentcmd"
)

func main() { agentcmd.Main(plugins.Absent{}) }
