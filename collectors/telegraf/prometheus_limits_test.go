//go:build !telegrafprometheus

package telegraf

import (
	"fmt"
	"strings"
	"testing"

	"sextant/collectors/plugins"
)

func TestPrometheusDiscoveryIsRefused(t *testing.T) {
	err := Runner{}.Check(plugins.Config{Config: conf(t, "[[inputs.prometheus]]\nmonitor_kubernetes_pods = true\n")}, "telegraf")
	if err == nil || !strings.Contains(err.Error(), "telegraf.conf:2: inputs.prometheus.monitor_kubernetes_pods is not a part of this agent: use scrape_configs, or build") {
		t.Fatal(err)
	}
}

func TestPrometheusLimits(t *testing.T) {
	srv := guarded(t, "")
	for options, want := range map[string]string{
		fmt.Sprintf("urls = [%q]\ncontent_length_limit = 10", srv.URL): "larger than content_length_limit, 10 bytes",
		fmt.Sprintf("urls = [%q]\nusername = 'x'", srv.URL):            "answered 401 Unauthorized",
		"urls = ['unix:///x.sock']":                                    `init: urls: "unix:///x.sock", want http or https`,
		fmt.Sprintf("urls = [%q]\nbearer_token = '/no/t'", srv.URL):    "bearer_token: open /no/t",
	} {
		fs, err := open(t, "[[inputs.prometheus]]\n"+options, plugins.Config{}).Gather()
		if err == nil || !strings.Contains(err.Error(), want) || len(fs) > 0 {
			t.Errorf("%s\ngot  %v\nwant %s", options, err, want)
		}
	}
}
