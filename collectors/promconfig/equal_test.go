package promconfig_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	upstream "github.com/prometheus/prometheus/config"
	_ "github.com/prometheus/prometheus/discovery/file"
	_ "github.com/prometheus/prometheus/discovery/http"
	"github.com/prometheus/prometheus/discovery/targetgroup"
	"github.com/prometheus/prometheus/model/labels"
	upstreamscrape "github.com/prometheus/prometheus/scrape"
	yamlv2 "go.yaml.in/yaml/v2"

	"sextant/collectors/promconfig"
)

// job is one way to write a job, or to write it wrongly.
type job struct{ name, global, text string }

var jobs = []job{
	{"least", "", "job_name: a"},
	{"all limits", "{sample_limit: 5, target_limit: 3, label_limit: 2, body_size_limit: 1MB}", "job_name: a\nsample_limit: 7\nlabel_name_length_limit: 9"},
	{"limits of global", "{label_value_length_limit: 8, keep_dropped_targets: 4, scrape_failure_log_file: f}", "job_name: a"},
	{"interval of its own", "{scrape_interval: 30s}", "job_name: a\nscrape_interval: 5s"},
	{"timeout too long", "{scrape_interval: 30s}", "job_name: a\nscrape_timeout: 40s"},
	{"global timeout too long", "{scrape_interval: 3s, scrape_timeout: 4s}", "job_name: a"},
	{"no name", "", "scheme: https"},
	{"unknown key", "", "job_name: a\nmetrics_pth: /x"},
	{"unknown global key", "{scrape_intervall: 3s}", "job_name: a"},
	{"protocols", "", "job_name: a\nscrape_protocols: [PrometheusText0.0.4]\nfallback_scrape_protocol: PrometheusText1.0.0"},
	{"protocol twice", "", "job_name: a\nscrape_protocols: [PrometheusText0.0.4, PrometheusText0.0.4]"},
	{"no protocol", "", "job_name: a\nscrape_protocols: []"},
	{"unknown protocol", "", "job_name: a\nscrape_protocols: [Json]"},
	{"unknown fallback", "", "job_name: a\nfallback_scrape_protocol: Json"},
	{"native histograms", "", "job_name: a\nscrape_native_histograms: true"},
	{"native histograms of global", "{scrape_native_histograms: true, convert_classic_histograms_to_nhcb: true}", "job_name: a"},
	{"legacy names", "{metric_name_validation_scheme: legacy}", "job_name: a"},
	{"legacy job", "", "job_name: a\nmetric_name_validation_scheme: legacy"},
	{"escaping against validation", "", "job_name: a\nmetric_name_validation_scheme: legacy\nmetric_name_escaping_scheme: allow-utf-8"},
	{"unknown escaping", "", "job_name: a\nmetric_name_escaping_scheme: x"},
	{"external labels", "{external_labels: {dc: x}}", "job_name: a"},
	{"external label without a name", "{external_labels: {'': x}}", "job_name: a"},
	{"static", "", "job_name: a\nstatic_configs: [{targets: ['h:1', 'g:2'], labels: {rack: r}}]"},
	{"static URL", "", "job_name: a\nstatic_configs: [{targets: ['http://h:1']}]"},
	{"static URL that is rewritten", "", "job_name: a\nstatic_configs: [{targets: ['http://h:1/x']}]\nrelabel_configs: [{target_label: __address__, replacement: 'h:2'}]"},
	{"files and HTTP", "", "job_name: a\nfile_sd_configs: [{files: ['x/*.yaml']}]\nhttp_sd_configs: [{url: 'http://h/sd'}]"},
	{"empty rule", "", "job_name: a\nrelabel_configs: [null]"},
	{"rule that does not compile", "", "job_name: a\nmetric_relabel_configs: [{regex: '(', action: drop, source_labels: [x]}]"},
	{"rule without a target", "", "job_name: a\nrelabel_configs: [{action: replace}]"},
	{"two authentications", "", "job_name: a\nbasic_auth: {username: u}\nbearer_token: t"},
	{"basic", "", "job_name: a\nbasic_auth: {username: u, password_file: p}\ntls_config: {ca_file: c, insecure_skip_verify: true}"},
	{"params", "", "job_name: a\nparams: {module: [x, y]}\nmetrics_path: /probe\nscheme: https\nhonor_labels: true\nhonor_timestamps: false"},
	{"extra metrics", "{extra_scrape_metrics: true}", "job_name: a\ntrack_timestamps_staleness: true\nenable_compression: false"},
}

// groups are what a discovery may say of targets.
var groups = []*targetgroup.Group{
	{Source: "s", Targets: []model.LabelSet{{"__address__": "h:1"}, {"__address__": "h:2", "instance": "two", "__meta_x": "1"}, {"__address__": ""},
		{"__address__": "http://h"}, {"__address__": "h", "__scheme__": "https", "__param_module": "z"}, {"__address__": "h", "__scrape_interval__": "0s"},
		{"__address__": "h", "__scrape_interval__": "x"}, {"__address__": "h", "__scrape_timeout__": "9h"}, {"__address__": "h", "bad": "\xff"}},
		Labels: model.LabelSet{"rack": "r", "instance": "of the group"}},
}

func decode[G, J any](t *testing.T, j job) (g G, c *J, err error) {
	t.Helper()
	global := j.global
	if global == "" {
		global = "{scrape_interval: 1m}"
	}
	if err := yamlv2.UnmarshalStrict([]byte(global), &g); err != nil {
		return g, nil, err
	}
	c = new(J)
	return g, c, yamlv2.UnmarshalStrict([]byte(j.text), c)
}

// own and original give what a job means, as text: its keys with what it inherits, and its
// targets; or what is wrong with it.
func own(t *testing.T, j job) string {
	g, c, err := decode[promconfig.GlobalConfig, promconfig.ScrapeConfig](t, j)
	if err == nil {
		err = c.Validate(g)
	}
	if err != nil {
		return "error: " + err.Error()
	}
	c.SetDirectory("/etc/x")
	var out strings.Builder
	b := labels.NewBuilder(labels.EmptyLabels())
	for _, group := range groups {
		targets, faults := promconfig.TargetsFromGroup(group, c, nil, b)
		for _, target := range targets {
			fmt.Fprintln(&out, target.URL(), target.Labels(b), target.GetValue("__scrape_interval__"), target)
		}
		fmt.Fprintln(&out, faults)
	}
	return written(t, c) + out.String()
}

func original(t *testing.T, j job) string {
	g, c, err := decode[upstream.GlobalConfig, upstream.ScrapeConfig](t, j)
	if err == nil {
		err = c.Validate(g)
	}
	if err != nil {
		return "error: " + err.Error()
	}
	c.SetDirectory("/etc/x")
	var out strings.Builder
	b := labels.NewBuilder(labels.EmptyLabels())
	for _, group := range groups {
		targets, faults := upstreamscrape.TargetsFromGroup(group, c, nil, b)
		for _, target := range targets {
			fmt.Fprintln(&out, target.URL(), target.Labels(b), target.GetValue("__scrape_interval__"), target)
		}
		fmt.Fprintln(&out, faults)
	}
	return written(t, c) + out.String()
}

func written(t *testing.T, c any) string {
	t.Helper()
	text, err := yamlv2.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestMeansWhatItMeansInPrometheus compares with the package that this one is a part of.
func TestMeansWhatItMeansInPrometheus(t *testing.T) {
	faults := 0
	for _, j := range jobs {
		t.Run(j.name, func(t *testing.T) {
			want := strings.NewReplacer("config.GlobalConfig", "promconfig.GlobalConfig", "config.ScrapeConfig", "promconfig.ScrapeConfig", "config.plain", "promconfig.plain").Replace(original(t, j))
			if got := own(t, j); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			if strings.HasPrefix(want, "error") {
				faults++
			}
		})
	}
	if faults < 10 || faults > len(jobs)-10 {
		t.Errorf("%d of %d are faulty: want many of both", faults, len(jobs))
	}
}

// TestDefaults: a job that says nothing, and the sections that nobody wrote.
func TestDefaults(t *testing.T) {
	if got, want := written(t, promconfig.DefaultGlobalConfig), written(t, upstream.DefaultGlobalConfig); got != want {
		t.Errorf("global: got\n%s\nwant\n%s", got, want)
	}
	if got, want := fmt.Sprint(promconfig.ScrapeProtocolsHeaders), fmt.Sprint(upstream.ScrapeProtocolsHeaders); got != want {
		t.Errorf("headers: got %s, want %s", got, want)
	}
}
