-- Per agent: which records came, and what became of those that did not. The numbers of an
-- agent's records are dense from 1, and every number below the newest "oldest" has either
-- reached Kafka or is counted in "dropped". So below it a gap is a loss; from it on a gap
-- is a record that the agent still holds (after an outage fresh records go first).
--
-- missing  numbers below oldest that the ledger lacks
-- dropped  records that the agent says it gave up: past its disk cap, or too large to send
-- lost     missing and not declared: must be 0. Exact when pending is 0; until then a
--          record that was given up while older ones wait may hide one loss.
-- pending  numbers from oldest to last that the ledger lacks
-- resent   records that reached Kafka more than once; they are stored once
--
-- When the ledger's oldest rows have expired, an agent that is older counts from its
-- first row that is left.
CREATE OR REPLACE VIEW {{.DB}}.ledger{{.OnCluster}} AS
WITH
    newest AS
    (
        SELECT agent, max(oldest) AS oldest
        FROM {{.DB}}.ingest_ledger
        GROUP BY agent
    ),
    started AS
    (
        SELECT agent, min(first_seq) AS first_seq
        FROM {{.DB}}.agents
        GROUP BY agent
    ),
    records AS -- by number; the order of the table lets them stream
    (
        SELECT agent, seq, any(node) AS node, count() AS copies, max(dropped) AS dropped_after, min(dropped) AS dropped_before, max(scrape) AS scrape
        FROM {{.DB}}.ingest_ledger FINAL
        GROUP BY agent, seq
        SETTINGS optimize_aggregation_in_order = 1
    ),
    counted AS
    (
        SELECT
            r.agent AS agent,
            any(r.node) AS node,
            min(r.seq) AS first,
            max(r.seq) AS last,
            count() AS received,
            sum(r.copies) - count() AS resent,
            max(n.oldest) AS oldest,
            max(r.scrape) AS last_scrape,
            countIf(r.seq < n.oldest) AS received_below,
            -- An agent whose very first row is still here counts from number 1.
            if(first <= any(s.first_seq), toUInt64(1), first) AS base,
            max(r.dropped_after) - if(base = 1, toUInt64(0), min(r.dropped_before)) AS dropped
        FROM records AS r
        INNER JOIN newest AS n ON n.agent = r.agent
        INNER JOIN started AS s ON s.agent = r.agent
        GROUP BY r.agent
    )
SELECT
    agent, node, first, last, received,
    toUInt64(greatest(toInt64(oldest) - toInt64(base), 0) - toInt64(received_below)) AS missing,
    toUInt64(counted.dropped) AS dropped,
    toUInt64(greatest(toInt64(missing) - toInt64(dropped), 0)) AS lost,
    toUInt64(greatest(toInt64(last) - toInt64(greatest(oldest, base)) + 1 - toInt64(received - received_below), 0)) AS pending,
    resent, oldest, last_scrape
FROM counted
ORDER BY node, agent
