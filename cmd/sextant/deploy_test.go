package main

import (
	"context"
	"net/http"
	"reflect"
	"testing"

	"sextant/internal/config"
	"sextant/internal/httpserve"
	"sextant/internal/testkit/deploykit"
)

// TestExampleShowsTheDefaults: the example says of itself that it shows every default.
func TestExampleShowsTheDefaults(t *testing.T) {
	got := defaultConfig()
	if err := config.Load("../../deploy/sextant.example.yaml", "SEXTANT_NONE", got); err != nil {
		t.Fatal(err)
	}
	if want := defaultConfig(); !reflect.DeepEqual(got, want) {
		t.Errorf("the example is\n%+v\nthe defaults are\n%+v", *got, *want)
	}
}

// TestComposeConfigs loads what docker-compose.yml mounts, with the secrets that
// secrets.sh makes, and binds the listeners that it asks for.
func TestComposeConfigs(t *testing.T) {
	dir := t.TempDir()
	secrets, err := deploykit.Secrets("../..", dir)
	if err != nil {
		t.Fatal(err)
	}
	load := func(file, service, password, web string) *Config {
		webFile, err := deploykit.Mounted(secrets+"/"+web, dir, secrets, mounts(service, password, web))
		if err != nil {
			t.Fatal(err)
		}
		path, err := deploykit.Mounted("../../deploy/compose/"+file, dir, secrets, mounts(service, password, web))
		if err != nil {
			t.Fatal(err)
		}
		c := defaultConfig()
		if err := config.Load(path, "SEXTANT_NONE", c); err != nil {
			t.Fatal(err)
		}
		c.Pipeline.WebConfig, c.Serve.WebConfig = webFile, webFile
		return c
	}
	pipe := load("sextant.yaml", "pipeline", "clickhouse_password", "web.yaml")
	serve := load("api.yaml", "api", "clickhouse_reader_password", "web-api.yaml")
	ended, end := context.WithCancel(t.Context())
	end()
	for name, o := range map[string]httpserve.Options{
		"pipeline": {Addr: pipe.Pipeline.Listen, WebConfig: pipe.Pipeline.WebConfig},
		"api":      {Addr: serve.Serve.Listen, WebConfig: serve.Serve.WebConfig, Authenticated: serve.Serve.TokenFile != ""},
	} {
		// Another machine's port may be taken here; what may be listened on is the question.
		o.Addr = "0.0.0.0:0"
		server, err := httpserve.Listen(o)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := server.Run(ended, http.NotFoundHandler()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if pipe.Kafka.TLS == nil || !pipe.ClickHouse.TLS.Enabled || !serve.ClickHouse.TLS.Enabled {
		t.Error("a connection is not encrypted")
	}
	if serve.ClickHouse.Username == pipe.ClickHouse.Username {
		t.Error("the API, which only reads, has the pipeline's user")
	}
}

func mounts(service, password, web string) map[string]string {
	return map[string]string{
		"/run/sextant/service.pem": service + ".pem", "/run/sextant/service.key": service + ".key", "/run/sextant/ca.pem": "ca.pem",
		"/run/sextant/clickhouse_password": password, "/run/sextant/web.yaml": web, "/run/sextant/api_token": "api_token",
	}
}
