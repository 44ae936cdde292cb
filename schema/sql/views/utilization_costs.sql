-- What the rows of utilization cost, by the table prices: utilization_costs(from = …, to = …). device_cost is
-- hours of the device by the price of device_hour, energy_cost is energy by the price of kwh, and
-- idle_cost is the part of both that was held and idle. NULL where there is no price.
CREATE OR REPLACE VIEW {{.DB}}.utilization_costs{{.OnCluster}} AS
SELECT
    u.*,
    u.capacity_hours * p.device AS device_cost,
    u.energy_kwh * p.energy AS energy_cost,
    if(p.device IS NULL AND p.energy IS NULL, NULL, ifNull(device_cost, 0) + ifNull(energy_cost, 0)) AS cost,
    cost * if(u.capacity_hours > 0, least(u.idle_allocated_hours / u.capacity_hours, 1), 0) AS idle_cost,
    p.currency AS currency
FROM {{.DB}}.utilization(from = {from:DateTime64(3, 'UTC')}, to = {to:DateTime64(3, 'UTC')}) AS u
LEFT JOIN
(
    SELECT
        k.hour AS hour, k.vendor AS vendor, k.model AS model,
        argMaxOrNullIf(r.price, (r.model != '', r.vendor != '', r.valid_from), r.item = 'device_hour') AS device,
        argMaxOrNullIf(r.price, (r.model != '', r.vendor != '', r.valid_from), r.item = 'kwh') AS energy,
        max(r.currency) AS currency
    FROM
    (
        SELECT DISTINCT hour, vendor, model FROM {{.DB}}.rolled_devices
        WHERE hour >= toStartOfHour({from:DateTime64(3, 'UTC')}) AND hour < {to:DateTime64(3, 'UTC')} AND {{.InForce}}
    ) AS k
    CROSS JOIN (SELECT * FROM {{.DB}}.prices FINAL) AS r
    WHERE r.valid_from <= k.hour AND (r.vendor = '' OR r.vendor = k.vendor) AND (r.model = '' OR r.model = k.model)
    GROUP BY hour, vendor, model
) AS p ON p.hour = u.hour AND p.vendor = u.vendor AND p.model = u.model
