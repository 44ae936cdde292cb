package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/klauspost/compress/snappy"
	"github.com/prometheus/prometheus/prompb"

	"sextant/schema/wire"
)

func startPrometheusAlone(_ context.Context, dir string, targets []string, o Options) (*sink, []string, error) {
	args, err := prometheusConfig(dir, scrapeConfig(targets, o))
	return nowhere, args, err
}

// startPrometheusWrite sends to an HTTP server that decodes, counts and forgets.
func startPrometheusWrite(message string) func(context.Context, string, []string, Options) (*sink, []string, error) {
	return func(_ context.Context, dir string, targets []string, o Options) (*sink, []string, error) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, nil, err
		}
		args, err := prometheusConfig(dir, scrapeConfig(targets, o)+fmt.Sprintf(`remote_write:
  - url: http://%s/write
    protobuf_message: %s
`, l.Addr(), message))
		if err != nil {
			return nil, nil, errors.Join(err, l.Close())
		}
		c := &counter{}
		srv := &http.Server{Handler: http.HandlerFunc(c.write)}
		var done sync.WaitGroup
		done.Go(func() {
			if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
				c.fail(err)
			}
		})
		return &sink{delivered: c.read, close: func() error { defer done.Wait(); return srv.Close() }}, args, nil
	}
}

func prometheusConfig(dir, text string) ([]string, error) {
	file := filepath.Join(dir, "prometheus.yaml")
	return []string{"--agent", "--config.file=" + file, "--storage.agent.path=" + filepath.Join(dir, "wal"),
		"--web.listen-address=127.0.0.1:0", "--log.level=warn"}, os.WriteFile(file, []byte(text), 0o640)
}

// write counts one remote-write request of either version.
func (c *counter) write(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 64<<20))
	if err == nil {
		c.bytes.Add(int64(len(body)))
		body, err = snappy.Decode(nil, body)
	}
	n := 0
	if err == nil {
		n, err = countSamples(r.Header.Get("X-Prometheus-Remote-Write-Version"), body)
	}
	if err != nil {
		c.fail(err)
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c.samples.Add(int64(n))
	w.Header().Set("X-Prometheus-Remote-Write-Samples-Written", strconv.Itoa(n))
	w.Header().Set("X-Prometheus-Remote-Write-Histograms-Written", "0")
	w.Header().Set("X-Prometheus-Remote-Write-Exemplars-Written", "0")
	w.WriteHeader(http.StatusNoContent)
}

func countSamples(version string, body []byte) (n int, err error) {
	if version == "2.0.0" {
		var d wire.Decoder
		err := d.Scan(body)
		return len(d.Values), err
	}
	var req prompb.WriteRequest
	if err := req.Unmarshal(body); err != nil {
		return 0, err
	}
	for i := range req.Timeseries {
		n += len(req.Timeseries[i].Samples)
	}
	return n, nil
}
