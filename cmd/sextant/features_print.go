package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"sextant/features"
	"sextant/features/registry"
)

// planned is the answer of features plan.
type planned struct {
	*registry.Plan
	Compiled int       `json:"compiled"` // features whose expression is compiled
	Engine   []engined `json:"engine"`   // those that the PromQL engine evaluates
	Panes    []string  `json:"panes"`    // those with windows longer than the stream keeps: the store makes them of panes
}

// engined is a feature that is not compiled, and why.
type engined struct {
	Feature string `json:"feature"`
	Why     string `json:"why"`
}

func compiledOf(paths map[string]string) int {
	n := 0
	for _, path := range paths {
		if path == compiled {
			n++
		}
	}
	return n
}

func byEngine(set *features.Set, paths map[string]string) []engined {
	list := []engined{}
	for _, v := range set.Views {
		for i := range v.Features {
			ref := v.Ref() + ":" + v.Features[i].Name
			if why := paths[ref]; strings.HasPrefix(why, byPromQL) {
				list = append(list, engined{ref, why})
			}
		}
	}
	return list
}

// long lists the features with windows that the store makes of panes.
func long(paths map[string]string) []string {
	list := []string{}
	for ref, path := range paths {
		if path == fromPanes {
			list = append(list, ref)
		}
	}
	slices.Sort(list)
	return list
}

func (p planned) table(out io.Writer) error {
	if err := printPlan(out, p.Plan); err != nil {
		return err
	}
	fmt.Fprintf(out, "%d expressions are compiled, %d are not\n", p.Compiled, len(p.Engine))
	for _, e := range p.Engine {
		fmt.Fprintf(out, "  %s: %s\n", e.Feature, e.Why)
	}
	if len(p.Panes) > 0 {
		fmt.Fprintf(out, "%d look back further than %s: the store computes them, %s\n", len(p.Panes), features.StreamWindow, fromPanes)
	}
	for _, ref := range p.Panes {
		fmt.Fprintf(out, "  %s\n", ref)
	}
	return nil
}

// signs stand before what an item or a change does.
var signs = map[string]string{
	registry.Create: "+", registry.Update: "~", registry.Refuse: "!", registry.Keep: "=",
	registry.Add: "+", registry.Modify: "~", registry.Drop: "-",
}

func printPlan(out io.Writer, p *registry.Plan) error {
	for _, i := range p.Items {
		fmt.Fprintf(out, "%s %s %s", signs[i.Action], i.Kind, i.Ref)
		if i.Note != "" {
			fmt.Fprintf(out, "  %s", i.Note)
		}
		fmt.Fprintln(out)
		printChanges(out, i.Changes)
	}
	if len(p.Items) == 0 {
		fmt.Fprintln(out, "all definitions are in force as they are")
	}
	return nil
}

func printChanges(out io.Writer, changes []registry.Change) {
	for _, c := range changes {
		sign := signs[c.Action]
		if c.Breaks {
			sign = "!"
		}
		subject := c.What
		if c.Feature != "" {
			subject += " of " + c.Feature
		}
		switch c.Action {
		case registry.Add:
			fmt.Fprintf(out, "    %s feature %s  %s\n", sign, c.Feature, c.New)
		case registry.Drop:
			fmt.Fprintf(out, "    %s feature %s  dropped: its column stays and is NULL from now on\n", sign, c.Feature)
		default:
			fmt.Fprintf(out, "    %s %s\n        - %s\n        + %s\n", sign, subject, indented(c.Old), indented(c.New))
		}
	}
}

// indented keeps the lines of a long expression below each other.
func indented(s string) string {
	return strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n          ")
}
