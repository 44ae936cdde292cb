package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"

	"sextant/internal/embedded/broker"
	"sextant/internal/embedded/clickhouse"
	"sextant/internal/fetch"
	"sextant/schema/topics"
)

func embeddedCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "embedded",
		Short: "Run the embedded broker and ClickHouse alone, on loopback",
		Long: `embedded runs a Kafka-protocol broker and the ClickHouse engine in one process, for development
and tests. Any Kafka client and any ClickHouse HTTP client can talk to them. The broker creates the
topics itself. It is meant for one machine: a single copy that survives kill -9, not power loss.`,
		Example: `  sextant embedded --dir data/dev
  curl 'http://127.0.0.1:8123/?query=SELECT+version()'
  SEXTANT_CLICKHOUSE_ADDR=127.0.0.1:8123 SEXTANT_CLICKHOUSE_PROTOCOL=http sextant migrate`,
		Args: cobra.NoArgs,
	}
	e := embeddedConfig{}
	f := cmd.Flags()
	f.StringVar(&e.dir, "dir", "data/embedded", "data directory")
	f.StringVar(&e.kafka, "kafka", "127.0.0.1:9092", `broker's address on loopback; "none" starts none`)
	f.StringVar(&e.clickhouse, "clickhouse", "127.0.0.1:8123", `ClickHouse's address on loopback; "none" starts none`)
	f.StringVar(&e.group, "group", defaultConfig().Pipeline.Group, "consumer group whose commits let the broker trim its log")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		ctx := cmd.Context()
		run, err := startEmbedded(ctx, e, cmd.ErrOrStderr(), slog.New(slog.NewTextHandler(os.Stderr, nil)), newRegistry())
		if err != nil {
			return err
		}
		if run.broker != nil {
			fmt.Fprintln(cmd.OutOrStdout(), "kafka", run.broker.Addr())
		}
		if run.clickhouse != nil {
			fmt.Fprintln(cmd.OutOrStdout(), "clickhouse", run.clickhouse.Addr())
		}
		fmt.Fprintln(cmd.OutOrStdout(), "ready")
		<-ctx.Done()
		return run.Close()
	}
	return cmd
}

// embeddedConfig says what to run in this process. The address "none" leaves a part out.
type embeddedConfig struct {
	dir, kafka, clickhouse, group string
}

// embedded is what runs in this process in place of a cluster.
type embedded struct {
	broker     *broker.Broker
	clickhouse *clickhouse.Server
}

// startEmbedded fetches the engine if need be and starts the parts. Progress of the
// download goes to progress.
func startEmbedded(ctx context.Context, c embeddedConfig, progress io.Writer, log *slog.Logger, reg prometheus.Registerer) (*embedded, error) {
	e := &embedded{}
	if c.clickhouse != "none" {
		library, err := fetch.Chdb(ctx, progress)
		if err != nil {
			return nil, err
		}
		e.clickhouse, err = clickhouse.Start(ctx, clickhouse.Config{
			Dir: filepath.Join(c.dir, "clickhouse"), Library: library, Addr: c.clickhouse, Logger: log, Registerer: reg})
		if err != nil {
			return nil, err
		}
	}
	if c.kafka != "none" {
		want := topics.All()
		for i := range want {
			want[i] = want[i].Single()
		}
		var err error
		e.broker, err = broker.Start(ctx, broker.Config{
			Dir: filepath.Join(c.dir, "kafka"), Addr: c.kafka, Topics: want, Group: c.group, Groups: []string{inventoryGroup(c.group), nodesGroup(c.group), tasksGroup(c.group)}, Logger: log, Registerer: reg})
		if err != nil {
			e.Close()
			return nil, err
		}
	}
	return e, nil
}

// Close stops the parts: the broker first, so that nobody writes any more.
func (e *embedded) Close() error {
	var first error
	if e.broker != nil {
		first = e.broker.Close()
	}
	if e.clickhouse != nil {
		if err := e.clickhouse.Close(); first == nil {
			first = err
		}
	}
	return first
}
