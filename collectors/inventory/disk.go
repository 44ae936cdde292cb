package inventory

import (
	"regexp"
	"strings"

	schema "sextant/schema/inventory"
)

// remote are disks that pods bring and take away: loop, RAM and mapped ones, iSCSI, RBD.
var remote = regexp.MustCompile(`/virtual/|/session[0-9]+/|/rbd[0-9/]`)

// sectorBytes is the unit of a block device's size, whatever its real sectors are.
const sectorBytes = 512

// disks lists the block devices of hardware.
func (r *reader) disks() {
	names, err := r.sys.names("block")
	if err != nil {
		r.fault("disks: %s", plain(err))
	}
	taken := map[string]bool{}
	for _, name := range names {
		at := "block/" + name
		folder := r.sys.resolve(at)
		size := r.sys.count(at, "size") * sectorBytes
		if folder == "" || remote.MatchString(folder) || size == 0 || r.sys.text(at, "hidden") == "1" {
			continue
		}
		d := schema.Disk{Name: name, Size: size, Rotational: r.sys.text(at, "queue/rotational") == "1",
			Model: strings.Join(strings.Fields(r.sys.text(at, "device/model")), " "), PCIPlace: r.at(r.addressOf(at))}
		d.ID = d.PCI + "/" + name
		for _, id := range []string{"wwid", "device/wwid", "serial", "device/serial"} {
			if s := strings.Join(strings.Fields(r.sys.text(at, id)), " "); s != "" && len(s) <= schema.MaxNode {
				d.ID = s
				break
			}
		}
		if taken[d.ID] {
			continue // the same disk by another path
		}
		taken[d.ID] = true
		r.doc.Disks = append(r.doc.Disks, d)
	}
	r.doc.Disks = cut(r, "disks", r.doc.Disks, schema.MaxDisks)
}
