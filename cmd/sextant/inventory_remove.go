package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"sextant/internal/exit"
	"sextant/pipeline/kafka"
	"sextant/schema/inventory"
	"sextant/schema/topics"
)

func inventoryCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "inventory", Short: "Take nodes that are gone out of the inventory", Args: cobra.NoArgs,
		Example: "  sextant inventory remove node-17",
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(inventoryRemoveCmd())
	return cmd
}

func inventoryRemoveCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "remove NODE...",
		Short: "Say that nodes are gone",
		Long: `remove writes to the topic inventory that each node is gone: the views nodes, devices, nics and links forget it, and its
history stays. An agent that still runs there brings its node back with its next document, within the hour.`,
		Example: "  sextant inventory remove --config sextant.yaml node-17 node-18",
		Args:    cobra.MinimumNArgs(1),
	}
	load := configFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		cfg, err := load()
		if err != nil {
			return err
		}
		msgs, err := removals(args)
		if err != nil {
			return exit.Config(err)
		}
		p, err := inventoryProducer(cfg)
		if err != nil {
			return err
		}
		defer p.Close()
		if err := sendAll(cmd.Context(), p, msgs); err != nil {
			return fmt.Errorf("remove from the inventory: %w", err)
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%d nodes are removed\n", len(msgs))
		return nil
	}
	return cmd
}

// removals are the records that say that nodes are gone: a key without a value.
func removals(nodes []string) ([]kafka.Message, error) {
	var msgs []kafka.Message
	for _, n := range nodes {
		if err := inventory.CheckNode(n); err != nil {
			return nil, err
		}
		msgs = append(msgs, kafka.Message{Topic: topics.Inventory, Key: []byte(n)})
	}
	return msgs, nil
}

func inventoryProducer(cfg *Config) (*kafka.Producer, error) {
	p, err := kafka.NewProducer(cfg.Kafka, kafka.ProducerOptions{Topic: topics.Inventory, Uncompressed: []string{topics.Inventory}})
	if err != nil {
		return nil, fmt.Errorf("kafka: %w", err)
	}
	return p, nil
}
