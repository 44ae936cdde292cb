// Command sextant-agent-plugins is sextant-agent with what most nodes do not need and would
// have in memory all the same: Telegraf's input plugins, and, built with cgo, the bindings of
// DCGM and NVML. sextant-agent becomes it where the configuration asks for one of them.
package main

import (
	"sextant/collectors/telegraf"
	"sextant/internal/agentcmd"
)

func main() { agentcmd.Main(telegraf.Runner{}) }
