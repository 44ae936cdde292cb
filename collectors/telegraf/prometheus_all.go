//go:build telegrafprometheus

package telegraf

// Telegraf's own plugin finds targets in Kubernetes and Consul, and brings their clients:
// 60 MB of the program, 45 MB of them resident, whether it is used or not.
import _ "github.com/influxdata/telegraf/plugins/inputs/prometheus"

// discovery are the settings that this agent's plugin lacks: none.
var discovery = map[string]bool{}
