package simulate

import (
	_ "embed"
	"math"
)

//go:embed demo.yaml
var demoText []byte

// DemoText is the cluster file of the demo.
func DemoText() []byte { return demoText }

// Demo is the demo's cluster, scaled to so many nodes. A group keeps at least one node for
// as long as there are nodes for all groups.
func Demo(nodes int) (*Config, error) {
	c, err := Parse("demo.yaml", demoText)
	if err != nil {
		return nil, err
	}
	c.scale(nodes)
	return c, nil
}

// scale gives each group its share of the nodes, by largest remainder.
func (c *Config) scale(nodes int) {
	if nodes < len(c.Groups) {
		c.Groups = c.Groups[:max(nodes, 0)]
	}
	total := 0
	for _, g := range c.Groups {
		total += g.Nodes
	}
	left := nodes
	rest := make([]float64, len(c.Groups))
	for i := range c.Groups {
		g := &c.Groups[i]
		exact := float64(g.Nodes) * float64(nodes) / float64(total)
		g.Nodes = max(int(exact), 1)
		rest[i] = exact - math.Floor(exact)
		left -= g.Nodes
	}
	for ; left > 0; left-- {
		best := 0
		for i := range rest {
			if rest[i] > rest[best] {
				best = i
			}
		}
		c.Groups[best].Nodes++
		rest[best] = -1
	}
	for i := 0; left < 0; i = (i + 1) % len(c.Groups) { // groups that were given one node too many
		if c.Groups[i].Nodes > 1 {
			c.Groups[i].Nodes--
			left++
		}
	}
}
