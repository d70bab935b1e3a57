-- Verdicts of `stackpack diff` in DuckDB, over the views of lake.sql. The function reads the rows of each service by itself and
-- adds them up: memory is that of two services, however many there are. In Python:
--
--     database = duckdb.connect()
--     stackpack.lake.register(database)                       # the function stackpack_diff
--     database.execute("SET VARIABLE lake = 'lake'")
--     database.execute(open("examples/fleet/lake.sql").read())
--     database.execute(open("examples/fleet/verdicts.sql").read())
--     database.sql("FROM grown('cpu-clock', '2026-11-09', '2026-11-15', '2026-11-16', '2026-11-22', least := 0.01)")

-- What `stackpack diff OLD... --against NEW...` says of the captures of two spans of days, for each service: two rows a function,
-- its self and its total, with the interval of the change and the verdict.
CREATE OR REPLACE TEMP MACRO changed(of_event, old_first, old_last, new_first, new_last, of_service := NULL) AS TABLE
WITH chosen AS (
  SELECT service, {'capture': capture, 'part': part, 'date': CAST(date AS VARCHAR),
                   'is_new': date BETWEEN CAST(new_first AS DATE) AND CAST(new_last AS DATE)} AS run FROM captures
  WHERE (of_service IS NULL OR service = of_service)
    AND (date BETWEEN CAST(new_first AS DATE) AND CAST(new_last AS DATE)
         OR date BETWEEN CAST(old_first AS DATE) AND CAST(old_last AS DATE))),
runs AS (SELECT service, list(run) AS runs FROM chosen GROUP BY service),
compared AS (SELECT service, stackpack_diff(getvariable('lake'), of_event, runs) AS figures FROM runs)
SELECT service, figure.* FROM (SELECT service, unnest(figures) AS figure FROM compared);

-- What grew by `least` or more of its service, for sure; the figure that grew most for each function.
CREATE OR REPLACE TEMP MACRO grown(of_event, old_first, old_last, new_first, new_last, least := 0.01) AS TABLE
FROM changed(of_event, old_first, old_last, new_first, new_last)
WHERE verdict IN ('more', 'appeared') AND change >= least
QUALIFY row_number() OVER (PARTITION BY service, name, image ORDER BY change DESC, figure) = 1
ORDER BY change DESC, service, name;

-- What a service does outside of its hours (UTC, working days) more than within, for sure: the captures whose first samples lie
-- outside against the others, of the same days. Captures that do not know their time are left out.
CREATE OR REPLACE TEMP MACRO off_hours(of_event, first_day, last_day, opens := 8, closes := 18, least := 0.01) AS TABLE
WITH timed AS (
  SELECT *, epoch(CAST(start AS TIMESTAMPTZ)) / 3600 % 24 AS hour, isodow(date) AS day FROM captures
  WHERE start IS NOT NULL AND date BETWEEN CAST(first_day AS DATE) AND CAST(last_day AS DATE)),
chosen AS (
  SELECT service, {'capture': capture, 'part': part, 'date': CAST(date AS VARCHAR),
                   'is_new': day > 5 OR hour < opens OR hour >= closes} AS run FROM timed),
runs AS (SELECT service, list(run) AS runs FROM chosen GROUP BY service),
compared AS (SELECT service, stackpack_diff(getvariable('lake'), of_event, runs) AS figures FROM runs)
SELECT service, figure.* FROM (SELECT service, unnest(figures) AS figure FROM compared)
WHERE figure.verdict IN ('more', 'appeared') AND figure.change >= least ORDER BY figure.change DESC, service, figure.name, figure.figure;
