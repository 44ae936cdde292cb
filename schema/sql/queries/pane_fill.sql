-- Computes panes of samples in [from, to), unix ms.
INSERT INTO {{.DB}}.sample_panes (length, pane, series, n, first_ts, last_ts, first, last, min, max, sum, spread, mean_t, spread_t, span_tv, changes, resets, fallen)
{{.Rows}}
