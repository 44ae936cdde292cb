package evaluate

import (
	"fmt"

	"github.com/prometheus/prometheus/promql/parser"
)

// parsed is a parser that reads each expression once. The engine parses at every query,
// and compiling the matchers of a long regular expression takes longer than evaluating
// it over a group. It also rewrites the tree that it gets, so each query gets a copy;
// the matchers are shared.
type parsed struct {
	parser.Parser
	exprs map[string]parser.Expr
}

// ParseExpr implements parser.Parser.
func (p *parsed) ParseExpr(input string) (parser.Expr, error) {
	if e, ok := p.exprs[input]; ok {
		return clone(e), nil
	}
	return p.Parser.ParseExpr(input)
}

// clone copies a tree as the parser makes it, before any engine saw it.
func clone(e parser.Expr) parser.Expr {
	switch n := e.(type) {
	case *parser.AggregateExpr:
		c := *n
		c.Expr, c.Param = cloneOrNil(n.Expr), cloneOrNil(n.Param)
		// The engine sorts the labels in place.
		c.Grouping = append([]string(nil), n.Grouping...)
		return &c
	case *parser.BinaryExpr:
		c := *n
		c.LHS, c.RHS = clone(n.LHS), clone(n.RHS)
		return &c
	case *parser.Call:
		c := *n
		c.Args = make(parser.Expressions, len(n.Args))
		for i, a := range n.Args {
			c.Args[i] = clone(a)
		}
		return &c
	case *parser.MatrixSelector:
		c := *n
		c.VectorSelector = clone(n.VectorSelector)
		return &c
	case *parser.VectorSelector:
		c := *n
		return &c
	case *parser.SubqueryExpr:
		c := *n
		c.Expr = clone(n.Expr)
		return &c
	case *parser.ParenExpr:
		return &parser.ParenExpr{Expr: clone(n.Expr), PosRange: n.PosRange}
	case *parser.UnaryExpr:
		c := *n
		c.Expr = clone(n.Expr)
		return &c
	case *parser.NumberLiteral:
		c := *n
		return &c
	case *parser.StringLiteral:
		c := *n
		return &c
	}
	panic(fmt.Sprintf("BUG: the parser made a %T", e))
}

func cloneOrNil(e parser.Expr) parser.Expr {
	if e == nil {
		return nil
	}
	return clone(e)
}
