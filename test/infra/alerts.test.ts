import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { CONDITIONS } from '../../services/operating/condition-table.ts';
import { ROOT, readYaml } from './read-yaml.ts';

const RULES = 'infra/prometheus/alerts.yml';
const { groups } = readYaml<{ groups: readonly { rules: readonly { alert: string }[] }[] }>(RULES);
const ALERTS = groups.flatMap(({ rules }) => rules.map(({ alert }) => alert));

/** Labels of each series, as Prometheus adds them to a scrape. */
const SCRAPED = 'job="varve",instance="a:9464"';

/** Series of a process without problems, as `name{labels}` and values for every 15 seconds. */
const HEALTHY: Readonly<Record<string, string>> = {
  [`up{${SCRAPED}}`]: '1x80',
  [`varve_ready{${SCRAPED}}`]: '1x80',
  [`varve_leading{${SCRAPED}}`]: '1x80',
  [`varve_leader_epoch{${SCRAPED}}`]: '1x80',
  [`varve_read_index_reachable{${SCRAPED}}`]: '1x80',
  [`varve_halted{${SCRAPED}}`]: '0x80',
  [`varve_webhook_deliveries_parked{${SCRAPED}}`]: '0x80',
  ...Object.fromEntries(
    Object.keys(CONDITIONS).map((code) => [`varve_condition{${SCRAPED},condition="${code}"}`, '0x80']),
  ),
};

/** Series that change when the cause of an alert happens; undefined: the series ends, because no process exports it. */
const CAUSES: Readonly<Record<string, Readonly<Record<string, string | undefined>>>> = {
  VarveDown: { [`up{${SCRAPED}}`]: '0x80' },
  VarveNotReady: { [`varve_ready{${SCRAPED}}`]: '0x80' },
  VarveProjectionLag: { [`varve_projection_lag_seconds{${SCRAPED}}`]: '31x80' },
  VarveProjectionStuck: {
    [`varve_projection_lag_events{${SCRAPED}}`]: '7x80',
    [`varve_projected_events_total{${SCRAPED}}`]: '100x80',
  },
  VarveNoLeader: { [`varve_leading{${SCRAPED}}`]: undefined },
  VarveReadIndexUnreachable: { [`varve_read_index_reachable{${SCRAPED}}`]: '0x80' },
  VarveIndexUnusable: { [`varve_condition{${SCRAPED},condition="index-unusable"}`]: '1x80' },
  VarveDiskFull: { [`varve_condition{${SCRAPED},condition="disk-full"}`]: '1x80' },
  VarveRebuildStalled: { [`varve_condition{${SCRAPED},condition="rebuild-stalled"}`]: '1x80' },
  VarveParkedDeliveries: { [`varve_webhook_deliveries_parked{${SCRAPED}}`]: '3x80' },
  VarveWaitingPurges: { [`varve_condition{${SCRAPED},condition="purges-waiting"}`]: '1x80' },
  VarveCrashes: { [`varve_worker_restarts{${SCRAPED}}`]: '0x20 1x60' },
  VarveContainedFailures: { [`varve_contained_failures_total{${SCRAPED}}`]: '0x40 1x40' },
  VarveHalted: { [`varve_halted{${SCRAPED}}`]: '1x80' },
  VarveLeaderChanges: { [`varve_leader_epoch{${SCRAPED}}`]: '1+1x80' },
  VarveErrors: {
    [`varve_http_request_duration_seconds_count{${SCRAPED},status="503"}`]: '0+10x80',
    [`varve_http_request_duration_seconds_count{${SCRAPED},status="200"}`]: '0+10x80',
  },
  VarveSlowReads: {
    [`varve_http_request_duration_seconds_bucket{${SCRAPED},method="GET",status="200",le="0.5"}`]: '0x80',
    [`varve_http_request_duration_seconds_bucket{${SCRAPED},method="GET",status="200",le="1"}`]: '0+10x80',
    [`varve_http_request_duration_seconds_bucket{${SCRAPED},method="GET",status="200",le="+Inf"}`]: '0+10x80',
  },
  VarveFanOutBacklog: { [`varve_fanout_oldest_seconds{${SCRAPED}}`]: '301x80' },
  VarveRefusedDocuments: { [`varve_index_refused_documents{${SCRAPED}}`]: '1x80' },
  VarveEventLoopBlocked: { [`nodejs_eventloop_lag_p99_seconds{${SCRAPED}}`]: '0.3x80' },
  VarveFollowsNoStrapi: { [`varve_follow_age_seconds{${SCRAPED}}`]: '601x80' },
};

const hasPromtool = spawnSync('promtool', ['--version']).status === 0;
if (!hasPromtool && process.env['VARVE_REQUIRE_PROMTOOL'] === '1')
  throw new Error('promtool is missing: install the package prometheus of Debian');
const options = hasPromtool
  ? { timeout: 60_000 }
  : { skip: true, meta: { skipReason: 'promtool is missing: apt-get install prometheus' } };

/** Returns the alerts that fire after 18 minutes of these series. promtool lists them when none is expected. */
function firing(series: Readonly<Record<string, string | undefined>>): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), 'varve-alerts-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'test.yml');
  const input = Object.entries(series).flatMap(([name, values]) =>
    values === undefined ? [] : [{ series: name, values }],
  );
  // JSON is YAML.
  const expected = ALERTS.map((alertname) => ({ alertname, eval_time: '18m', exp_alerts: [] }));
  writeFileSync(
    file,
    JSON.stringify({
      rule_files: [join(ROOT, RULES)],
      evaluation_interval: '15s',
      tests: [{ interval: '15s', input_series: input, alert_rule_test: expected }],
    }),
  );
  const { stdout, stderr, status } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' });
  const found = [...(stdout + stderr).matchAll(/alertname: (\w+), time: \w+/g)].map(([, name = '']) => name);
  expect(status === 0, stdout + stderr).toBe(found.length === 0);
  return found;
}

it('no alert fires while nothing is wrong', options, () => {
  expect(firing(HEALTHY)).toEqual([]);
});

it('every alert has a cause in this test', () => {
  // The cause of a new alert belongs into the table above.
  expect(ALERTS.filter((alert) => CAUSES[alert] === undefined)).toEqual([]);
});

it.each(Object.entries(CAUSES))('%s fires alone when its cause happens', options, (alert, series) => {
  expect(firing({ ...HEALTHY, ...series })).toEqual([alert]);
});
