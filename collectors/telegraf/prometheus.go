//go:build !telegrafprometheus

package telegraf

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	upstream "github.com/influxdata/telegraf"
	tconfig "github.com/influxdata/telegraf/config"
	tlshttp "github.com/influxdata/telegraf/plugins/common/http"
	"github.com/influxdata/telegraf/plugins/inputs"
	"github.com/influxdata/telegraf/plugins/parsers/openmetrics"
	"github.com/influxdata/telegraf/plugins/parsers/prometheus"
)

// discovery are settings of Telegraf's plugin that this one lacks.
var discovery = map[string]bool{"monitor_kubernetes_pods": true, "kubernetes_services": true, "consul": true, "http_service_discovery": true,
	"content_type_override": true, "enable_request_metrics": true}

// promInput is the input prometheus without discovery: Telegraf's own links the clients of
// Kubernetes and Consul, which triple the program. Settings, parsers and series are the
// same.
type promInput struct {
	URLs               []string          `toml:"urls"`
	BearerToken        string            `toml:"bearer_token"` // a file
	BearerTokenString  tconfig.Secret    `toml:"bearer_token_string"`
	Username           tconfig.Secret    `toml:"username"`
	Password           tconfig.Secret    `toml:"password"`
	HTTPHeaders        map[string]string `toml:"http_headers"`
	ContentLengthLimit tconfig.Size      `toml:"content_length_limit"`
	MetricVersion      int               `toml:"metric_version"`
	URLTag             string            `toml:"url_tag"`
	IgnoreTimestamp    bool              `toml:"ignore_timestamp"`
	tlshttp.HTTPClientConfig

	Log    upstream.Logger `toml:"-"`
	client *http.Client
	urls   []*url.URL
}

// maxBody is the content_length_limit where there is none, in bytes.
const maxBody = 64 << 20

// accept is the format that every exporter has; OpenMetrics would name counters otherwise.
const accept = "text/plain;version=0.0.4,*/*;q=0.1"

func init() {
	inputs.Add("prometheus", func() upstream.Input {
		p := &promInput{URLTag: "url", MetricVersion: 1, ContentLengthLimit: maxBody}
		p.Timeout = tconfig.Duration(5 * time.Second)
		return p
	})
}

func (*promInput) SampleConfig() string {
	return "[[inputs.prometheus]]\n  urls = [\"http://localhost:9100/metrics\"]\n"
}

// Init checks the settings and makes the client.
func (p *promInput) Init() (err error) {
	p.urls = nil
	for _, s := range p.URLs {
		u, err := url.Parse(s)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" {
			return fmt.Errorf("urls: %q, want http or https", s)
		}
		if u.Path == "" {
			u.Path = "/metrics"
		}
		p.urls = append(p.urls, u)
	}
	p.client, err = p.CreateClient(context.Background(), p.Log)
	return err
}

// Gather reads all pages, beside each other; one that fails costs its own series.
func (p *promInput) Gather(acc upstream.Accumulator) error {
	var wg sync.WaitGroup
	for _, u := range p.urls {
		wg.Go(func() {
			defer func() {
				if v := recover(); v != nil {
					acc.AddError(fmt.Errorf("%s: %w", u.Redacted(), &panicked{value: v}))
				}
			}()
			if err := p.page(u, acc); err != nil {
				acc.AddError(fmt.Errorf("%s: %w", u.Redacted(), err))
			}
		})
	}
	wg.Wait()
	p.client.CloseIdleConnections() // none outlives a reading, so that nothing is left to stop
	return nil
}

func (p *promInput) page(u *url.URL, acc upstream.Accumulator) error {
	req, err := p.request(u)
	if err != nil {
		return err
	}
	res, err := p.client.Do(req)
	if err != nil {
		var outer *url.Error
		if errors.As(err, &outer) {
			return outer.Err // the URL is said once
		}
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("answered %s", res.Status)
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, int64(p.ContentLengthLimit)+1))
	if err != nil {
		return fmt.Errorf("read: %w", err)
	}
	if int64(len(body)) > int64(p.ContentLengthLimit) {
		return fmt.Errorf("larger than content_length_limit, %d bytes", p.ContentLengthLimit)
	}
	return p.parse(res.Header, body, u, acc)
}

// request has the headers and credentials of the settings.
func (p *promInput) request(u *url.URL) (*http.Request, error) {
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, u.String(), nil) // the client has a timeout
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", accept)
	switch {
	case p.BearerToken != "":
		token, err := os.ReadFile(p.BearerToken)
		if err != nil {
			return nil, fmt.Errorf("bearer_token: %w", err)
		}
		req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	case !p.BearerTokenString.Empty():
		token, err := reveal(&p.BearerTokenString)
		if err != nil {
			return nil, fmt.Errorf("bearer_token_string: %w", err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
	case !p.Username.Empty() || !p.Password.Empty():
		user, err := reveal(&p.Username)
		if err != nil {
			return nil, fmt.Errorf("username: %w", err)
		}
		password, err := reveal(&p.Password)
		if err != nil {
			return nil, fmt.Errorf("password: %w", err)
		}
		req.SetBasicAuth(user, password)
	}
	for k, v := range p.HTTPHeaders {
		if strings.EqualFold(k, "host") {
			req.Host = v
		}
		req.Header.Set(k, v)
	}
	return req, nil
}

func reveal(s *tconfig.Secret) (string, error) {
	b, err := s.Get()
	if err != nil {
		return "", err
	}
	defer b.Destroy()
	return strings.Clone(b.String()), nil
}

// parse hands the series over, with the page's URL as a tag.
func (p *promInput) parse(h http.Header, body []byte, u *url.URL, acc upstream.Accumulator) error {
	var parser upstream.Parser = &prometheus.Parser{Header: h, MetricVersion: p.MetricVersion, IgnoreTimestamp: p.IgnoreTimestamp, Log: p.Log}
	if openmetrics.AcceptsContent(h) {
		parser = &openmetrics.Parser{Header: h, MetricVersion: p.MetricVersion, IgnoreTimestamp: p.IgnoreTimestamp, Log: p.Log}
	}
	metrics, err := parser.Parse(body)
	if err != nil {
		return fmt.Errorf("parse: %w", err)
	}
	where := *u
	where.User = nil
	for _, m := range metrics {
		if p.URLTag != "" {
			m.AddTag(p.URLTag, where.String())
		}
		acc.AddMetric(m)
	}
	return nil
}
