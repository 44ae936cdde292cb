SELECT time, fact, before, after FROM {{.DB}}.inventory_changes WHERE node = ? ORDER BY time DESC, fact LIMIT 200
