package httpserve

import (
	"fmt"
	"net"
	"os"

	"github.com/prometheus/exporter-toolkit/web"
	"go.yaml.in/yaml/v2"
)

// guard refuses a listener that others can reach unless it encrypts and authenticates.
func guard(o Options) error {
	host, _, err := net.SplitHostPort(o.Addr)
	if err != nil {
		return fmt.Errorf("listen address %q: %w", o.Addr, err)
	}
	if o.WebConfig != "" {
		if err := web.Validate(o.WebConfig); err != nil {
			return fmt.Errorf("web config %s: %w", o.WebConfig, err)
		}
	}
	if loopback(host) {
		return nil
	}
	if o.WebConfig == "" {
		return fmt.Errorf("listen address %s leaves this host: give a web config with tls_server_config and basic_auth_users (or client certificates), or listen on 127.0.0.1", o.Addr)
	}
	data, err := os.ReadFile(o.WebConfig)
	if err != nil {
		return err
	}
	var c web.Config
	if err := yaml.UnmarshalStrict(data, &c); err != nil {
		return fmt.Errorf("web config %s: %w", o.WebConfig, err)
	}
	if c.TLSConfig.TLSCertPath == "" && c.TLSConfig.TLSCert == "" {
		return fmt.Errorf("web config %s: tls_server_config.cert_file is required, because %s leaves this host", o.WebConfig, o.Addr)
	}
	if mutual := c.TLSConfig.ClientAuth == "RequireAndVerifyClientCert"; len(c.Users) == 0 && !mutual && !o.Authenticated {
		return fmt.Errorf("web config %s: basic_auth_users or client_auth_type RequireAndVerifyClientCert is required, because %s leaves this host", o.WebConfig, o.Addr)
	}
	return nil
}

func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
