SELECT name, kind, model, dpu, speed, up FROM {{.DB}}.nics WHERE node = ? ORDER BY name, id LIMIT 1000
