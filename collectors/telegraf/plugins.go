package telegraf

import (
	"io"
	"log"
	"os"

	telegraflog "github.com/influxdata/telegraf/logger"

	// The input plugins of this agent. To add one, add its line here: it registers itself
	// under its name.
	_ "github.com/influxdata/telegraf/plugins/inputs/amd_rocm_smi"
	_ "github.com/influxdata/telegraf/plugins/inputs/cpu"
	_ "github.com/influxdata/telegraf/plugins/inputs/disk"
	_ "github.com/influxdata/telegraf/plugins/inputs/diskio"
	_ "github.com/influxdata/telegraf/plugins/inputs/ethtool"
	_ "github.com/influxdata/telegraf/plugins/inputs/exec"
	_ "github.com/influxdata/telegraf/plugins/inputs/infiniband"
	_ "github.com/influxdata/telegraf/plugins/inputs/intel_powerstat"
	_ "github.com/influxdata/telegraf/plugins/inputs/kernel"
	_ "github.com/influxdata/telegraf/plugins/inputs/mem"
	_ "github.com/influxdata/telegraf/plugins/inputs/net"
	_ "github.com/influxdata/telegraf/plugins/inputs/nvidia_smi"
	_ "github.com/influxdata/telegraf/plugins/inputs/processes"
	_ "github.com/influxdata/telegraf/plugins/inputs/smart"
	_ "github.com/influxdata/telegraf/plugins/inputs/swap"
	_ "github.com/influxdata/telegraf/plugins/inputs/system"

	// The data formats that exec reads.
	_ "github.com/influxdata/telegraf/plugins/parsers/csv"
	_ "github.com/influxdata/telegraf/plugins/parsers/influx"
	_ "github.com/influxdata/telegraf/plugins/parsers/json"
	_ "github.com/influxdata/telegraf/plugins/parsers/json_v2"
	_ "github.com/influxdata/telegraf/plugins/parsers/nagios"
	_ "github.com/influxdata/telegraf/plugins/parsers/openmetrics"
	_ "github.com/influxdata/telegraf/plugins/parsers/prometheus"
	_ "github.com/influxdata/telegraf/plugins/parsers/value"
)

// polled are the plugins that are service inputs in Telegraf's eyes, because they have
// something to start and to stop, and yet give their metrics only when they are asked.
var polled = map[string]bool{"amd_rocm_smi": true, "intel_powerstat": true, "nvidia_smi": true, "prometheus": true}

// The import of Telegraf's logger takes the standard logger of the whole process, and
// keeps all that is written to it in memory until Telegraf's own main sets it up, which
// never runs here. The standard logger gets its own back.
func init() {
	telegraflog.RedirectLogging(io.Discard)
	log.SetFlags(log.LstdFlags)
	log.SetOutput(os.Stderr)
}
