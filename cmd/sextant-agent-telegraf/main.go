// Command sextant-agent-telegraf is sextant-agent with Telegraf's input plugins, which
// make it twice as large. sextant-agent becomes it where the configuration asks for one.
package main

import (
	"sextant/collectors/telegraf"
	"sextant/internal/agentcmd"
)

func main() { agentcmd.Main(telegraf.Runner{}) }
