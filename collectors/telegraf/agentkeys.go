package telegraf

import (
	"maps"
	"slices"
	"strings"

	"github.com/influxdata/toml/ast"
)

// heeded are the keys of [agent] that mean here what they mean in Telegraf.
var heeded = []string{"interval", "round_interval", "precision", "hostname", "omit_hostname",
	"always_include_local_tags", "always_include_global_tags", "collection_jitter", "collection_offset"}

// idle are the keys of [agent] about buffers, flushing and logs. Each default file has
// them; the agent's spool and log take their place.
var idle = []string{"metric_batch_size", "metric_buffer_limit", "flush_interval", "flush_jitter", "debug", "quiet",
	"logtarget", "logfile", "logformat", "structured_log_message_key", "logfile_rotation_interval", "logfile_rotation_max_size",
	"logfile_rotation_max_archives", "log_with_timezone", "skip_processors_after_aggregators", "snmp_translator",
	"buffer_strategy", "buffer_directory", "config_url_retry_attempts"}

// checkAgent refuses keys of [agent] that ask for what the agent does not do.
func (t *tables) checkAgent() {
	for _, key := range slices.Sorted(maps.Keys(t.agent.Fields)) {
		if !slices.Contains(heeded, key) && !slices.Contains(idle, key) {
			t.fault(lineOf(t.agent.Fields[key]), "agent.%s is refused; read are %s", key, strings.Join(heeded, ", "))
		}
	}
	t.wantInterval(t.agent, "agent.interval")
	t.wantZero(t.agent, "agent.collection_jitter", "collection_jitter")
	t.wantZero(t.agent, "agent.collection_offset", "collection_offset")
	if kv, ok := t.agent.Fields["round_interval"].(*ast.KeyValue); ok && kv.Value.Source() != "true" {
		t.fault(kv.Line, "agent.round_interval: want true: the agent reads at aligned times")
	}
}
