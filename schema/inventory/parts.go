package inventory

import "strconv"

// NUMAPart names a NUMA node as the end of a link.
func NUMAPart(id int) Part { return Part{PartNUMA, strconv.Itoa(id)} }

// Bandwidth is what a PCIe link of the given speed (GT/s) and width carries in one
// direction, bytes/s, after line coding and before packet headers. It is 0 for a speed
// that PCIe does not have.
func Bandwidth(gigatransfers float64, width int) float64 {
	lane := gigatransfers * 1e9 / 8
	switch {
	case gigatransfers == 2.5, gigatransfers == 5:
		lane *= 8.0 / 10
	case gigatransfers == 8, gigatransfers == 16, gigatransfers == 32:
		lane *= 128.0 / 130
	case gigatransfers == 64:
		lane *= 236.0 / 256 // of a flit of 256 bytes, 236 are payload of the link
	default:
		return 0
	}
	return lane * float64(width)
}
