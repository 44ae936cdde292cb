// Command sextant-agent collects the telemetry of one node and ships it to Kafka. It is built
// without cgo: what needs C is in sextant-agent-plugins, which it becomes.
package main

import (
	"sextant/collectors/plugins"
	"sextant/internal/agentcmd"
)

func main() { agentcmd.Main(plugins.Absent{}) }
