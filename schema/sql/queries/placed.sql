-- The tasks that were bound to a node at a tick, by what was known at a time.
SELECT task, node, devices
FROM {{.DB}}.tasks_at(tick = {tick:DateTime64(3, 'UTC')}, known = {known:DateTime64(3, 'UTC')})
WHERE bound AND node != ''
ORDER BY task, node
