// Package sql holds the store's SQL, one statement of the schema per file, so that it can
// be read, diffed and run as SQL. The files are Go templates with the few values that
// differ between installations (internal/clickhouse renders them):
//
//	{{.DB}}               the database, quoted
//	{{.OnCluster}}        empty, or ON CLUSTER with its name
//	{{.Local "samples"}}  the table that holds the rows on one server
//	{{.Engine "X" "arg"}} X, or ReplicatedX with its path
//	{{.Distributed …}}    the table over all shards; nothing without a cluster
//	{{.DedupWindow}}      how many inserts the table remembers, to know a retry
//	{{.Counted "x" "y"}} whether a task counts, by the events of table x where y
//	{{.InForce}}          which rows of a table rolled_* count
//	{{.JoinLocally}}      joins of tables that share their shards
//
// migrations/ change tables and run once each, in order. views/ are replaced at every
// start. features/ is the shape of the table and the view of one feature view. queries/
// are what the program reads.
package sql

import "embed"

// Files holds every .sql file of this folder.
//
//go:embed migrations/*.sql views/*.sql features/*.sql queries/*.sql
var Files embed.FS
