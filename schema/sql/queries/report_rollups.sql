SELECT
    countIf(closed) AS closed_hours, countIf(NOT closed) AS open_hours,
    dateDiff('hour', {from:DateTime64(3, 'UTC')}, {to:DateTime64(3, 'UTC')}) - count() AS missing_hours, max(until) AS known_until, max(made) AS computed_at
FROM {{.DB}}.rolled_hours FINAL
WHERE hour >= {from:DateTime64(3, 'UTC')} AND hour < {to:DateTime64(3, 'UTC')}
