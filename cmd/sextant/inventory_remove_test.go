package main

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sextant/pipeline/kafka"
	"sextant/schema/inventory"
)

// A node is in the inventory, is removed, and comes back with its next document.
func TestInventoryRemove(t *testing.T) {
	l := startTasks(t)
	p, err := inventoryProducer(l.cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- runInventory(ctx, l.cfg, l.db, l.producer, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	}()
	defer func() {
		cancel()
		if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}()
	tell := func(node string) {
		t.Helper()
		d := &inventory.Document{Node: node, Since: time.Now().UnixMilli(), Collected: time.Now().UnixMilli()}
		if err := d.Seal(); err != nil {
			t.Fatal(err)
		}
		value, err := d.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if err := sendAll(t.Context(), p, []kafka.Message{{Key: []byte(node), Value: value}}); err != nil {
			t.Fatal(err)
		}
	}
	const nodes = "SELECT arrayStringConcat(arraySort(groupArray(node)), ' ') FROM {db}.nodes"
	tell("n1")
	tell("n2")
	l.until(t, nodes, "n1 n2")

	file := filepath.Join(t.TempDir(), "sextant.yaml")
	text := "kafka: {brokers: ['" + l.cfg.Kafka.Brokers[0] + "']}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) (string, error) {
		var out bytes.Buffer
		cmd := root()
		cmd.SetOut(&out)
		cmd.SetArgs(append([]string{"inventory", "remove", "--config", file}, args...))
		err := cmd.ExecuteContext(t.Context())
		return out.String(), err
	}
	if out, err := run("n1"); err != nil || out != "1 nodes are removed\n" {
		t.Fatalf("%q, %v", out, err)
	}
	l.until(t, nodes, "n2")
	if _, err := run("n2", "a\nb"); err == nil || !strings.Contains(err.Error(), `node: "a\nb"`) {
		t.Errorf("a name that no node has: %v", err)
	}
	tell("n1")
	l.until(t, nodes, "n1 n2")
}
