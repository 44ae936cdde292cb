package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"sextant/internal/clickhouse"
	"sextant/pipeline/kafka"
	"sextant/schema/topics"
)

func setupCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "setup",
		Short: "Create topics, tables and views: topics apply, then migrate",
		Long:  "setup makes Kafka and ClickHouse ready. It may be run at every deployment: what is there already stays.",
		Example: `  sextant setup --config sextant.yaml
  sextant setup --config sextant.yaml --replication 1   # a cluster of one broker`,
		Args: cobra.NoArgs,
	}
	load := configFlag(cmd)
	apply := topicFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		cfg, err := load()
		if err != nil {
			return err
		}
		if err := apply(cmd.Context(), cfg, cmd.OutOrStdout()); err != nil {
			return err
		}
		return migrate(cmd.Context(), cfg, cmd.OutOrStdout())
	}
	return cmd
}

func topicsCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "topics", Short: "The Kafka topics of the line", Args: cobra.NoArgs,
		Example: "  sextant topics list\n  sextant topics apply --dry-run",
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	applyCmd := &cobra.Command{
		Use:   "apply",
		Short: "Create missing topics and correct their settings",
		Long: `apply makes the cluster agree with the definitions. It never changes a number of partitions or
replicas: those are reported as drift, because they move nodes between partitions in mid-stream.`,
		Example: "  sextant topics apply --config sextant.yaml --dry-run",
		Args:    cobra.NoArgs,
	}
	load := configFlag(applyCmd)
	apply := topicFlags(applyCmd)
	applyCmd.RunE = func(cmd *cobra.Command, _ []string) error {
		cfg, err := load()
		if err != nil {
			return err
		}
		return apply(cmd.Context(), cfg, cmd.OutOrStdout())
	}
	cmd.AddCommand(applyCmd, &cobra.Command{
		Use: "list", Short: "Print the definitions", Example: "  sextant topics list", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, t := range topics.All() {
				fmt.Fprintf(cmd.OutOrStdout(), "%s\n  %s\n  key    %s\n  value  %s\n  %d partitions, %d replicas\n", t.Name, t.Doc, t.Key, t.Value, t.Partitions, t.Replication)
			}
			return nil
		},
	})
	return cmd
}

// topicFlags adds the flags of applying topics and returns what applies them.
func topicFlags(cmd *cobra.Command) func(context.Context, *Config, io.Writer) error {
	dry := cmd.Flags().Bool("dry-run", false, "say what topics would change, and change nothing")
	replicas := cmd.Flags().Int("replication", 0, "copies of each topic; 0: as defined")
	return func(ctx context.Context, cfg *Config, out io.Writer) error {
		want := topics.All()
		if *replicas == 1 {
			for i := range want {
				want[i] = want[i].Single()
			}
		}
		changes, err := kafka.ApplyTopics(ctx, cfg.Kafka, want, kafka.ApplyOptions{DryRun: *dry, Replication: *replicas})
		for _, c := range changes {
			fmt.Fprintln(out, "topics:", c)
		}
		if err == nil && len(changes) == 0 {
			fmt.Fprintln(out, "topics: nothing to change")
		}
		return err
	}
}

func migrateCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "migrate",
		Short:   "Bring ClickHouse to this program's schema",
		Long:    "migrate creates the database, tables, SQL views, and a table for each feature view. Two at once are safe.",
		Example: "  sextant migrate --config sextant.yaml",
		Args:    cobra.NoArgs,
	}
	load := configFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		cfg, err := load()
		if err != nil {
			return err
		}
		return migrate(cmd.Context(), cfg, cmd.OutOrStdout())
	}
	return cmd
}

func migrate(ctx context.Context, cfg *Config, out io.Writer) error {
	set, err := cfg.definitions()
	if err != nil {
		return err
	}
	db, err := clickhouse.Open(ctx, cfg.ClickHouse, cfg.logger(), nil)
	if err != nil {
		return fmt.Errorf("clickhouse: %w", err)
	}
	defer db.Close()
	p, err := applyDefinitions(ctx, db, set, applying{who: whoami()})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "clickhouse: database %s is ready, %d feature views, %d services, %d definitions changed\n",
		cfg.ClickHouse.Database, len(set.Views), len(set.Services), p.Pending())
	return nil
}
