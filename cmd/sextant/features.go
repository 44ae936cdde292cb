package main

import (
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"sextant/features"
	"sextant/features/api"
	"sextant/internal/exit"
	"sextant/pipeline/evaluate"
	"sextant/pipeline/pane"
)

func featuresCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "features", Short: "Feature views and services: check, apply, list and compare their definitions", Args: cobra.NoArgs,
		Example: "  sextant features validate ./views\n  sextant features plan --config sextant.yaml\n  sextant features list",
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(featuresValidateCmd(), featuresPlanCmd(), featuresApplyCmd(), featuresListCmd(), featuresShowCmd(),
		featuresDiffCmd(), featuresRetireCmd(), featuresImportCmd(), featuresBackfillCmd(), featuresRepairCmd(), featuresQualityCmd(), featuresBaselineCmd(), featuresTrainingCmd(), featuresLineageCmd())
	return cmd
}

func featuresValidateCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "validate [folder]",
		Short: "Check a folder of feature views and services; every fault with file and line",
		Long: `validate reads every .yaml file of the folder, one view or service each, and reports all that is wrong:
unknown keys, PromQL that does not parse, names that are taken. Exit status 78 says that a
definition is wrong.`,
		Example: "  sextant features validate ./views",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			set, err := definitionsOf(args)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%d views, %d features, %d services: all is well\n", len(set.Views), countFeatures(set.Views), len(set.Services))
			return nil
		},
	}
}

// listed is one feature as features list prints it.
type listed struct {
	Ref         string `json:"ref"`
	Entity      string `json:"entity"`
	Tier        string `json:"tier"`
	DType       string `json:"dtype"`
	Unit        string `json:"unit"`
	Range       string `json:"range"`
	TTL         string `json:"ttl"`
	Window      string `json:"window"` // how far before a tick it looks
	Where       string `json:"where"`  // where its windows are computed: stream, store or outside
	Path        string `json:"path"`   // compiled, engine and why, sql, or what the store makes its windows of
	Table       string `json:"table"`
	Expr        string `json:"expr"`
	Description string `json:"description"`
}

// lookback is how long a sample stands for its series where an expression has no range.
const lookback = time.Minute

// listOf describes every feature of set, by view@v1:feature.
func listOf(set *features.Set) (map[string]listed, error) {
	paths, err := pathsOf(set.Views)
	if err != nil {
		return nil, exit.Config(err)
	}
	rows := make(map[string]listed, len(paths))
	for _, v := range set.Views {
		for i := range v.Features {
			f := &v.Features[i]
			window, err := windowOf(v, f)
			if err != nil {
				return nil, exit.Config(err)
			}
			ref := v.Ref() + ":" + f.Name
			rows[ref] = listed{Ref: ref, Entity: v.Entity, Tier: v.Tier, DType: f.DType.String(), Unit: f.Unit, Range: f.Range(), TTL: v.TTL.String(),
				Window: window, Where: whereOf(v), Path: paths[ref], Table: v.Table(), Expr: f.Expr, Description: f.Description}
		}
	}
	return rows, nil
}

// whereOf says what computes the windows of a view.
func whereOf(v *features.View) string {
	switch {
	case v.Push:
		return "outside"
	case v.InStore():
		return "store"
	}
	return "stream"
}

// computed says where the windows are computed, and how.
func (l listed) computed() string { return l.Where + ", " + l.Path }

// windowOf is how far before a tick a feature looks, or "query" where only the view's SQL
// says so.
func windowOf(v *features.View, f *features.Feature) (string, error) {
	switch {
	case v.SQL != "":
		return "query", nil
	case v.Push:
		return "nothing", nil
	}
	reach, err := f.Reach(lookback)
	return reach.String(), err
}

func featuresListCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "list [folder]",
		Short:   "Print services, views and features, and what computes each",
		Example: "  sextant features list\n  sextant features list ./views --format json",
		Args:    cobra.MaximumNArgs(1),
	}
	f := formatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		set, err := definitionsOf(args)
		if err != nil {
			return err
		}
		rows, err := listOf(set)
		if err != nil {
			return err
		}
		answer := struct {
			Features []listed        `json:"features"`
			Services []listedService `json:"services"`
		}{}
		for _, v := range set.Views {
			for i := range v.Features {
				answer.Features = append(answer.Features, rows[v.Ref()+":"+v.Features[i].Name])
			}
		}
		for _, s := range set.Services {
			answer.Services = append(answer.Services, listedService{s.Ref(), len(s.Columns), s.Keys, s.Hash(), s.Description})
		}
		return f.print(cmd.OutOrStdout(), answer, func(out io.Writer) error {
			return printList(out, answer.Features, answer.Services)
		})
	}
	return cmd
}

// listedService is one service as features list prints it.
type listedService struct {
	Ref         string   `json:"ref"`
	Width       int      `json:"width"`
	Keys        []string `json:"keys"`
	Hash        string   `json:"hash"`
	Description string   `json:"description"`
}

func printList(out io.Writer, fs []listed, services []listedService) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "FEATURE\tTYPE\tUNIT\tTTL\tCOMPUTED\tDESCRIPTION")
	for _, f := range fs {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", f.Ref, f.DType, f.Unit, f.TTL, f.computed(), f.Description)
	}
	if err := w.Flush(); err != nil || len(services) == 0 {
		return err
	}
	fmt.Fprintln(out)
	fmt.Fprintln(w, "SERVICE\tWIDTH\tKEYS\tHASH\tDESCRIPTION")
	for _, s := range services {
		fmt.Fprintf(w, "%s\t%d\t%v\t%s\t%s\n", s.Ref, s.Width, s.Keys, s.Hash[:12], s.Description)
	}
	return w.Flush()
}

// compiled is the path of a feature whose expression is.
const compiled = "compiled"

// inSQL is the path of a feature that a query gives.
const inSQL = "sql"

// fromSamples is the path of a feature of a view with longer windows, that itself has none.
const fromSamples = "from samples"

// fromPanes is the path of a feature with windows that the stream does not keep.
var fromPanes = fmt.Sprintf("from %d-minute panes", int(features.PaneLength.Minutes()))

// byPromQL begins the path of a feature that Prometheus' engine evaluates.
const byPromQL = "engine "

// pushed is the path of a feature that somebody else computes.
const pushed = "pushed"

// pathsOf says for each feature, as view@v1:feature, what computes it: its compiled
// expression, or the PromQL engine, at many times the cost, and because of what.
func pathsOf(views []*features.View) (map[string]string, error) {
	engines, err := enginesOf(views)
	paths := make(map[string]string, len(engines))
	long := map[string]bool{}
	for _, v := range views {
		for i := range v.Features {
			long[v.Ref()+":"+v.Features[i].Name] = v.Features[i].FromPanes()
		}
	}
	for ref, e := range engines {
		switch e.Name {
		case api.EnginePanes:
			if paths[ref] = fromSamples; long[ref] {
				paths[ref] = fromPanes
			}
		case api.EngineCompiled:
			paths[ref] = compiled
		case api.EngineSQL:
			paths[ref] = inSQL
		case api.EnginePush:
			paths[ref] = pushed
		default:
			paths[ref] = byPromQL + "(" + e.Why + ")"
		}
	}
	return paths, err
}

// enginesOf is what computes each feature, by view@v1:feature.
func enginesOf(views []*features.View) (map[string]api.Engine, error) {
	e, err := evaluate.New(views, evaluate.Options{Lookback: lookback, GroupSize: 1})
	if err != nil {
		return nil, err
	}
	engines := map[string]api.Engine{}
	for _, v := range views {
		name := api.EngineSQL
		switch {
		case v.Streamed():
			continue
		case v.Push:
			name = api.EnginePush
		case v.Long:
			name = api.EnginePanes
			if _, err := pane.NewPlan(v, evaluate.Options{Lookback: lookback, GroupSize: 1}); err != nil {
				return nil, fmt.Errorf("%s: %w", v.File, err)
			}
		}
		for _, f := range v.Features {
			engines[v.Ref()+":"+f.Name] = api.Engine{Name: name}
		}
	}
	e.Paths(func(v *features.View, feature string, why error) {
		engine := api.Engine{Name: api.EngineCompiled}
		if why != nil {
			engine = api.Engine{Name: api.EngineReference, Why: why.Error()}
		}
		engines[v.Ref()+":"+feature] = engine
	})
	return engines, nil
}

// definitionsOf loads the folder named on the command line, or what is built in.
func definitionsOf(args []string) (*features.Set, error) {
	if len(args) == 0 {
		return definitionsIn([]string{builtinViews})
	}
	if info, err := os.Stat(args[0]); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, exit.Usage(fmt.Errorf("%s is not a folder", args[0]))
	}
	return definitionsIn(args[:1])
}

func countFeatures(views []*features.View) int {
	n := 0
	for _, v := range views {
		n += len(v.Features)
	}
	return n
}
