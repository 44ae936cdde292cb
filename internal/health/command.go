package health

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"
)

// Command is the command "health" of a program whose listener is at url by default.
func Command(program, url string) *cobra.Command {
	var o Options
	cmd := &cobra.Command{
		Use:   "health",
		Short: "Ask a running program whether it is ready",
		Long: `health asks a running program's /readyz and prints one line. The exit status is 0 when the
program is ready and 1 when it is not, does not answer or is not to be trusted. A listener that
asks for a client certificate gets --cert-file and --key-file.`,
		Example: "  " + program + " health\n  " + program + " health --url https://127.0.0.1:9466 --ca-file ca.pem --cert-file service.pem --key-file service.key",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			line, err := Ask(cmd.Context(), o)
			if err != nil {
				return fmt.Errorf("not ready: %w", err)
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), "ready:", line)
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.URL, "url", url, "whom to ask; without a path, /readyz")
	f.StringVar(&o.CAFile, "ca-file", "", "certificate authorities to trust in place of the system's")
	f.StringVar(&o.CertFile, "cert-file", "", "client certificate")
	f.StringVar(&o.KeyFile, "key-file", "", "key of the client certificate")
	f.DurationVar(&o.Timeout, "timeout", 3*time.Second, "how long the answer may take")
	return cmd
}
