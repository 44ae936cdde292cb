package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"text/tabwriter"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"sextant/features"
	"sextant/internal/clickhouse"
	"sextant/internal/exit"
	"sextant/pipeline/derive"
	"sextant/pipeline/kafka"
	"sextant/pipeline/rollup"
	"sextant/pipeline/tasks"
	schema "sextant/schema/tasks"
	"sextant/schema/topics"
)

// tasksGroup is the consumer group that reads the task events.
func tasksGroup(group string) string { return group + "-tasks" }

// runTasks stores task events until ctx is done, and where it owns partition 0 evaluates the
// views of SQL. dead keeps what can never be read.
func runTasks(ctx context.Context, cfg *Config, views []*features.View, db *clickhouse.DB, dead *kafka.Producer, log *slog.Logger, reg prometheus.Registerer) error {
	sink := db.NewTaskSink()
	run := tasks.Config{Metrics: tasks.NewMetrics(reg), Log: log, Dead: func(ctx context.Context, letters []tasks.DeadLetter) error {
		for _, l := range letters {
			if err := dead.SendDead(ctx, topics.Tasks, l.Record, l.Reason); err != nil {
				return fmt.Errorf("dead letter: %w", err)
			}
		}
		return nil
	}}
	opts := kafka.ConsumerOptions{Group: tasksGroup(cfg.Pipeline.Group), Topic: topics.Tasks, Logger: log}
	beside := &deriving{cfg: cfg, views: views, db: db, metrics: derive.NewMetrics(reg), log: log}
	repairs := newRepairing(cfg, views, db, log, reg)
	rolling := rollup.Defaults()
	rolling.Metrics, rolling.Log = rollup.NewMetrics(reg), log
	quality := newProfiling(cfg, views, db, log, reg)
	return kafka.Consume(ctx, cfg.Kafka, opts, func(ctx context.Context, p *kafka.Partition) error {
		g, ctx := errgroup.WithContext(ctx)
		g.Go(func() error { return tasks.Run(ctx, offsetSource{p}, sink, run) })
		if p.ID() == 0 {
			g.Go(func() error { return beside.run(ctx) })
			g.Go(func() error { return repairs.run(ctx) })
			g.Go(func() error { return rollup.Run(ctx, db.NewRollupStore(), rolling) })
			g.Go(func() error { return quality.run(ctx) })
		}
		return g.Wait()
	})
}

func tasksCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "tasks", Short: "Send task events, and list tasks", Args: cobra.NoArgs,
		Example: "  sextant tasks send events.ndjson\n  sextant tasks list --state queued",
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(tasksSendCmd(), tasksListCmd())
	return cmd
}

func tasksSendCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "send FILE",
		Short: "Send the task events of a file, one on each line",
		Long: `send checks each line, names what is wrong with it, and hands the others to Kafka. The file may be
sent again: an event counts once. - reads standard input. Exit status 1 says that some lines are wrong.`,
		Example: "  sextant tasks send --config sextant.yaml events.ndjson\n  sextant tasks send --check events.ndjson",
		Args:    cobra.ExactArgs(1),
	}
	load := configFlag(cmd)
	check := cmd.Flags().Bool("check", false, "only check, and send nothing")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		cfg, err := load()
		if err != nil {
			return err
		}
		in := cmd.InOrStdin()
		if args[0] != "-" {
			f, err := os.Open(args[0])
			if err != nil {
				return err
			}
			defer f.Close()
			in = f
		}
		send := func([]kafka.Message) error { return nil }
		if !*check {
			p, err := taskProducer(cfg)
			if err != nil {
				return err
			}
			defer p.Close()
			send = func(msgs []kafka.Message) error { return sendAll(cmd.Context(), p, msgs) }
		}
		return sendEvents(in, cmd.OutOrStdout(), cmd.ErrOrStderr(), time.Now(), send)
	}
	return cmd
}

// eventsAtOnce bounds what is sent, and held, at a time.
const eventsAtOnce = 1000

// sendEvents hands the events of in to send, and what is wrong to faults.
func sendEvents(in io.Reader, out, faults io.Writer, now time.Time, send func([]kafka.Message) error) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 4*schema.MaxBytes)
	var msgs []kafka.Message
	sent, wrong := 0, 0
	flush := func() error {
		if err := send(msgs); err != nil {
			return fmt.Errorf("send task events: %d are sent: %w", sent, err)
		}
		sent += len(msgs)
		msgs = msgs[:0]
		return nil
	}
	number := 0
	for lines.Scan() {
		number++
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		e, err := schema.Decode(line, now.UnixMilli())
		var value []byte
		if err == nil {
			value, err = e.Encode(now.UnixMilli())
		}
		if err != nil {
			wrong++
			fmt.Fprintf(faults, "line %d: %v\n", number, err)
			continue
		}
		if msgs = append(msgs, kafka.Message{Topic: topics.Tasks, Key: e.Key(), Value: value}); len(msgs) == eventsAtOnce {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("line %d: %w", number+1, err)
	}
	if err := flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "%d events are right\n", sent)
	if wrong > 0 {
		return fmt.Errorf("%d lines are wrong", wrong)
	}
	return nil
}

// sendAll sends until Kafka acknowledged all, for a minute.
func sendAll(ctx context.Context, p *kafka.Producer, msgs []kafka.Message) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for len(msgs) > 0 {
		var left []kafka.Message
		var last error
		for i, err := range p.Send(ctx, msgs) {
			if err != nil {
				left, last = append(left, msgs[i]), err
			}
		}
		if msgs = left; last == nil {
			break
		}
		select {
		case <-ctx.Done():
			return last
		case <-time.After(time.Second):
		}
	}
	return nil
}

func tasksListCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "Print tasks, the last changed first",
		Long:    "list reads the SQL view tasks, which has more columns.",
		Example: "  sextant tasks list --config sextant.yaml --state queued --tenant acme",
		Args:    cobra.NoArgs,
	}
	load := configFlag(cmd)
	var f clickhouse.TaskFilter
	cmd.Flags().StringVar(&f.State, "state", "", "only tasks in this state")
	cmd.Flags().StringVar(&f.Tenant, "tenant", "", "only tasks of this tenant")
	cmd.Flags().IntVar(&f.Limit, "limit", 50, "how many")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if f.Limit < 1 || f.State != "" && schema.State(f.State).Rank() < 0 {
			return exit.Usage(fmt.Errorf("want --limit above 0, and --state one of %v", schema.States[1:]))
		}
		cfg, err := load()
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), time.Minute)
		defer cancel()
		db, err := clickhouse.Open(ctx, cfg.ClickHouse, cfg.logger(), nil)
		if err != nil {
			return fmt.Errorf("clickhouse: %w", err)
		}
		defer db.Close()
		list, err := db.Tasks(ctx, f)
		if err != nil {
			return err
		}
		return printTasks(cmd.OutOrStdout(), list)
	}
	return cmd
}

func printTasks(out io.Writer, list []clickhouse.Task) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "CLUSTER\tTASK\tNAME\tSTATE\tSINCE\tTENANT\tQUEUE\tNODE\tWAITED\tRAN\tREASON")
	for _, t := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", t.Cluster, t.Task, t.Name, t.State, t.Changed.UTC().Format(time.DateTime),
			t.Tenant, t.Queue, t.Node, seconds(t.QueueSeconds), seconds(t.RunSeconds), t.Reason)
	}
	return w.Flush()
}

func seconds(s float64) string {
	if math.IsNaN(s) {
		return "-"
	}
	return (time.Duration(s*1000) * time.Millisecond).String()
}
