package main

import (
	"log/slog"

	"sextant/dashboards/console"
	"sextant/dashboards/console/web"
	"sextant/features"
	"sextant/features/online"
	"sextant/internal/access"
	"sextant/internal/httpserve"
)

// withConsole serves the web console beside next. Its page is open, as any page that asks for
// a login is; what it shows is asked for with the caller's token.
func withConsole(next *httpserve.Mux, gate *access.Gate, views []*features.View, rows *online.Store, db console.Reader, log *slog.Logger) (*httpserve.Mux, error) {
	page, err := web.Handler()
	if err != nil {
		return nil, err
	}
	mux := console.New(db, console.Options{Access: gate, Seen: seen(views, rows), Log: log})
	for _, path := range []string{"/{$}", "/console", web.Prefix} {
		mux.Mount(path, page)
	}
	mux.Mount("/", next)
	return mux, nil
}

// seen is the newest tick of each node, over the views that measure nodes. A long window has values
// of a node for as long after its end.
func seen(views []*features.View, rows *online.Store) func() map[string]int64 {
	var of []*features.View
	for _, v := range views {
		if len(v.Keys) == 1 && v.Keys[0] == "node" && v.Tier == "monitoring" && v.Streamed() {
			of = append(of, v)
		}
	}
	return func() map[string]int64 {
		out := map[string]int64{}
		for _, v := range of {
			s := rows.Snapshot(v)
			for i, node := range s.Keys[0] {
				out[node] = max(out[node], s.Tick[i])
			}
		}
		return out
	}
}
