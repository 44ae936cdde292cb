package main

import (
	"context"
	"io"
	"net/http"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"sextant/internal/config"
	"sextant/internal/exit"
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

// Where the services of docker-compose.yml listen.
const composePipeline, composeAPI, composeIngest = "0.0.0.0:9466", "0.0.0.0:6566", "0.0.0.0:6567"

// TestExampleShowsEveryKey: what the example leaves out, nobody finds.
func TestExampleShowsEveryKey(t *testing.T) {
	missing, err := deploykit.Undocumented("../../deploy/sextant.example.yaml", &Config{})
	if err != nil || len(missing) > 0 {
		t.Errorf("%v: the example says nothing of %q", err, missing)
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
		c.Pipeline.WebConfig, c.Serve.WebConfig, c.Ingest.WebConfig = webFile, webFile, webFile
		return c
	}
	pipe := load("sextant.yaml", "pipeline", "clickhouse_password", "web.yaml")
	serve := load("api.yaml", "api", "clickhouse_reader_password", "web-api.yaml")
	ingest := load("ingest.yaml", "ingest", "", "web-api.yaml")
	ended, end := context.WithCancel(t.Context())
	end()
	if pipe.Pipeline.Listen != composePipeline || serve.Serve.Listen != composeAPI || ingest.Ingest.Listen != composeIngest {
		t.Errorf("they listen on %s, %s and %s", pipe.Pipeline.Listen, serve.Serve.Listen, ingest.Ingest.Listen)
	}
	for name, o := range map[string]httpserve.Options{
		"pipeline": {Addr: pipe.Pipeline.Listen, WebConfig: pipe.Pipeline.WebConfig},
		"api":      {Addr: serve.Serve.Listen, WebConfig: serve.Serve.WebConfig, Authenticated: serve.Serve.TokenFile != ""},
		"ingest":   {Addr: ingest.Ingest.Listen, WebConfig: ingest.Ingest.WebConfig, Authenticated: ingest.Ingest.TokenFile != ""},
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
	if pipe.Kafka.TLS == nil || ingest.Kafka.TLS == nil || !pipe.ClickHouse.TLS.Enabled || !serve.ClickHouse.TLS.Enabled {
		t.Error("a connection is not encrypted")
	}
	if serve.ClickHouse.Username == pipe.ClickHouse.Username {
		t.Error("the API, which only reads, has the pipeline's user")
	}
}

// TestComposeHealth runs the health checks of docker-compose.yml against the listeners
// that its files configure.
func TestComposeHealth(t *testing.T) {
	dir := t.TempDir()
	secrets, err := deploykit.Secrets("../..", dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ service, web, listen string }{
		{"pipeline", "web.yaml", composePipeline}, {"api", "web-api.yaml", composeAPI}, {"ingest", "web-api.yaml", composeIngest},
	} {
		t.Run(c.service, func(t *testing.T) {
			files := mounts(c.service, "", c.web)
			web, err := deploykit.Mounted(secrets+"/"+c.web, t.TempDir(), secrets, files)
			if err != nil {
				t.Fatal(err)
			}
			server, err := httpserve.Listen(httpserve.Options{Addr: "127.0.0.1:0", WebConfig: web})
			if err != nil {
				t.Fatal(err)
			}
			args, err := deploykit.Healthcheck("../..", c.service, secrets, files, c.listen, server.Addr())
			if err != nil {
				t.Fatal(err)
			}
			var ready atomic.Bool
			ctx, stop := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() {
				done <- server.Run(ctx, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Path != "/readyz" || !ready.Load() {
						http.Error(w, "not yet", http.StatusServiceUnavailable)
					}
				}))
			}()
			health := func() error {
				cmd := root()
				cmd.SetOut(io.Discard)
				cmd.SetArgs(args)
				return cmd.ExecuteContext(t.Context())
			}
			if err := health(); exit.Status(err) != exit.StatusFailure || !strings.Contains(err.Error(), "503 Service Unavailable: not yet") {
				t.Errorf("before it is ready: %v", err)
			}
			ready.Store(true)
			if err := health(); err != nil {
				t.Error(err)
			}
			stop()
			if err := <-done; err != nil {
				t.Error(err)
			}
			if err := health(); exit.Status(err) != exit.StatusFailure {
				t.Errorf("after its end: %v", err)
			}
		})
	}
}

func mounts(service, password, web string) map[string]string {
	return map[string]string{
		"/run/sextant/service.pem": service + ".pem", "/run/sextant/service.key": service + ".key", "/run/sextant/ca.pem": "ca.pem",
		"/run/sextant/clickhouse_password": password, "/run/sextant/web.yaml": web, "/run/sextant/api_token": "api_token", "/run/sextant/ingest_token": "ingest_token",
	}
}
