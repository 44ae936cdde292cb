package config

// Prefix begins the environment variables of both programs. A host may give one
// environment to both, so each knows which names the other reads.
const Prefix = "SEXTANT"

// ServerVariables are those of sextant beside its keys.
var ServerVariables = Variables{
	Own: []string{"CONFIG", "CACHE"},
	Others: []string{"NODE", "SELF", "HOST_", "DCGM_", "NVML_", "POD_RESOURCES_", "SPOOL_", "WEB_", "RECEIVE_", "INVENTORY_", "TELEGRAF_",
		"KAFKA_TOPIC", "KAFKA_MAX_RECORD_BYTES"},
}

// AgentVariables are those of sextant-agent beside its keys.
var AgentVariables = Variables{
	Own:    []string{"CACHE"},
	Others: []string{"CONFIG", "CLICKHOUSE_", "VIEWS", "PIPELINE_", "SERVE_", "INGEST_", "WATCH_", "LOG_"},
}
