package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"sextant/features"
	"sextant/features/rules"
)

// maxRuleFile bounds what is read as a rule file.
const maxRuleFile = 4 << 20

func featuresImportCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "import FILE…",
		Short: "Turn Prometheus recording rules into feature views",
		Long: `import writes a view for each group of rules and each entity that its expressions are about: the labels of a
result decide which. A rule that reads another rule's series gets that expression written out. A rule that cannot be a
feature is named with file, line and reason, and the exit status is 1. Files that exist already are not touched.`,
		Example: "  sextant features import rules.yml --out views\n  sextant features import rules.yml --rename instance=node,gpu=uid --out views",
		Args:    cobra.MinimumNArgs(1),
	}
	out := cmd.Flags().String("out", "", "folder to write to; empty: standard output")
	o := rules.Options{}
	cmd.Flags().StringVar(&o.Owner, "owner", "platform", "owner of the views")
	cmd.Flags().StringVar(&o.Tier, "tier", "monitoring", "static, monitoring or business")
	cmd.Flags().DurationVar(&o.Interval, "interval", 10*time.Second, "of groups that have none")
	cmd.Flags().StringToStringVar(&o.Rename, "rename", map[string]string{"instance": "node"}, "labels of the rules, and what they are called here")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		skipped := 0
		for _, file := range args {
			views, no, err := importFile(file, o)
			if err != nil {
				return err
			}
			for _, s := range no {
				fmt.Fprintln(cmd.ErrOrStderr(), s)
			}
			skipped += len(no)
			for _, v := range views {
				if err := writeView(cmd.OutOrStdout(), *out, v); err != nil {
					return err
				}
			}
		}
		if skipped > 0 {
			return fmt.Errorf("%d rules are no features", skipped)
		}
		return nil
	}
	return cmd
}

func importFile(file string, o rules.Options) ([]*features.View, []rules.Skipped, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxRuleFile+1))
	if err != nil {
		return nil, nil, err
	}
	if len(text) > maxRuleFile {
		return nil, nil, fmt.Errorf("%s: larger than %d bytes", file, maxRuleFile)
	}
	return rules.Import(file, text, o)
}

// writeView writes a view to a new file of dir, or to out.
func writeView(out io.Writer, dir string, v *features.View) error {
	if dir == "" {
		_, err := fmt.Fprintf(out, "---\n%s", v.YAML())
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	path := filepath.Join(dir, v.Name+".yaml")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, v.YAML())
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	fmt.Fprintf(out, "%s: %d features\n", path, len(v.Features))
	return nil
}
