//go:build !cgo || !linux

package nvml

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
)

func TestBuiltWithoutBinding(t *testing.T) {
	var log bytes.Buffer
	c := New(slog.New(slog.NewTextHandler(&log, nil)))
	for range 2 {
		if err := testutil.CollectAndCompare(c, strings.NewReader("# HELP collector_up Whether the collector could read its source.\n# TYPE collector_up gauge\ncollector_up{collector=\"nvml\"} 0\n")); err != nil {
			t.Fatal(err)
		}
	}
	if strings.Count(log.String(), "\n") != 1 || !strings.Contains(log.String(), "built without cgo") {
		t.Fatal(log.String())
	}
}
