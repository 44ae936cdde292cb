SELECT
    if(uid = '', concat('pci:', id), uid), id, vendor, kind, model, generation, firmware, trimRight(concat(driver, ' ', driver_version)), pci, numa,
    memory_bytes, power_limit_watts, link_width, link_max_width, partition, mig, sharing, slice_profiles, simulated = 1
FROM {{.DB}}.devices
WHERE node = ?
ORDER BY pci, id
LIMIT 1000
