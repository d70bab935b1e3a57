-- Control groups and containers, over the views of lake.sql: of captures recorded with `perf record --all-cgroups`, whose rows of
-- `shares` name them. Of others, and of captures written before there was such a column, `cgroup` is null.

-- What the threads of each control group, and of the container that it is in, cost each service; a service of NULL is all of them.
CREATE OR REPLACE TEMP MACRO cgroup_cost(of_service, of_event, first_day, last_day) AS TABLE
WITH chosen AS (
  FROM shares WHERE event = of_event AND date BETWEEN CAST(first_day AS DATE) AND CAST(last_day AS DATE)
    AND (of_service IS NULL OR service = of_service)),
whole AS (SELECT service, sum(value) AS value FROM (SELECT DISTINCT capture, service, value FROM chosen) GROUP BY service)
SELECT chosen.service, cgroup, any_value(container) AS container, sum("self") AS "self", sum("self") / any_value(whole.value) AS share,
  count(DISTINCT capture) AS captures
FROM chosen JOIN whole ON chosen.service IS NOT DISTINCT FROM whole.service
GROUP BY chosen.service, cgroup ORDER BY "self" DESC, chosen.service, cgroup;
