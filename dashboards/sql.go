package dashboards

import (
	"bytes"
	"embed"
	"fmt"
	"strings"
	"text/template"
)

//go:embed sql/*.sql
var sqlFiles embed.FS

// queries are the sections of a file below sql: the text behind each "-- name: NAME".
type queries map[string]string

// loadQueries reads a file and expands its templates. The files are part of the program, so
// a fault in one is a bug.
func loadQueries(file string) queries {
	text, err := sqlFiles.ReadFile("sql/" + file + ".sql")
	if err != nil {
		panic("BUG: " + err.Error())
	}
	t, err := template.New(file).Funcs(fragments).Parse(string(text))
	if err != nil {
		panic("BUG: " + err.Error())
	}
	var out bytes.Buffer
	if err := t.Execute(&out, nil); err != nil {
		panic("BUG: " + err.Error())
	}
	q := queries{}
	for _, section := range strings.Split(out.String(), "\n-- name: ")[1:] {
		name, sql, _ := strings.Cut(section, "\n")
		q[name] = strings.TrimSpace(sql)
	}
	return q
}

// get returns a section, which must be there.
func (q queries) get(name string) string {
	sql, ok := q[name]
	if !ok {
		panic(fmt.Sprintf("BUG: no query %q", name))
	}
	return sql
}

// fragments are what the queries share. A variable is quoted by Grafana (singlequote), and a
// condition with it is left out when everything is chosen.
var fragments = template.FuncMap{
	"all":       all,
	"simulated": func(column string) string { return chosen(column + " = 1") },
	"nodes": func(column ...string) string {
		of := "node"
		if len(column) > 0 {
			of = column[0]
		}
		return chosen(of + " IN (SELECT node FROM nodes WHERE simulated = 1)")
	},
	"devices":      func() string { return devices },
	"accelerators": accelerators,
	"promises": func() string {
		return strings.Join([]string{chosen("simulated = 1"), all("if(cluster = '', 'default', cluster)", "cluster"),
			all("tenant", "tenant"), all("queue", "queue")}, "\n    AND ")
	},
	"tasks": func() string {
		return strings.Join([]string{all("if(cluster = '', 'default', cluster)", "cluster"),
			all("tenant", "tenant"), all("queue", "queue")}, "\n    AND ")
	},
	"hours": func() string {
		return strings.Join([]string{chosen("simulated = 1"), all("vendor", "vendor")}, " AND ")
	},
	"events":  events,
	"each":    each,
	"audit":   func() string { return audit },
	"balance": func() string { return balance },
}

// all is a condition on a column by a variable of many values.
func all(column, variable string) string {
	return fmt.Sprintf("$__conditionalAll(%s IN (${%s:singlequote}), $%[2]s)", column, variable)
}

// chosen keeps what the variable simulated asks for: all, yes or no.
func chosen(condition string) string {
	return fmt.Sprintf("${simulated:singlequote} IN ('all', if(%s, 'yes', 'no'))", condition)
}

// devices are the accelerators of the inventory. Where an exporter tells no uid, the rows of
// features name a device by its place on the bus.
const devices = "(SELECT node, arrayJoin(arrayDistinct([uid, concat('pci:', pci)])) AS uid, vendor, model FROM devices)"

// accelerators is the condition on the rows m of device_monitoring, with devices as d.
func accelerators() string {
	return strings.Join([]string{all("d.vendor", "vendor"), all("d.model", "model"), all("m.node", "node"),
		chosen("m.node IN (SELECT node FROM nodes WHERE simulated = 1)")}, "\n    AND ")
}

// events is the condition on rows of task_events. Only some events of a task say whose it is.
func events() string {
	told := func(condition string) string {
		return "(cluster, task) IN (SELECT cluster, task FROM task_events WHERE " + condition + ")"
	}
	by := func(column string) string {
		return fmt.Sprintf("$__conditionalAll(%s, $%s)", told(fmt.Sprintf("%s IN (${%[1]s:singlequote})", column)), column)
	}
	return strings.Join([]string{chosen(told("simulated = 1")), all("if(cluster = '', 'default', cluster)", "cluster"),
		by("tenant"), by("queue")}, "\n    AND ")
}

// featureViews are the views whose rows the dashboard of features watches, with their keys.
var featureViews = [][2]string{
	{"node_monitoring", "node"}, {"node_trend", "node"}, {"node_accelerators", "node"}, {"device_monitoring", "node, uid"},
	{"node_static", "node"}, {"node_topology", "node"}, {"device_static", "node, uid"}, {"link_monitoring", "node, src, dst"},
	{"task_business", "task"}, {"node_business", "node"}, {"queue_business", "queue"}, {"tenant_business", "tenant"},
	{"rack_business", "zone, rack"}, {"cluster_business", "cluster"},
}

// each selects columns of the rows of all of them in the time range, and the column view.
// $keys stands for the keys of the view.
func each(columns string) string {
	var parts []string
	for _, v := range featureViews {
		parts = append(parts, fmt.Sprintf("SELECT %s, '%s' AS view FROM %[2]s WHERE $__timeFilter(tick)",
			strings.ReplaceAll(columns, "$keys", v[1]), v[0]))
	}
	return "\n    " + strings.Join(parts, "\n    UNION ALL ") + "\n"
}

// balance is the view ledger for the records of the time range: per agent, those that came, and
// what became of the others. Scrapes get their numbers in the order of time, so the numbers of
// a time range have no gaps but for what is held, given up or lost. It reads without FINAL,
// which would read all of the table; a row that was written twice counts once.
const balance = `
    SELECT
        r.agent AS agent, any(r.node) AS node, count() AS received, sum(r.copies) - count() AS resent,
        greatest(toInt64(max(r.dropped)) - toInt64(min(r.dropped)), 0) AS given_up,
        greatest(toInt64(least(any(n.oldest), max(r.seq) + 1)) - toInt64(min(r.seq)), 0) - countIf(r.seq < n.oldest) AS missing,
        greatest(missing - given_up, 0) AS lost,
        toInt64(max(r.seq)) + 1 - toInt64(greatest(any(n.oldest), min(r.seq))) - countIf(r.seq >= n.oldest) AS held,
        max(r.newest) AS newest
    FROM
    (
        SELECT agent, seq, any(node) AS node, uniqExact(partition, offset) AS copies, max(l.dropped) AS dropped, max(l.scrape) AS newest
        FROM ingest_ledger AS l
        WHERE $__timeFilter(l.scrape)
        GROUP BY agent, seq
    ) AS r
    INNER JOIN (SELECT agent, max(o.oldest) AS oldest FROM ingest_ledger AS o WHERE $__timeFilter(o.scrape) GROUP BY agent) AS n ON n.agent = r.agent
    GROUP BY agent
`

// audit is ingest_audit for the hours of the time range only: per node and hour, the samples
// that the ledger claims and those that a reader finds.
const audit = `
    SELECT if(said.node != '', said.node, found.node) AS node, if(said.hour > 0, said.hour, found.hour) AS hour, said.expected AS expected, found.visible AS visible
    FROM
    (
        SELECT node, hour, sum(stored) AS expected
        FROM
        (
            SELECT any(node) AS node, toStartOfHour(any(scrape)) AS hour, max(rows) AS stored
            FROM ingest_ledger
            WHERE scrape >= toStartOfHour($__fromTime) AND scrape < toStartOfHour($__toTime) + INTERVAL 1 HOUR
            GROUP BY agent, seq
        )
        GROUP BY node, hour
    ) AS said
    FULL OUTER JOIN
    (
        SELECT n.node AS node, s.hour AS hour, sum(s.visible) AS visible
        FROM
        (
            SELECT series, toStartOfHour(ts) AS hour, count() AS visible
            FROM samples FINAL
            WHERE ts >= toStartOfHour($__fromTime) AND ts < toStartOfHour($__toTime) + INTERVAL 1 HOUR
                AND series NOT IN (SELECT id FROM series WHERE name = 'sample_flag')
            GROUP BY series, hour
        ) AS s
        LEFT JOIN (SELECT id, anyLast(node) AS node FROM series GROUP BY id) AS n ON n.id = s.series
        GROUP BY node, hour
    ) AS found ON said.node = found.node AND said.hour = found.hour
`
