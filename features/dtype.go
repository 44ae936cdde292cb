package features

import "fmt"

// DType is the type of a feature's values.
type DType uint8

// The types a feature may have.
const (
	Float32 DType = iota
	Float64
	Int64
	String // taken from a label of the expression's result
	Bool
)

var dtypeNames = [...]string{Float32: "float32", Float64: "float64", Int64: "int64", String: "string", Bool: "bool"}

// String is the name that definitions use.
func (d DType) String() string {
	if int(d) < len(dtypeNames) {
		return dtypeNames[d]
	}
	return fmt.Sprintf("dtype(%d)", uint8(d))
}

// ParseDType is the inverse of String.
func ParseDType(s string) (DType, error) {
	for d, name := range dtypeNames {
		if s == name {
			return DType(d), nil
		}
	}
	return 0, fmt.Errorf("dtype %q is none of %v", s, dtypeNames)
}
