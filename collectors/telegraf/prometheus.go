//go:build !notelegrafprometheus

package telegraf

// This plugin can discover pods, and links all of Kubernetes' client for it: 60 MB of the
// program and 1.7 MB of memory, used or not. An agent built with the tag
// notelegrafprometheus lacks the plugin and the cost.
import _ "github.com/influxdata/telegraf/plugins/inputs/prometheus"
