package crosscheck

import (
	"slices"

	"sextant/features"
)

// RowFlags is how far before a tick the flags of its rows may lie, ms: since the tick of
// the view before, for views whose interval is no longer than that.
const RowFlags = 240_000

// FlagRows gives each row the flags of its entity's samples since the view's last tick: of
// the node, or of the device where uid is a key.
func (r *Recent) FlagRows(rows *features.Rows, tick int64) {
	node, uid := slices.Index(rows.View.Keys, "node"), slices.Index(rows.View.Keys, "uid")
	if r.Empty() || node < 0 {
		return
	}
	rows.Flags = make([]uint16, len(rows.Tick))
	from := tick - min(rows.View.Interval.Milliseconds(), RowFlags)
	for i := range rows.Flags {
		if uid >= 0 {
			rows.Flags[i] = r.Device(rows.Keys[node][i], rows.Keys[uid][i], from, tick)
		} else {
			rows.Flags[i] = r.Node(rows.Keys[node][i], from, tick)
		}
	}
}
