package agentcmd

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"sextant/collectors"
)

func onceCommand(f *flags, out, errOut io.Writer) *cobra.Command {
	var name string
	c := &cobra.Command{
		Use: "once", Short: "Run one of the agent's own collectors a single time and print what it gives", Args: cobra.NoArgs,
		Long: `Once runs a collector with the settings of the configuration, whether it is enabled or
not, and prints one collection in the text format, the inventory as JSON. Nothing is sent or kept. Why a
collector gives nothing is on standard error.`,
		Example: "  sextant-agent once --collector node\n  sextant-agent once --collector inventory\n  sextant-agent once --collector dcgm --config /etc/sextant/agent.yaml\n  sextant-agent once --collector telegraf --config /etc/sextant/agent.yaml",
		RunE: func(*cobra.Command, []string) error {
			log, err := logger(errOut, f.logLevel, f.logFormat)
			if err != nil {
				return err
			}
			cfg, err := f.loadUnsent()
			if err != nil {
				return err
			}
			return collectors.Once(cfg, name, log, out)
		},
	}
	c.Flags().StringVar(&name, "collector", "", fmt.Sprintf("which one: %s", strings.Join(collectors.OnceNames, ", ")))
	_ = c.MarkFlagRequired("collector") // it was defined the line before
	return c
}
