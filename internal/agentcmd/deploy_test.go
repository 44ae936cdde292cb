package agentcmd

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"

	"sextant/collectors"
	"sextant/internal/exit"
	"sextant/internal/httpserve"
	"sextant/internal/testkit/deploykit"
)

// TestComposeConfig loads what docker-compose.yml gives to the agent, with the secrets that
// secrets.sh makes.
func TestComposeConfig(t *testing.T) {
	dir := t.TempDir()
	secrets, err := deploykit.Secrets("../..", dir)
	if err != nil {
		t.Fatal(err)
	}
	mounts := map[string]string{"/run/sextant/service.pem": "agent.pem", "/run/sextant/service.key": "agent.key",
		"/run/sextant/ca.pem": "ca.pem", "/run/sextant/web.yaml": "web.yaml"}
	path, err := deploykit.Mounted("../../deploy/compose/agent.yaml", dir, secrets, mounts)
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := collectors.LoadWith(path, func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Kafka.TLS == nil || len(cfg.Scrape) == 0 || cfg.Host.Enabled {
		t.Errorf("%+v", cfg.Section)
	}
	for _, job := range cfg.Scrape {
		if job.Scheme != "https" || job.HTTPClientConfig.TLSConfig.CertFile == "" {
			t.Errorf("job %s is not scraped over mutual TLS", job.JobName)
		}
	}
	web, err := deploykit.Mounted(secrets+"/web.yaml", dir, secrets, mounts)
	if err != nil {
		t.Fatal(err)
	}
	server, err := httpserve.Listen(httpserve.Options{Addr: "0.0.0.0:0", WebConfig: web})
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(server.Addr())
	args, err := deploykit.Healthcheck("../..", "agent", secrets, mounts, cfg.Web.Listen, "127.0.0.1:"+port)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx, http.NotFoundHandler()) }()
	if out, err := execute(t, args...); err == nil || !strings.Contains(err.Error(), "404 Not Found") {
		t.Errorf("the health check got %q, %v", out, err)
	}
	stop()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if out, err := execute(t, args...); exit.Status(err) != exit.StatusFailure {
		t.Errorf("the health check of nobody got %q, %v", out, err)
	}
}

// TestExampleShowsEveryKey: what the example leaves out, nobody finds.
func TestExampleShowsEveryKey(t *testing.T) {
	missing, err := deploykit.Undocumented("../../deploy/agent.example.yaml", &collectors.Section{})
	if err != nil || len(missing) > 0 {
		t.Errorf("%v: the example says nothing of %q", err, missing)
	}
}
